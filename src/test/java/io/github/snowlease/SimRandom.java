package io.github.snowlease;

/** Random numbers of a run: fast, and the same for the same seed on every JVM. */
final class SimRandom {
  private long state;

  SimRandom(long seed) {
    state = mix(seed + 0x9E3779B97F4A7C15L);
  }

  /** SplitMix64. */
  private static long mix(long z) {
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  long nextLong() {
    state += 0x9E3779B97F4A7C15L;
    return mix(state);
  }

  /** 0 to bound - 1; the bias of a 31-bit remainder is of no account here. */
  int nextInt(int bound) {
    return (int) ((nextLong() >>> 33) % bound);
  }

  /** lowest to highest, both included. */
  long between(long lowest, long highest) {
    return lowest + (nextLong() >>> 1) % (highest - lowest + 1);
  }

  boolean oneIn(int n) {
    return nextInt(n) == 0;
  }

  /** Each order of magnitude between the two as likely as any other. */
  long spread(long lowest, long highest) {
    double share = (nextLong() >>> 11) * 0x1.0p-53;
    return (long) (lowest * StrictMath.pow((double) highest / lowest, share));
  }

  /** As {@link #spread}, forward or backward. */
  long spreadEitherWay(long lowest, long highest) {
    long amount = spread(lowest, highest);
    return oneIn(2) ? amount : -amount;
  }
}
