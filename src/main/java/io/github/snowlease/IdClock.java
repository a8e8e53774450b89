package io.github.snowlease;

/**
 * The store's time, as this process sees it between two answers of the store: an <em>estimate</em>
 * that follows the store wherever it goes, and the <em>id clock</em> that timestamps ids and never
 * goes back.
 *
 * <p><b>Estimate.</b> An answer that carries the store's time {@code now}, asked for at s and
 * received at r, says that the store's time at r lies in {@code [now, now + 1 ms + (r - s)]}: the
 * answer was written somewhere between s and r, and {@code now} was cut to milliseconds. The first
 * answer sets the estimate to the lower end, as the first question often includes the time it took
 * to connect, and no id shall lie ahead of the store; later ones leave it where it is if it lies
 * inside, and else move it to the nearer end. Between answers it advances with {@code nanoTime}.
 *
 * <p><b>Id clock.</b> Equals the estimate. When an answer moves the estimate back below it, the id
 * clock goes on at half speed from where it stands until the two meet: it neither steps back, which
 * would stop minting for as long, nor leaps.
 *
 * <p><b>Safety</b> does not rest on this class: an id is minted only inside the window that the
 * store granted, whatever the clock says. The clock decides which tick of the window is due.
 *
 * <p><b>Threads.</b> One thread observes; any thread reads. Both values are functions of one
 * immutable anchor that is published by a volatile write. A reader that holds an old anchor may see
 * a slightly different time than one that holds the new; this is racy and benign, as the
 * generator's word, not the clock, keeps ids in order.
 */
final class IdClock {
  private static final long NANOS_PER_MILLI = 1_000_000;

  private final TimeSource time;
  private final long epochMillis;
  private final long tickNanos;
  private volatile Anchor anchor;
  private volatile long latestTick;
  private boolean observed;

  IdClock(TimeSource time, long epochMillis, long tickMillis) {
    this.time = time;
    this.epochMillis = epochMillis;
    this.tickNanos = tickMillis * NANOS_PER_MILLI;
    // Until the store's time is known the clock shows the epoch: a tick that permits nothing, where
    // nanoTime by itself, whose origin means nothing, might lie beyond the layout's horizon.
    this.anchor = new Anchor(time.nanoTime(), 0, 0);
  }

  /** The tick of the id clock now: whole ticks since the layout's epoch. */
  long tick() {
    long nanos = anchor.idNanosAt(time.nanoTime());
    // Most calls come in the tick of the call before. To check that is a multiplication that does
    // not wait for the clock; the division would. Threads may overwrite each other's tick, which is
    // racy and benign: it is only a guess.
    long guess = latestTick;
    long since = nanos - guess * tickNanos;
    if (since >= 0 && since < tickNanos) {
      return guess;
    }
    long tick = nanos / tickNanos;
    latestTick = tick;
    return tick;
  }

  /** Nanoseconds from {@code nanoTime} until the id clock reaches the start of a tick, at most. */
  long nanosUntil(long tick, long nanoTime) {
    Anchor a = anchor;
    long missing = tick * tickNanos - a.idNanosAt(nanoTime);
    return nanoTime - a.nanoTime < a.slowSpan ? 2 * missing : missing;
  }

  /** Whether the store's time was ever observed; before that nothing else here means anything. */
  boolean isObserved() {
    return observed;
  }

  /** The estimate of the store's time at a moment, in milliseconds since 1970. */
  long estimateAt(long nanoTime) {
    return epochMillis + Math.floorDiv(anchor.estimateNanosAt(nanoTime), NANOS_PER_MILLI);
  }

  /** How far the id clock is ahead of the estimate at a moment, in milliseconds. */
  long leadAt(long nanoTime) {
    Anchor a = anchor;
    return (a.idNanosAt(nanoTime) - a.estimateNanosAt(nanoTime)) / NANOS_PER_MILLI;
  }

  /** Takes the next answer for the first one: what was observed before is of another time. */
  void forget() {
    observed = false;
  }

  /** Takes note of an answer: see the class. */
  void observe(long sentAt, long receivedAt, long storeMillis) {
    long low = (storeMillis - epochMillis) * NANOS_PER_MILLI;
    long high = low + NANOS_PER_MILLI + (receivedAt - sentAt);
    Anchor old = anchor;
    if (!observed) {
      anchor = new Anchor(receivedAt, low, 0);
      observed = true;
      return;
    }
    long estimate = Math.max(low, Math.min(high, old.estimateNanosAt(receivedAt)));
    long lead = Math.max(0, old.idNanosAt(receivedAt) - estimate);
    anchor = new Anchor(receivedAt, estimate, lead);
  }

  /**
   * The estimate and the id clock as functions of nanoTime; nanoseconds since the layout's epoch.
   */
  private static final class Anchor {
    final long nanoTime;
    final long estimate;
    final long idStart;

    /**
     * How long the id clock runs at half speed: twice its lead, as it gains half on each second.
     */
    final long slowSpan;

    Anchor(long nanoTime, long estimate, long lead) {
      this.nanoTime = nanoTime;
      this.estimate = estimate;
      this.idStart = estimate + lead;
      this.slowSpan = 2 * lead;
    }

    long estimateNanosAt(long now) {
      return estimate + (now - nanoTime);
    }

    long idNanosAt(long now) {
      long elapsed = now - nanoTime;
      // A reader may have read nanoTime just before this anchor was made: elapsed < 0.
      return elapsed >= slowSpan ? estimate + elapsed : idStart + (elapsed >> 1);
    }
  }
}
