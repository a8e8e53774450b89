package io.github.snowlease.testing;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** The signals that tests send to processes, among them the two that Java has no method for. */
enum ProcessSignal {
  /** Asks it to end. */
  TERM,
  /** Ends it at once. */
  KILL,
  /** Freezes it, as a long pause of the machine would. */
  STOP,
  /** Thaws it. */
  CONT;

  private static final Duration DELIVERY_LIMIT = Duration.ofSeconds(5);

  /**
   * Sends this signal. Returns from {@link #STOP} and {@link #CONT} when the process has obeyed,
   * where the system shows that.
   */
  void send(long pid) {
    try {
      // The shell's own kill: a slim container has no /bin/kill.
      Process kill =
          new ProcessBuilder("sh", "-c", "kill -" + name() + " \"$1\"", "sh", Long.toString(pid))
              .redirectErrorStream(true)
              .start();
      String output = new String(kill.getInputStream().readAllBytes(), UTF_8);
      if (!kill.waitFor(5, TimeUnit.SECONDS) || kill.exitValue() != 0) {
        throw new IllegalStateException("kill -" + name() + " failed: pid=" + pid + ": " + output);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while sending " + name() + ": pid=" + pid, e);
    }
    if (this == STOP || this == CONT) {
      awaitState(pid, this == STOP);
    }
  }

  private static void awaitState(long pid, boolean stopped) {
    Path stat = Path.of("/proc", Long.toString(pid), "stat");
    if (!Files.exists(stat)) {
      return;
    }
    await()
        .atMost(DELIVERY_LIMIT)
        .pollInterval(Duration.ofMillis(2))
        .pollDelay(Duration.ZERO)
        .until(() -> isStopped(stat) == stopped);
  }

  private static boolean isStopped(Path stat) throws IOException {
    String line = Files.readString(stat);
    // The name of the program stands in parentheses before the state, and may hold spaces.
    return line.charAt(line.lastIndexOf(')') + 2) == 'T';
  }
}
