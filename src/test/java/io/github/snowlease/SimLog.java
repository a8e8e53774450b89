package io.github.snowlease;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import org.slf4j.LoggerFactory;

/** Writing what a simulated fleet logs would cost more than simulating it. */
final class SimLog {
  private static final Logger LIBRARY =
      (Logger) LoggerFactory.getLogger(SimLog.class.getPackageName());
  private static int silences;

  private SimLog() {}

  interface Work<T> {
    T run() throws InterruptedException;
  }

  /** Runs something while the library logs nothing. */
  static <T> T silently(Work<T> work) throws InterruptedException {
    count(1);
    try {
      return work.run();
    } finally {
      count(-1);
    }
  }

  private static synchronized void count(int change) {
    silences += change;
    LIBRARY.setLevel(silences > 0 ? Level.OFF : null);
  }
}
