package io.github.snowlease;

import java.time.Duration;
import java.time.Instant;
import java.util.Random;
import java.util.function.Function;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;

/** Layouts for property tests: every legal one can come, and the extremes come often. */
final class BitLayouts {
  private static final long EPOCH_2200 = Instant.parse("2200-01-01T00:00:00Z").toEpochMilli();

  private BitLayouts() {}

  static Arbitrary<BitLayout> legal() {
    return drawn(BitLayouts::draw);
  }

  /** Drawn from a seed: the parts of a layout depend on each other, which makes shrinking slow. */
  static <T> Arbitrary<T> drawn(Function<Random, T> draw) {
    return Arbitraries.longs().withoutEdgeCases().map(seed -> draw.apply(new Random(seed)));
  }

  static BitLayout draw(Random random) {
    // The widths one after the other, in any order, each within what the others have left.
    int[] min = {1, 0, 0, 1};
    int[] max = {62, 30, 30, 30};
    int[] bits = min.clone();
    int left = 61;
    int first = random.nextInt(4);
    for (int i = 0; i < 4; i++) {
      int field = (first + i) % 4;
      int room = Math.min(left, max[field] - min[field]);
      int more = random.nextInt(3) == 0 ? room : random.nextInt(room + 1);
      bits[field] += more;
      left -= more;
    }
    long epoch =
        switch (random.nextInt(4)) {
          case 0 -> 0;
          case 1 -> EPOCH_2200;
          default -> (long) (random.nextDouble() * EPOCH_2200);
        };
    int tick =
        switch (random.nextInt(4)) {
          case 0 -> 1;
          case 1 -> 1_000;
          default -> 1 + random.nextInt(1_000);
        };
    return new BitLayout(
        Instant.ofEpochMilli(epoch), Duration.ofMillis(tick), bits[0], bits[1], bits[2], bits[3]);
  }

  /** A number of so many bits: any, or often the least or the greatest. */
  static long drawBits(int bits, Random random) {
    long mask = (1L << bits) - 1;
    return switch (random.nextInt(4)) {
      case 0 -> 0;
      case 1 -> mask;
      default -> random.nextLong() & mask;
    };
  }
}
