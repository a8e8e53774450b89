package io.github.snowlease;

/**
 * The two clocks of a host. Injected, so that tests and the simulation tick them by hand.
 *
 * <p>{@code nanoTime} measures spans and never steps, but its origin means nothing and it may wrap:
 * compare differences only. {@code wallMillis} is what people call the time, and may step.
 */
interface TimeSource {
  TimeSource SYSTEM =
      new TimeSource() {
        @Override
        public long nanoTime() {
          return System.nanoTime();
        }

        @Override
        public long wallMillis() {
          return System.currentTimeMillis();
        }
      };

  /** Nanoseconds since an arbitrary origin, as {@link System#nanoTime()}. */
  long nanoTime();

  /** Milliseconds since 1970-01-01T00:00:00Z, as {@link System#currentTimeMillis()}. */
  long wallMillis();
}
