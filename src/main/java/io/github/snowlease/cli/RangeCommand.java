package io.github.snowlease.cli;

import io.github.snowlease.BitLayout;
import java.io.PrintWriter;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Prints the ids between which everything of a time lies. */
@Command(
    name = "range",
    mixinStandardHelpOptions = true,
    description = {
      "Prints the first and the last id that can be minted in a range of time, both included: for"
          + " queries like WHERE id BETWEEN first AND last. Asks no store.",
      "For example: range 2026-03-01 2026-04-01"
    })
final class RangeCommand implements Callable<Integer> {
  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec command;

  @Parameters(
      paramLabel = "FROM",
      description = "The beginning: 2026-03-01 (in UTC), 2026-03-01T12:00:00Z, or with +01:00.")
  private String from = "";

  @Parameters(paramLabel = "TO", description = "The end, which itself lies outside.")
  private String to = "";

  @Mixin private LayoutOption layoutOption = new LayoutOption();

  @Option(names = "--json", description = "Prints one line of JSON instead.")
  private boolean json;

  @Override
  public Integer call() {
    Instant begin = instant(from);
    Instant end = instant(to);
    if (!begin.isBefore(end)) {
      throw new ParameterException(command.commandLine(), "FROM must lie before TO");
    }
    BitLayout layout = layoutOption.layout;
    long first = firstAtOrAfter(layout, begin);
    // The last id before the tick in which the end begins.
    long last = firstAtOrAfter(layout, end) - 1;
    PrintWriter out = command.commandLine().getOut();
    if (json) {
      Map<String, Object> all = new LinkedHashMap<>();
      all.put("first", Long.toString(first));
      all.put("last", Long.toString(last));
      out.println(Json.of(all));
    } else {
      out.println(first);
      out.println(last);
    }
    return SnowleaseCommand.OK;
  }

  /** A tick belongs to the range in which it begins. */
  private static long firstAtOrAfter(BitLayout layout, Instant instant) {
    Instant tick = layout.parse(layout.firstIdAt(instant)).timestamp();
    return layout.firstIdAt(tick.isBefore(instant) ? tick.plus(layout.tick()) : tick);
  }

  private Instant instant(String text) {
    try {
      return text.length() == "2026-03-01".length()
          ? LocalDate.parse(text).atStartOfDay(ZoneOffset.UTC).toInstant()
          : OffsetDateTime.parse(text).toInstant();
    } catch (DateTimeException e) {
      throw new ParameterException(
          command.commandLine(),
          "a time is like 2026-03-01, 2026-03-01T12:00:00Z or 2026-03-01T12:00:00+01:00: " + text);
    }
  }
}
