package io.github.snowlease.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.function.DoubleUnaryOperator;

/** The table, in Markdown that can be read as it is. */
final class Report {
  private static final String NONE = "–";

  /** A column: a figure, perhaps converted, perhaps with its ratio to Agrona's. */
  private record Column(
      String title, String figure, DoubleUnaryOperator conversion, int digits, boolean ratio) {
    Column(String title, String figure, int digits) {
      this(title, figure, value -> value, digits, false);
    }

    String cell(Results results, Subject subject) {
      OptionalDouble value = results.median(subject, figure);
      if (value.isEmpty()) {
        return NONE;
      }
      String text = format(conversion.applyAsDouble(value.getAsDouble()), digits);
      OptionalDouble agrona = results.median(Subject.AGRONA, figure);
      return ratio && agrona.isPresent()
          ? text + " (" + format(speedup(value.getAsDouble(), agrona.getAsDouble()), 2) + ")"
          : text;
    }

    /** More is better in all columns with a ratio but that of nanoseconds in a burst. */
    private double speedup(double value, double agrona) {
      return figure.equals("burst") ? agrona / value : value / agrona;
    }
  }

  private static final List<Column> COLUMNS =
      List.of(
          new Column("1 thread, ns/id (x)", "wide.1", perMicro -> 1e3 / perMicro, 1, true),
          new Column("burst, ns/id (x)", "burst", value -> value, 1, true),
          new Column("2 threads, M/s (x)", "wide.2", value -> value, 1, true),
          new Column("8 threads, M/s (x)", "wide.8", value -> value, 1, true),
          new Column("sat. 1, M/s", "saturated.rate.1", 3),
          new Column("cores", "saturated.cores.1", 2),
          new Column("sat. 8, M/s", "saturated.rate.8", 3),
          new Column("cores", "saturated.cores.8", 2),
          new Column("sat. 2 p50, ns", "saturated.p50.2", 0),
          new Column("p99.9, µs", "saturated.p999.2", nanos -> nanos / 1e3, 2, false),
          new Column("sat. 8 longest, ms", "saturated.max.8", nanos -> nanos / 1e6, 1, false),
          new Column("paced p50, ns", "paced.p50", 0),
          new Column("p99.9, ns", "paced.p999", 0),
          new Column("bytes", "bytes", 0),
          new Column("ahead, ms", "saturated.lead", 0),
          new Column("behind, ms", "paced.lag", 0));

  private Report() {}

  static String table(Results results) {
    List<List<String>> rows = new ArrayList<>();
    List<String> titles = new ArrayList<>(List.of(""));
    COLUMNS.forEach(column -> titles.add(column.title));
    titles.add("");
    rows.add(titles);
    for (Subject subject : Subject.values()) {
      List<String> row = new ArrayList<>(List.of(subject.title));
      COLUMNS.forEach(column -> row.add(column.cell(results, subject)));
      row.add(subject.note);
      rows.add(row);
      if (subject == Subject.SNOWLEASE) {
        for (String method : List.of("nextIds", "stream")) {
          for (int length : new int[] {16, 256, 1024}) {
            rows.add(batch(results, method, length));
          }
        }
      }
    }
    return layOut(rows);
  }

  private static List<String> batch(Results results, String method, int length) {
    Column column =
        new Column("", method + "." + length, batches -> 1e3 / (batches * length), 2, false);
    List<String> row = new ArrayList<>();
    row.add("snowlease, " + (method.equals("nextIds") ? "batches" : "streams") + " of " + length);
    row.add(column.cell(results, Subject.SNOWLEASE));
    while (row.size() < COLUMNS.size() + 2) {
      row.add("");
    }
    return row;
  }

  private static String layOut(List<List<String>> rows) {
    int[] widths = new int[rows.get(0).size()];
    for (List<String> row : rows) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    StringBuilder text = new StringBuilder();
    for (int r = 0; r < rows.size(); r++) {
      for (int i = 0; i < widths.length; i++) {
        text.append("| ").append(padded(rows.get(r).get(i), widths[i], isText(i, widths)));
        text.append(' ');
      }
      text.append("|\n");
      if (r == 0) {
        for (int i = 0; i < widths.length; i++) {
          String line = "-".repeat(widths[i] + 1);
          text.append(isText(i, widths) ? "|:" + line : "|" + line + ":");
        }
        text.append("|\n");
      }
    }
    return text.toString();
  }

  /** The first column and the last are text, the others numbers. */
  private static boolean isText(int column, int[] widths) {
    return column == 0 || column == widths.length - 1;
  }

  private static String padded(String cell, int width, boolean left) {
    String space = " ".repeat(width - cell.length());
    return left ? cell + space : space + cell;
  }

  static String format(double value, int digits) {
    return String.format(Locale.ROOT, "%,." + digits + "f", value);
  }
}
