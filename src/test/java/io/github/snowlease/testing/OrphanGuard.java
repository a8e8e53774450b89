package io.github.snowlease.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;

/**
 * Ends the children of this JVM when this JVM ends, however it ends.
 *
 * <p>A shutdown hook does not run after a SIGKILL, and a child frozen by a SIGSTOP would then stay
 * for ever. So a shell is told of every child over a pipe. The pipe closes when this JVM is gone,
 * and the shell kills the children that are left.
 */
final class OrphanGuard {

  private static final String SCRIPT =
      """
      trap '' INT TERM HUP
      pids=
      while read -r verb pid; do
        rest=
        for p in $pids; do [ "$p" = "$pid" ] || rest="$rest $p"; done
        pids=$rest
        [ "$verb" = forget ] || pids="$pids $pid"
      done
      [ -z "$pids" ] || kill -KILL $pids 2>/dev/null
      """;

  /** Started with the first child. */
  private static final class Shell {
    static final Writer PIPE = start();

    private static Writer start() {
      try {
        return new ProcessBuilder("sh", "-c", SCRIPT)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start()
            .outputWriter(UTF_8);
      } catch (IOException e) {
        throw new UncheckedIOException("these tests need a POSIX shell, sh, on PATH", e);
      }
    }
  }

  private OrphanGuard() {}

  /** Lets the process die with this JVM. */
  static void guard(Process process) {
    long pid = process.pid();
    tell("guard " + pid);
    // Once it has ended, its pid may become another's.
    var unused = process.onExit().thenRun(() -> tell("forget " + pid));
  }

  private static void tell(String line) {
    synchronized (Shell.PIPE) {
      try {
        Shell.PIPE.write(line + "\n");
        Shell.PIPE.flush();
      } catch (IOException e) {
        throw new UncheckedIOException("the guard of child processes is gone", e);
      }
    }
  }
}
