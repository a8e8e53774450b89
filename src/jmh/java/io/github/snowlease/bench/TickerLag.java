package io.github.snowlease.bench;

import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * How late a clock is that a thread of its own sets once a millisecond, seen by a thread that reads
 * it without a pause: the lag that a coarse clock would have. A thousand microseconds of it are the
 * period; what is above is the ticker's own delay.
 */
public final class TickerLag {
  private static final long PERIOD_NANOS = 1_000_000;
  private static final long SCENE_MILLIS = 10_000;

  private volatile long ticker = System.nanoTime();
  private volatile boolean stop;

  private TickerLag() {}

  /** Prints a line for the idle machine, and for some numbers of other busy threads. */
  public static void main(String[] args) throws InterruptedException {
    int cores = Runtime.getRuntime().availableProcessors();
    for (int others : new int[] {0, cores - 1, 2 * cores, 4 * cores}) {
      Histogram lag = new TickerLag().measure(others);
      System.out.printf(
          Locale.ROOT,
          "%d other busy threads on %d cores: lag p50 %,d us, p99.9 %,d us, longest %,d us%n",
          others,
          cores,
          lag.getValueAtPercentile(50) / 1_000,
          lag.getValueAtPercentile(99.9) / 1_000,
          lag.getMaxValue() / 1_000);
    }
  }

  private Histogram measure(int others) throws InterruptedException {
    Histogram lag = new Histogram(3);
    Thread[] threads = new Thread[others + 2];
    threads[0] = new Thread(this::tick);
    threads[1] = new Thread(() -> read(lag));
    for (int i = 0; i < others; i++) {
      threads[2 + i] = new Thread(this::burn);
    }
    for (Thread thread : threads) {
      thread.start();
    }
    Thread.sleep(SCENE_MILLIS); // the span that is measured
    stop = true;
    for (Thread thread : threads) {
      thread.join();
    }
    return lag;
  }

  private void tick() {
    while (!stop) {
      ticker = System.nanoTime();
      LockSupport.parkNanos(PERIOD_NANOS);
    }
  }

  private void read(Histogram lag) {
    while (!stop) {
      long read = ticker;
      lag.recordValue(Math.max(0, System.nanoTime() - read));
    }
  }

  private void burn() {
    while (!stop) {
      Thread.onSpinWait();
    }
  }
}
