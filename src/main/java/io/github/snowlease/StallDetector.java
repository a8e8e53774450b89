package io.github.snowlease;

/**
 * Notices that this process may have been frozen or copied: a virtual machine thawed or cloned, a
 * process stopped. Two signs: the lease thread wakes much later than it meant to, or wall clock and
 * {@code nanoTime} went on by different amounts between two beats, as {@code nanoTime} stands still
 * while a machine is frozen and the wall clock is set right afterwards.
 *
 * <p>Confined to the lease thread.
 */
final class StallDetector {
  private static final long TOLERANCE_MILLIS = 5_000;

  enum Finding {
    /** Nothing to see. */
    NONE,
    /** The thread woke late. */
    LATE,
    /** The wall clock went elsewhere than nanoTime: it was set, or the process was frozen. */
    CLOCKS_DIFFER
  }

  private final TimeSource time;
  private boolean started;
  private long plannedNanos;
  private long lastNanos;
  private long lastWall;

  StallDetector(TimeSource time) {
    this.time = time;
  }

  /** Compares this beat with the last one and with its plan. */
  Finding beat(long nanoTime) {
    long wall = time.wallMillis();
    Finding finding = Finding.NONE;
    if (started) {
      long late = (nanoTime - plannedNanos) / 1_000_000;
      long apart = (wall - lastWall) - (nanoTime - lastNanos) / 1_000_000;
      if (late > TOLERANCE_MILLIS) {
        finding = Finding.LATE;
      } else if (Math.abs(apart) > TOLERANCE_MILLIS) {
        finding = Finding.CLOCKS_DIFFER;
      }
    }
    started = true;
    // Until the next beat is planned, as it is not if this one fails: measured from here.
    plannedNanos = nanoTime;
    lastNanos = nanoTime;
    lastWall = wall;
    return finding;
  }

  /** The next beat is planned for then. */
  void plan(long nanoTime) {
    plannedNanos = nanoTime;
  }
}
