package io.github.snowlease;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/**
 * What is not protected, shown: {@code docs/safety.md} says so of each of these. Should one of them
 * begin to fail, something has become safer, and the document is to be changed.
 */
class SimulationLimitsTest {
  private interface Story {
    void tell(Simulation world);
  }

  private static void assertMintsTwice(Story story) throws InterruptedException {
    SimLog.silently(
        () -> {
          Simulation world = Simulation.scripted(SimSystem.UNCHANGED);
          story.tell(world);
          assertThat(world.ids.duplicates()).isPositive();
          return world;
        });
  }

  /**
   * A holder renews with the new master. On the old one its window ends, and G later that master
   * grants the slot to a process that still talks to it.
   */
  @Test
  void aSplitBrainThatOutlastsTheWindowOnTheOldMaster() throws InterruptedException {
    assertMintsTwice(
        world -> {
          SimProcess holder = world.startOn(0);
          world.runForSeconds(5);
          world.beginSplitBrain();
          holder.seesOldMaster = false;
          SimProcess newcomer = world.startOn(0);
          newcomer.seesOldMaster = true;
          world.runForSeconds(50);
        });
  }

  /** A flushed Redis knows only the quarantine of the processes that come afterwards. */
  @Test
  void aFlushWhereLeasesOfDifferentLengthAreMixed() throws InterruptedException {
    assertMintsTwice(
        world -> {
          SimProcess holder = world.startOn(0, Duration.ofSeconds(60));
          world.runUntilHeldBy(holder);
          world.cutOffForSeconds(holder, 100);
          world.flush();
          world.startOn(0, Duration.ofSeconds(30));
          world.runForSeconds(55);
        });
  }

  /**
   * Fault set ALL_TOGETHER, seed 367583: the host's clock is set back, and before the next beat the
   * process is copied and sleeps for as long, so that the copy's clocks show no gap.
   */
  @Test
  void aCopyWhoseGapIsHiddenByAStepOfTheClock() throws InterruptedException {
    assertMintsTwice(
        world -> {
          SimProcess original = world.startOn(0);
          world.runForSeconds(10);
          original.wallOffsetMillis -= 20_000;
          SimProcess.Snapshot snapshot = original.snapshot();
          world.runForSeconds(20);
          world.thaw(snapshot);
          world.runForSeconds(5);
        });
  }

  /** Until one of two copies has renewed, and the other one tried to, both mint. */
  @Test
  void aCopyOfARunningProcessUntilItRenews() throws InterruptedException {
    assertMintsTwice(
        world -> {
          SimProcess original = world.start();
          world.runForSeconds(10);
          SimProcess copy = world.thaw(original.snapshot());
          copy.servesRequests = true;
          world.runForSeconds(5);
        });
  }

  /**
   * A replica takes over and hands back before anybody has spoken to it: run_id has not changed.
   */
  @Test
  void aFailoverThereAndBackUnnoticed() throws InterruptedException {
    assertMintsTwice(
        world -> {
          world.runForSeconds(5);
          SimProcess holder = world.startOn(0);
          world.runUntilHeldBy(holder);
          world.failOverAndBack(1);
          world.startOn(0);
          world.runForSeconds(3);
        });
  }
}
