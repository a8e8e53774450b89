package io.github.snowlease.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * What a person reads: lines, one live line at the bottom while there is something to wait for,
 * colour if that is wanted, and plain ASCII where the characters are not to be had.
 */
final class Terminal {
  private static final int WIDTH = 78;
  private static final String ESCAPE = "\u001b[";

  private final PrintStream out;
  private final boolean live;
  private final boolean colour;
  private final boolean unicode;
  private boolean liveLineShown;

  /**
   * Writes to a stream.
   *
   * @param live whether the last line can be erased and written anew
   * @param colour whether escape sequences for colours are understood and wanted
   * @param unicode whether the stream carries more than ASCII
   */
  Terminal(PrintStream out, boolean live, boolean colour, boolean unicode) {
    this.out = out;
    this.live = live;
    this.colour = colour;
    this.unicode = unicode;
  }

  /** Standard output, with all that it offers. */
  static Terminal standardOutput() {
    boolean terminal = isTerminal() && !"dumb".equals(System.getenv("TERM"));
    boolean noColour = System.getenv().getOrDefault("NO_COLOR", "").isEmpty();
    boolean unicode =
        Charset.forName(System.getProperty("native.encoding", "US-ASCII")).equals(UTF_8);
    PrintStream out =
        new PrintStream(
            new FileOutputStream(FileDescriptor.out),
            true,
            unicode ? UTF_8 : StandardCharsets.US_ASCII);
    return new Terminal(out, terminal, terminal && noColour, unicode);
  }

  /** Java has no word for this that holds from 17 on; the shell does. */
  private static boolean isTerminal() {
    try {
      Process test = new ProcessBuilder("sh", "-c", "test -t 1").inheritIO().start();
      return test.waitFor(5, TimeUnit.SECONDS) && test.exitValue() == 0;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  boolean isLive() {
    return live;
  }

  void line(String text) {
    eraseLiveLine();
    out.println(inCharset(text));
  }

  void blank() {
    line("");
  }

  void heading(String text) {
    blank();
    line(bold(text));
    blank();
  }

  /** Shows a line that the next one takes the place of; nothing without a real terminal. */
  void live(String text) {
    if (live) {
      out.print("\r" + ESCAPE + "K" + inCharset("   " + text));
      out.flush();
      liveLineShown = true;
    }
  }

  private void eraseLiveLine() {
    if (liveLineShown) {
      out.print("\r" + ESCAPE + "K");
      liveLineShown = false;
    }
  }

  /** A finished step, with how long it took at the right. */
  void done(String text, long nanos) {
    String took = String.format(Locale.ROOT, "%.1f s", nanos / 1e9);
    int gap = Math.max(2, WIDTH - 5 - text.length() - took.length());
    line("   " + green("✓") + " " + text + " ".repeat(gap) + dim(took));
  }

  /** A finished step. */
  void done(String text) {
    line("   " + green("✓") + " " + text);
  }

  void failed(String text) {
    line("   " + red("✗") + " " + text);
  }

  String bold(String text) {
    return styled("1", text);
  }

  String dim(String text) {
    return styled("2", text);
  }

  String green(String text) {
    return styled("32", text);
  }

  String red(String text) {
    return styled("31", text);
  }

  String highlight(String text) {
    return styled("1;36", text);
  }

  private String styled(String code, String text) {
    return colour ? ESCAPE + code + "m" + text + ESCAPE + "0m" : text;
  }

  private String inCharset(String text) {
    return unicode
        ? text
        : text.replace('·', '.').replace("✓", "ok").replace("✗", "FAILED").replace('─', '-');
  }
}
