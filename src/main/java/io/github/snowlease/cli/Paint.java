package io.github.snowlease.cli;

import picocli.CommandLine.Help.Ansi;

/** Colours text on a terminal, and on nothing else. */
final class Paint {
  /** Everything off: picocli's own end of bold means a double underline to many terminals. */
  private static final String PLAIN = "\u001b[0m";

  private Paint() {}

  /**
   * Colours a text; not through markup, as a host's name might look like it.
   *
   * @param style as picocli names styles, as in {@code bold,red}
   */
  static String on(Ansi ansi, String style, String text) {
    return ansi.enabled() ? Ansi.Style.on(Ansi.Style.parse(style)) + text + PLAIN : text;
  }
}
