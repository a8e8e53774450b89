package io.github.snowlease.file;

import java.util.function.LongSupplier;

/**
 * The clock of a store in a folder: the host's wall clock, but never less than what the ledger has
 * seen, nor than what this clock has shown before.
 *
 * <p>When the wall clock is set back, this clock neither follows nor stands still, which would stop
 * all minting for as long as the step was: it goes on at seven eighths of its speed until the wall
 * clock has caught up. So little is lost between two renewals that holders take it for jitter.
 *
 * <p>Thread-safe.
 */
final class LedgerClock {
  private final LongSupplier wallMillis;
  private final LongSupplier nanoTime;
  private long shownMillis;
  private long shownAt;

  LedgerClock(LongSupplier wallMillis, LongSupplier nanoTime) {
    this.wallMillis = wallMillis;
    this.nanoTime = nanoTime;
    this.shownMillis = wallMillis.getAsLong();
    this.shownAt = nanoTime.getAsLong();
  }

  /**
   * The time now.
   *
   * @param recorded the latest time that the ledger has seen
   */
  synchronized long now(long recorded) {
    long nanos = nanoTime.getAsLong();
    long slow = shownMillis + (nanos - shownAt) / 8 * 7 / 1_000_000;
    long now = Math.max(Math.max(wallMillis.getAsLong(), recorded), slow);
    // Only a new millisecond moves the anchor: else frequent readers would round its course away.
    if (now > shownMillis) {
      shownMillis = now;
      shownAt = nanos;
    }
    return now;
  }
}
