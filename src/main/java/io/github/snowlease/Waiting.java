package io.github.snowlease;

import io.github.snowlease.NoLeaseException.Reason;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * What a caller does while the generator has nothing to mint from: finds out why, parks (virtual
 * threads unmount) until the next tick or until the lease changes, and gives up after {@code
 * maxWait}.
 *
 * <p>A caller that waits for its lease waits on a latch, which each change of the lease counts down
 * and replaces. It reads the latch first and looks at the lease once more after: a change before
 * that look shows in it, a later one counts down the latch that was read. So none sleeps through
 * the change it waits for.
 */
final class Waiting {
  /** The deadline of a call that has not waited yet. */
  static final long NOT_YET = 0;

  /**
   * How long callers oversleep the start of a tick, at random and at most, in nanoseconds. Woken at
   * once, the same few would be first each time and use up the tick. A quarter of a millisecond
   * leaves enough of the shortest tick to mint it empty.
   */
  private static final long SCATTER = 250_000;

  /** Up to here a caller sleeps alone; beyond, a change of the lease wakes it early. */
  private static final long SHORT_WAIT_NANOS = 10_000_000;

  private static final VarHandle CHANGE;

  static {
    try {
      CHANGE = MethodHandles.lookup().findVarHandle(Waiting.class, "change", CountDownLatch.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final BitLayout layout;
  private final IdClock clock;
  private final TimeSource time;
  private final long maxWaitNanos;
  private final Refusal refusal;
  private volatile CountDownLatch change = new CountDownLatch(1);

  Waiting(BitLayout layout, IdClock clock, TimeSource time, long maxWaitNanos, Refusal refusal) {
    this.layout = layout;
    this.clock = clock;
    this.time = time;
    this.maxWaitNanos = maxWaitNanos;
    this.refusal = refusal;
  }

  /** Says in the words of the lease why no id comes. */
  interface Refusal {
    NoLeaseException explain(Reason reason, long waitedNanos);
  }

  /** The lease as the generator has it. */
  interface Lease {
    boolean isStill(long word, LeaseWindow window);
  }

  /**
   * Waits once, because of this tick, word and window. Returns the caller's deadline, which is set
   * at its first wait; the caller hands it in at the next.
   */
  long await(long tick, long word, LeaseWindow window, long deadline, Lease lease) {
    Reason reason = reasonOf(tick, word, window);
    long now = time.nanoTime();
    long until = deadline == NOT_YET ? deadlineFrom(now) : deadline;
    long left = until - now;
    if (reason == Reason.CLOSED || left <= 0) {
      throw refusal.explain(reason, maxWaitNanos - left);
    }
    // Not Thread.interrupted(): the flag stays for the caller to see.
    if (Thread.currentThread().isInterrupted()) {
      throw refusal.explain(Reason.INTERRUPTED, maxWaitNanos - left);
    }
    long most = left;
    if (reason == Reason.SATURATED || reason == Reason.CLOCK_HELD) {
      most = Math.min(left, nanosUntilMore(word, window, now));
      if (most <= SHORT_WAIT_NANOS) {
        LockSupport.parkNanos(this, most);
        return until;
      }
    }
    CountDownLatch expected = change;
    if (lease.isStill(word, window)) {
      try {
        expected.await(most, TimeUnit.NANOSECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw refusal.explain(Reason.INTERRUPTED, maxWaitNanos - left);
      }
    }
    return until;
  }

  /** Wakes who waits for the lease; to be called after it has changed. */
  void onChange() {
    ((CountDownLatch) CHANGE.getAndSet(this, new CountDownLatch(1))).countDown();
  }

  private long deadlineFrom(long now) {
    long until = now + maxWaitNanos;
    return until == NOT_YET ? until - 1 : until; // a nanosecond less keeps it apart from none
  }

  /** Until the tick of the next word, and some more at random. */
  private long nanosUntilMore(long word, LeaseWindow window, long now) {
    long tick = Math.max(word + 1, window.firstWord) >>> layout.sequenceBits();
    return clock.nanosUntil(tick, now) + ThreadLocalRandom.current().nextLong(SCATTER);
  }

  private Reason reasonOf(long tick, long word, LeaseWindow window) {
    if (word == SnowflakeGenerator.CLOSED) {
      return Reason.CLOSED;
    }
    if (tick > layout.maxTick()) {
      throw new HorizonReachedException(layout);
    }
    if (word < 0) {
      return word == SnowflakeGenerator.SEALED ? Reason.NOT_YET : Reason.LOST;
    }
    int bits = layout.sequenceBits();
    long next = Math.max(Math.max(word + 1, window.firstWord), tick << bits);
    if (next > window.lastWord) {
      return Reason.LOST;
    }
    return next >>> bits > tick + 1 ? Reason.CLOCK_HELD : Reason.SATURATED;
  }
}
