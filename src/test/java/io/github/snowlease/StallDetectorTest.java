package io.github.snowlease;

import static io.github.snowlease.StallDetector.Finding.CLOCKS_DIFFER;
import static io.github.snowlease.StallDetector.Finding.LATE;
import static io.github.snowlease.StallDetector.Finding.NONE;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StallDetectorTest {
  private static final long SECOND = 1_000_000_000;

  private final ManualTime time = new ManualTime(Long.MAX_VALUE - SECOND);
  private final StallDetector detector = new StallDetector(time);

  private StallDetector.Finding beat() {
    StallDetector.Finding finding = detector.beat(time.nanoTime());
    detector.plan(time.nanoTime() + SECOND);
    return finding;
  }

  @Test
  void findsNothingAtTheFirstBeat() {
    assertThat(beat()).isEqualTo(NONE);
  }

  @Test
  void findsNothingInPunctualBeatsAlsoWhenNanoTimeWraps() {
    beat();
    for (int i = 0; i < 10; i++) {
      time.advanceMillis(1_000);
      assertThat(beat()).isEqualTo(NONE);
    }
  }

  @Test
  void findsAThreadThatWokeMoreThanFiveSecondsLate() {
    beat();
    time.advanceMillis(6_000);
    assertThat(beat()).isEqualTo(NONE);
    time.advanceMillis(6_001);
    assertThat(beat()).isEqualTo(LATE);
    time.advanceMillis(1_000);
    assertThat(beat()).isEqualTo(NONE);
  }

  @ParameterizedTest
  @ValueSource(longs = {5_001, -5_001, 3_600_000, -3_600_000})
  void findsAWallClockThatWentElsewhereThanNanoTime(long step) {
    beat();
    time.advanceMillis(1_000);
    time.stepWall(step);
    assertThat(beat()).isEqualTo(CLOCKS_DIFFER);
    time.advanceMillis(1_000);
    assertThat(beat()).isEqualTo(NONE);
  }

  @ParameterizedTest
  @ValueSource(longs = {5_000, -5_000, 1, -1})
  void toleratesAWallClockThatWasCorrectedALittle(long step) {
    beat();
    time.advanceMillis(1_000);
    time.stepWall(step);
    assertThat(beat()).isEqualTo(NONE);
  }

  @Test
  void findsAFrozenMachineWhoseNanoTimeStoodStill() {
    beat();
    time.stepWall(60_000);
    assertThat(beat()).isEqualTo(CLOCKS_DIFFER);
  }

  @Test
  void callsAThreadThatWokeLateLateWhateverTheWallClockSays() {
    beat();
    time.advanceMillis(10_000);
    time.stepWall(60_000);
    assertThat(beat()).isEqualTo(LATE);
  }

  @Test
  void findsNothingIfABeatComesEarlierThanPlanned() {
    detector.beat(time.nanoTime());
    detector.plan(time.nanoTime() + 3_600 * SECOND);
    time.advanceMillis(1);
    assertThat(beat()).isEqualTo(NONE);
  }

  @Test
  void judgesABeatByTheOneBeforeIfThatFailedBeforeItCouldPlan() {
    beat();
    for (int i = 0; i < 100; i++) { // ten seconds of beats that fail, each in its time
      time.advanceMillis(100);
      assertThat(detector.beat(time.nanoTime())).isEqualTo(NONE);
    }
    time.advanceMillis(5_001);
    assertThat(detector.beat(time.nanoTime())).isEqualTo(LATE);
  }
}
