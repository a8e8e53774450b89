package io.github.snowlease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.snowlease.NoLeaseException.Reason;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The rest of it is tested through the generator, in {@link SnowflakeGeneratorTest}. */
@Timeout(60)
class WaitingTest {
  private static final long MILLI = 1_000_000;
  private static final long MAX_WAIT = 50 * MILLI;

  /** Ten bits of tick, four ids a tick; words read {@code 4 * tick + sequence}. */
  private static final BitLayout LAYOUT =
      new BitLayout(Instant.EPOCH, Duration.ofMillis(1), 10, 0, 0, 2);

  private static final LeaseWindow WINDOW = LeaseWindow.of(LAYOUT, new Slot(0, 0), 10, 900);

  private final ManualTime time = new ManualTime(7);
  private final IdClock clock = new IdClock(time, 0, 1);
  private final Waiting waiting =
      new Waiting(
          LAYOUT,
          clock,
          time,
          MAX_WAIT,
          (reason, waited) -> new NoLeaseException(reason, "waited=" + waited, null));

  /** What a call is told whose time is up. */
  private NoLeaseException refusal(long tick, long word) {
    long deadline = time.nanoTime() - 1;
    return catchThrowableOfType(
        NoLeaseException.class,
        () -> waiting.await(tick, word, WINDOW, deadline, (seen, window) -> true));
  }

  @Test
  void tellsTheReason() {
    assertThat(refusal(20, SnowflakeGenerator.SEALED).reason()).isEqualTo(Reason.NOT_YET);
    assertThat(refusal(20, SnowflakeGenerator.SEALED | 80).reason()).isEqualTo(Reason.LOST);
    assertThat(refusal(20, SnowflakeGenerator.CLOSED).reason()).isEqualTo(Reason.CLOSED);
    assertThat(refusal(901, 80).reason()).as("beyond the window").isEqualTo(Reason.LOST);
    assertThat(refusal(20, 83).reason()).as("tick 20 is full").isEqualTo(Reason.SATURATED);
    assertThat(refusal(20, 87).reason()).as("tick 21 is full").isEqualTo(Reason.CLOCK_HELD);
    assertThat(refusal(8, 0).reason()).as("before the window").isEqualTo(Reason.CLOCK_HELD);
    assertThat(refusal(20, 83)).hasMessage("waited=" + (MAX_WAIT + 1));
  }

  @Test
  void tellsTheHorizonWhateverTheWord() {
    for (long word : new long[] {80, SnowflakeGenerator.SEALED}) {
      assertThatExceptionOfType(HorizonReachedException.class)
          .isThrownBy(
              () -> waiting.await(1_024, word, WINDOW, Waiting.NOT_YET, (seen, window) -> true));
    }
  }

  @Test
  void setsTheDeadlineAtTheFirstWaitAndKeepsIt() {
    long start = time.nanoTime();
    clock.observe(start, start, 20);
    long deadline = waiting.await(20, 83, WINDOW, Waiting.NOT_YET, (seen, window) -> true);
    assertThat(deadline).isEqualTo(start + MAX_WAIT);
    time.advanceMillis(49);
    assertThat(waiting.await(20, 83, WINDOW, deadline, (seen, window) -> true)).isEqualTo(deadline);
  }

  @Test
  void keepsADeadlineApartFromNone() {
    time.advanceNanos(-MAX_WAIT - 7); // so that the deadline would be 0
    assertThat(waiting.await(20, 83, WINDOW, Waiting.NOT_YET, (seen, window) -> true))
        .isEqualTo(-1);
  }

  @Test
  void doesNotSleepIfTheLeaseHasChangedSinceItWasRead() {
    Waiting patient =
        new Waiting(
            LAYOUT,
            clock,
            time,
            TimeUnit.HOURS.toNanos(1),
            (reason, waited) -> new NoLeaseException(reason, "", null));
    // Returns, in spite of an hour of patience.
    patient.await(20, SnowflakeGenerator.SEALED, WINDOW, Waiting.NOT_YET, (seen, window) -> false);
    // Here it changes after the look and before the sleep.
    patient.await(
        20,
        SnowflakeGenerator.SEALED,
        WINDOW,
        Waiting.NOT_YET,
        (seen, window) -> {
          patient.onChange();
          return true;
        });
  }
}
