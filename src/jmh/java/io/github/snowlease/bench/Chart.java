package io.github.snowlease.bench;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.DoubleUnaryOperator;

/** The results as an SVG: one panel of bars a scene, the best on top. */
final class Chart {
  private static final int BAR = 16;
  private static final int LABELS = 190;
  private static final int BARS = 420;
  private static final int WIDTH = LABELS + BARS + 90;
  private static final int HEAD = 46;

  private record Panel(
      String title,
      String figure,
      DoubleUnaryOperator conversion,
      int digits,
      boolean moreIsBetter) {}

  private static final List<Panel> PANELS =
      List.of(
          new Panel(
              "One thread, nothing limits the rate: ns an id (less is better)",
              "wide.1",
              perMicro -> 1e3 / perMicro,
              1,
              false),
          new Panel(
              "Eight threads, nothing limits the rate: millions of ids a second (more is better)",
              "wide.8",
              value -> value,
              1,
              true),
          new Panel(
              "Eight threads, 12 bits of sequence, saturated: cores burned (less is better)",
              "saturated.cores.8",
              value -> value,
              2,
              false));

  private Chart() {}

  static String svg(Results results) {
    StringBuilder body = new StringBuilder();
    int y = 0;
    for (Panel panel : PANELS) {
      y = draw(panel, results, y, body);
    }
    return """
        <svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">
        <rect width="100%%" height="100%%" fill="white"/>
        %s</svg>
        """
        .formatted(WIDTH, y + 10, body);
  }

  private static int draw(Panel panel, Results results, int top, StringBuilder body) {
    List<Subject> subjects =
        Arrays.stream(Subject.values())
            .filter(subject -> results.median(subject, panel.figure).isPresent())
            .sorted(Comparator.comparingDouble(subject -> value(panel, results, subject)))
            .toList();
    double longest =
        subjects.stream().mapToDouble(subject -> value(panel, results, subject)).max().orElse(1);
    body.append(
        "<text x=\"10\" y=\"%d\" font-weight=\"bold\">%s</text>%n"
            .formatted(top + 30, panel.title));
    int y = top + HEAD;
    for (int i = 0; i < subjects.size(); i++) {
      Subject subject = subjects.get(panel.moreIsBetter ? subjects.size() - 1 - i : i);
      double value = value(panel, results, subject);
      body.append(
          """
          <text x="%d" y="%d" text-anchor="end">%s</text>
          <rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>
          <text x="%d" y="%d">%s</text>
          """
              .formatted(
                  LABELS - 8,
                  y + 12,
                  subject.title,
                  LABELS,
                  y,
                  Math.max(1, Math.round(BARS * value / longest)),
                  BAR - 4,
                  colour(subject),
                  LABELS + Math.round(BARS * value / longest) + 6,
                  y + 12,
                  Report.format(value, panel.digits)));
      y += BAR + 2;
    }
    return y;
  }

  private static double value(Panel panel, Results results, Subject subject) {
    return panel.conversion.applyAsDouble(results.median(subject, panel.figure).orElseThrow());
  }

  private static String colour(Subject subject) {
    if (subject == Subject.SNOWLEASE || subject == Subject.SNOWLEASE_PER_THREAD) {
      return "#0b7a75";
    }
    return subject.isYardstick() ? "#cccccc" : "#7d8597";
  }
}
