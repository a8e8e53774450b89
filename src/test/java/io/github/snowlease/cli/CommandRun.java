package io.github.snowlease.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Help;

/**
 * What a command line said, and how it ended.
 *
 * @param code the exit code
 * @param out what it wrote to standard output
 * @param err what it wrote to standard error
 */
record CommandRun(int code, String out, String err) {
  private static final Pattern LINE_END = Pattern.compile("\\R");

  /** Runs a command in this process, without colours. */
  static CommandRun of(String... arguments) {
    return run(Help.Ansi.OFF, arguments);
  }

  /** Runs a command in this process, as on a terminal. */
  static CommandRun inColour(String... arguments) {
    return run(Help.Ansi.ON, arguments);
  }

  /**
   * Runs a command whose output nobody reads, as after {@code | head -1}; returns its exit code.
   */
  static int unread(String... arguments) {
    OutputStream closed =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw new IOException("Broken pipe");
          }
        };
    return SnowleaseCommand.commandLine()
        .setOut(new PrintWriter(closed, false, StandardCharsets.UTF_8))
        .execute(arguments);
  }

  private static CommandRun run(Help.Ansi ansi, String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine command =
        SnowleaseCommand.commandLine()
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(err))
            .setColorScheme(Help.defaultColorScheme(ansi));
    int code = command.execute(arguments);
    return new CommandRun(code, out.toString(), err.toString());
  }

  /** The first line of the output that begins with a text, or an empty text. */
  String line(String prefix) {
    return LINE_END
        .splitAsStream(out)
        .filter(line -> line.startsWith(prefix))
        .findFirst()
        .orElse("");
  }
}
