package io.github.snowlease;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IdClockTest {
  private static final long EPOCH = 1_704_067_200_000L;
  private static final long STORE = EPOCH + 1_000_000;
  private static final long MILLI = 1_000_000;

  private static IdClock observedAt(ManualTime time, long storeMillis) {
    IdClock clock = new IdClock(time, EPOCH, 1);
    clock.observe(time.nanoTime(), time.nanoTime(), storeMillis);
    return clock;
  }

  /** Origins of nanoTime, of which some wrap within the test. */
  @Provide
  Arbitrary<Long> origins() {
    return Arbitraries.oneOf(
        Arbitraries.longs(),
        Arbitraries.longs().between(Long.MAX_VALUE - 30_000 * MILLI, Long.MAX_VALUE),
        Arbitraries.longs().between(-30_000 * MILLI, 30_000 * MILLI));
  }

  // ---- the estimate

  @Property
  void theFirstAnswerSetsTheEstimateToTheLowerEndSoThatNoIdLiesAheadOfTheStore(
      @ForAll("origins") long origin, @ForAll @LongRange(min = 0, max = 2_000) long roundTrip) {
    ManualTime time = new ManualTime(origin);
    IdClock clock = new IdClock(time, EPOCH, 1);
    assertThat(clock.isObserved()).isFalse();
    long sentAt = time.nanoTime();
    time.advanceMillis(roundTrip);
    clock.observe(sentAt, time.nanoTime(), STORE);
    assertThat(clock.isObserved()).isTrue();
    assertThat(clock.estimateAt(time.nanoTime())).isEqualTo(STORE);
    assertThat(clock.tick()).isEqualTo(STORE - EPOCH);
  }

  @Property
  void aLaterAnswerLeavesTheEstimateIfItAllowsIt(
      @ForAll("origins") long origin, @ForAll @LongRange(min = 0, max = 20) long early) {
    ManualTime time = new ManualTime(origin);
    IdClock clock = observedAt(time, STORE);
    long sentAt = time.nanoTime();
    time.advanceMillis(20);
    // The store answered somewhere within these 20 ms.
    clock.observe(sentAt, time.nanoTime(), STORE + 20 - early);
    assertThat(clock.estimateAt(time.nanoTime())).isEqualTo(STORE + 20);
    assertThat(clock.leadAt(time.nanoTime())).isZero();
  }

  @Test
  void aLaterAnswerMovesTheEstimateToTheNearerEndIfItContradicts() {
    ManualTime time = new ManualTime(0);
    IdClock clock = observedAt(time, STORE);
    long sentAt = time.nanoTime();
    time.advanceMillis(20);
    clock.observe(sentAt, time.nanoTime(), STORE + 120); // the store was ahead: 120 to 141
    assertThat(clock.estimateAt(time.nanoTime())).isEqualTo(STORE + 120);
    sentAt = time.nanoTime();
    time.advanceMillis(20);
    clock.observe(sentAt, time.nanoTime(), STORE + 50); // the store was behind: 50 to 71
    assertThat(clock.estimateAt(time.nanoTime())).isEqualTo(STORE + 71);
  }

  @Property
  void theEstimateIsAlwaysWhereTheLastAnswerAllows(
      @ForAll("origins") long origin, @ForAll("steps") List<Step> steps) {
    ManualTime time = new ManualTime(origin);
    IdClock clock = observedAt(time, STORE);
    for (Step step : steps) {
      time.advanceMillis(step.pause);
      long sentAt = time.nanoTime();
      time.advanceMillis(step.roundTrip);
      long store = clock.estimateAt(sentAt) + step.surprise;
      clock.observe(sentAt, time.nanoTime(), store);
      assertThat(clock.estimateAt(time.nanoTime())).isBetween(store, store + 1 + step.roundTrip);
    }
  }

  /** A beat: a pause, then a question whose answer differs from what was expected. */
  private record Step(long pause, long roundTrip, long surprise) {}

  @Provide
  Arbitrary<List<Step>> steps() {
    return Combinators.combine(
            Arbitraries.longs().between(0, 3_000),
            Arbitraries.longs().between(0, 2_000),
            Arbitraries.longs().between(-6_000, 6_000))
        .as(Step::new)
        .list()
        .ofMinSize(1)
        .ofMaxSize(20);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, Long.MAX_VALUE - 5, Long.MIN_VALUE, Long.MAX_VALUE - 500_000_000})
  void theEstimateGoesOnWithNanoTimeAlsoWhenThatWraps(long origin) {
    ManualTime time = new ManualTime(origin);
    IdClock clock = observedAt(time, STORE);
    time.advanceMillis(999);
    assertThat(clock.estimateAt(time.nanoTime())).isEqualTo(STORE + 999);
    assertThat(clock.tick()).isEqualTo(STORE - EPOCH + 999);
    time.advanceNanos(MILLI - 1);
    assertThat(clock.estimateAt(time.nanoTime())).isEqualTo(STORE + 999);
    time.advanceNanos(1);
    assertThat(clock.estimateAt(time.nanoTime())).isEqualTo(STORE + 1_000);
  }

  @Test
  void theEstimateOfAMomentBeforeTheEpochIsRoundedDown() {
    ManualTime time = new ManualTime(0);
    IdClock clock = new IdClock(time, EPOCH, 1);
    clock.observe(0, 0, EPOCH - 10);
    assertThat(clock.estimateAt(0)).isEqualTo(EPOCH - 10);
  }

  // ---- the id clock

  @Property
  void theIdClockNeverGoesBackAndMeetsTheEstimate(
      @ForAll("origins") long origin, @ForAll("steps") List<Step> steps) {
    ManualTime time = new ManualTime(origin);
    IdClock clock = observedAt(time, STORE);
    long last = clock.tick();
    for (Step step : steps) {
      for (int part = 0; part < 4; part++) {
        time.advanceNanos(step.pause * MILLI / 4);
        assertThat(clock.tick()).isGreaterThanOrEqualTo(last);
        last = clock.tick();
      }
      long sentAt = time.nanoTime();
      time.advanceMillis(step.roundTrip);
      assertThat(clock.tick()).isGreaterThanOrEqualTo(last);
      last = clock.tick();
      clock.observe(sentAt, time.nanoTime(), clock.estimateAt(sentAt) + step.surprise);
      assertThat(clock.tick()).isGreaterThanOrEqualTo(last);
      last = clock.tick();
      assertThat(clock.leadAt(time.nanoTime())).isNotNegative();
      assertThat(EPOCH + clock.tick()).isGreaterThanOrEqualTo(clock.estimateAt(time.nanoTime()));
    }
    long lead = clock.leadAt(time.nanoTime());
    time.advanceMillis(2 * (lead + 1));
    assertThat(clock.leadAt(time.nanoTime())).isZero();
    assertThat(EPOCH + clock.tick()).isEqualTo(clock.estimateAt(time.nanoTime()));
  }

  @ParameterizedTest
  @ValueSource(longs = {0, Long.MAX_VALUE - 1_000_000, Long.MIN_VALUE + 17})
  void theIdClockRunsAtHalfSpeedUntilTheEstimateHasCaughtUp(long origin) {
    ManualTime time = new ManualTime(origin);
    IdClock clock = observedAt(time, STORE);
    long start = clock.tick();
    // Exactly 400 ms back: the upper end of the answer's interval is its time plus 1 ms.
    clock.observe(time.nanoTime(), time.nanoTime(), STORE - 401);
    assertThat(clock.leadAt(time.nanoTime())).isEqualTo(400);
    assertThat(clock.tick()).isEqualTo(start);
    time.advanceMillis(100);
    assertThat(clock.tick()).isEqualTo(start + 50);
    assertThat(clock.leadAt(time.nanoTime())).isEqualTo(350);
    time.advanceMillis(698);
    assertThat(clock.tick()).isEqualTo(start + 399);
    time.advanceMillis(2);
    assertThat(clock.tick()).isEqualTo(start + 400);
    assertThat(clock.leadAt(time.nanoTime())).isZero();
    time.advanceMillis(100);
    assertThat(clock.tick()).isEqualTo(start + 500);
  }

  @Test
  void aSecondStepBackAddsToTheLead() {
    ManualTime time = new ManualTime(Long.MAX_VALUE - 1);
    IdClock clock = observedAt(time, STORE);
    clock.observe(time.nanoTime(), time.nanoTime(), STORE - 101);
    clock.observe(time.nanoTime(), time.nanoTime(), STORE - 301);
    assertThat(clock.leadAt(time.nanoTime())).isEqualTo(300);
    assertThat(clock.tick()).isEqualTo(STORE - EPOCH);
  }

  @Test
  void theIdClockFollowsTheEstimateForwardAtOnce() {
    ManualTime time = new ManualTime(42);
    IdClock clock = observedAt(time, STORE);
    clock.observe(time.nanoTime(), time.nanoTime(), STORE + 5_000);
    assertThat(clock.tick()).isEqualTo(STORE - EPOCH + 5_000);
    assertThat(clock.leadAt(time.nanoTime())).isZero();
  }

  @Property
  void ticksAreWholeTicksSinceTheEpoch(
      @ForAll("origins") long origin,
      @ForAll @LongRange(min = 1, max = 1_000) long tickMillis,
      @ForAll @LongRange(min = 0, max = 5_000_000_000_000L) long sinceEpoch) {
    ManualTime time = new ManualTime(origin);
    IdClock clock = new IdClock(time, EPOCH, tickMillis);
    clock.observe(time.nanoTime(), time.nanoTime(), EPOCH + sinceEpoch);
    assertThat(clock.tick()).isEqualTo(sinceEpoch / tickMillis);
  }

  // ---- how long to wait

  @Property
  void saysHowLongToWaitForATickAndNotLess(
      @ForAll("origins") long origin,
      @ForAll @LongRange(min = 1, max = 1_000) long tickMillis,
      @ForAll @LongRange(min = 0, max = 3_000) long setBack,
      @ForAll @LongRange(min = 1, max = 5) long ahead) {
    ManualTime time = new ManualTime(origin);
    IdClock clock = new IdClock(time, EPOCH, tickMillis);
    clock.observe(time.nanoTime(), time.nanoTime(), STORE);
    clock.observe(time.nanoTime(), time.nanoTime(), STORE - setBack);
    long tick = clock.tick() + ahead;
    long wait = clock.nanosUntil(tick, time.nanoTime());
    assertThat(wait).isPositive().isLessThanOrEqualTo(2 * ahead * tickMillis * MILLI);
    time.advanceNanos(wait);
    assertThat(clock.tick()).isGreaterThanOrEqualTo(tick);
  }

  @Test
  void saysExactlyHowLongToWaitAtFullAndAtHalfSpeed() {
    ManualTime time = new ManualTime(Long.MAX_VALUE - 10);
    IdClock clock = observedAt(time, STORE);
    long tick = clock.tick();
    assertThat(clock.nanosUntil(tick + 3, time.nanoTime())).isEqualTo(3 * MILLI);
    assertThat(clock.nanosUntil(tick, time.nanoTime())).isZero();
    clock.observe(time.nanoTime(), time.nanoTime(), STORE - 401);
    assertThat(clock.nanosUntil(tick + 3, time.nanoTime())).isEqualTo(6 * MILLI);
    time.advanceNanos(6 * MILLI - 1);
    assertThat(clock.tick()).isEqualTo(tick + 2);
    time.advanceNanos(1);
    assertThat(clock.tick()).isEqualTo(tick + 3);
  }
}
