package io.github.snowlease.acceptance;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** What was measured, one line each in the output of the tests. */
final class Figures {
  private Figures() {}

  static void say(String format, Object... arguments) {
    System.out.println("[figures] " + String.format(Locale.ROOT, format, arguments));
  }

  /** Several figures of one kind, as in {@code 0.04, 0.05}. */
  static String list(List<Double> figures) {
    return figures.stream()
        .map(figure -> String.format(Locale.ROOT, "%.2f", figure))
        .collect(Collectors.joining(", "));
  }

  static double seconds(long nanos) {
    return nanos / 1e9;
  }

  static double secondsSince(long nanoTime) {
    return (System.nanoTime() - nanoTime) / 1e9;
  }
}
