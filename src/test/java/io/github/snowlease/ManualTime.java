package io.github.snowlease;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Clocks that a test ticks by hand. The origin of {@code nanoTime} is given, so that tests can
 * start anywhere and pass its wrap.
 */
final class ManualTime implements TimeSource {
  private final AtomicLong nanos;
  private final AtomicLong wall = new AtomicLong(1_800_000_000_000L);
  private volatile long nanosPerRead;

  ManualTime(long nanoTime) {
    this.nanos = new AtomicLong(nanoTime);
  }

  /** Lets time pass, which both clocks show. */
  void advanceMillis(long millis) {
    advanceNanos(millis * 1_000_000);
    wall.addAndGet(millis);
  }

  /** Lets time pass, which the wall clock is too coarse to show. */
  void advanceNanos(long passed) {
    nanos.addAndGet(passed);
  }

  void stepWall(long millis) {
    wall.addAndGet(millis);
  }

  /** From now on each read of {@code nanoTime} takes so long. */
  void tickAtEachRead(long nanosPerRead) {
    this.nanosPerRead = nanosPerRead;
  }

  @Override
  public long nanoTime() {
    long each = nanosPerRead;
    return each == 0 ? nanos.get() : nanos.getAndAdd(each);
  }

  @Override
  public long wallMillis() {
    return wall.get();
  }
}
