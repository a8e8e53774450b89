package io.github.snowlease.file;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.DisplayNameGenerator;
import org.junit.jupiter.api.Test;

@DisplayNameGeneration(DisplayNameGenerator.ReplaceUnderscores.class)
class LedgerClockTest {
  private static final long START = 1_790_000_000_000L;

  private long wall = START;
  private long nanos = new Random().nextLong();
  private final LedgerClock clock = new LedgerClock(() -> wall, () -> nanos);

  @Test
  void shows_the_wall_clock() {
    pass(1_234);

    assertThat(clock.now(0)).isEqualTo(START + 1_234);
  }

  @Test
  void shows_no_less_than_the_ledger_has_seen() {
    assertThat(clock.now(START + 60_000)).isEqualTo(START + 60_000);
  }

  @Test
  void goes_on_a_little_slower_when_the_wall_clock_is_set_back() {
    clock.now(0);
    wall -= 3_600_000;
    pass(8_000);

    assertThat(clock.now(0)).isEqualTo(START + 7_000);
  }

  @Test
  void loses_nothing_to_rounding_when_it_is_read_often() {
    clock.now(0);
    wall -= 3_600_000;
    for (int i = 0; i < 80_000; i++) {
      nanos += 100_000;
      clock.now(0);
    }

    assertThat(clock.now(0)).isBetween(START + 6_500, START + 7_000);
  }

  @Test
  void follows_the_wall_clock_again_when_that_has_caught_up() {
    clock.now(0);
    wall -= 1_000;
    pass(8_000);
    assertThat(clock.now(0)).isEqualTo(START + 7_000);
    pass(500);

    assertThat(clock.now(0)).isEqualTo(START + 7_500);
  }

  @Test
  void never_goes_back_whatever_the_wall_clock_does() {
    Random random = new Random();
    long last = 0;
    for (int i = 0; i < 10_000; i++) {
      pass(random.nextInt(5_000));
      wall += random.nextInt(20) == 0 ? random.nextInt(-100_000, 100_000) : 0;
      long now = clock.now(0);
      assertThat(now).isGreaterThanOrEqualTo(Math.max(last, wall));
      last = now;
    }
  }

  private void pass(long millis) {
    wall += millis;
    nanos += millis * 1_000_000;
  }
}
