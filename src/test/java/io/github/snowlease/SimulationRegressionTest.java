package io.github.snowlease;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What the simulation once found, told again without chance. */
class SimulationRegressionTest {
  private interface Story {
    void tell(Simulation world);
  }

  private static void tell(Story story) throws InterruptedException {
    SimLog.silently(
        () -> {
          Simulation world = Simulation.scripted(SimSystem.UNCHANGED);
          story.tell(world);
          assertThat(world.ids.duplicates()).isZero();
          assertThat(world.ids.overlaps()).isZero();
          return world;
        });
  }

  /**
   * Fault set CLONES, seed 139: a copy that could not ask for the time released its original's slot
   * when the window that it knew had ended.
   */
  @Test
  void aSuspectedCopyNeverHandsItsOriginalsSlotBack() throws InterruptedException {
    tell(
        world -> {
          SimProcess original = world.startOn(0);
          world.runForSeconds(10);
          SimProcess.Snapshot snapshot = original.snapshot();
          world.runForSeconds(10);
          SimProcess copy = world.thaw(snapshot);
          world.cutOffForSeconds(copy, 40);
          world.runForSeconds(60);
          assertThat(original.manager().status().state()).isEqualTo(LeaseState.HELD);
        });
  }

  /** The same, if the copy is closed before its window has ended. */
  @Test
  void aSuspectedCopyThatIsClosedHandsNothingBack() throws InterruptedException {
    tell(
        world -> {
          SimProcess original = world.startOn(0);
          world.runForSeconds(10);
          SimProcess.Snapshot snapshot = original.snapshot();
          world.runForSeconds(10);
          SimProcess copy = world.thaw(snapshot);
          world.cutOffForSeconds(copy, 3);
          world.runForSeconds(2.5);
          copy.close();
          world.runForSeconds(1);
          world.startOn(0);
          world.runForSeconds(10);
          assertThat(original.manager().status().state()).isEqualTo(LeaseState.HELD);
        });
  }

  /**
   * Fault set REDIS_CLOCK, seed 300652: a holder claimed afresh at each heartbeat for as long as a
   * store's clock that had been set back was behind, though its lease was as good as any other.
   */
  @Test
  void aStoreClockThatIsSetBackCostsNoLease() throws InterruptedException {
    tell(
        world -> {
          SimProcess process = world.startOn(0);
          world.runForSeconds(10);
          world.stepRedisClock(-100_000);
          world.runForSeconds(220);
          assertThat(world.leasesLost).isZero();
          assertThat(process.manager().status().state()).isEqualTo(LeaseState.HELD);
          int before = world.ids.count();
          world.runForSeconds(10);
          assertThat(world.ids.count()).isGreaterThan(before);
        });
  }

  /**
   * Fault set CLONES, seed 573: a process that was copied while its JVM exited no longer watched
   * for that, and both minted until the grace had passed.
   */
  @Test
  void aCopyOfAProcessThatExitsMintsNothing() throws InterruptedException {
    tell(
        world -> {
          SimProcess original = world.startOn(0);
          world.runForSeconds(10);
          original.exit();
          world.runForSeconds(1);
          SimProcess.Snapshot snapshot = original.snapshot();
          int before = world.ids.count();
          world.runForSeconds(8);
          assertThat(world.ids.count()).isGreaterThan(before);
          SimProcess copy = world.thaw(snapshot);
          world.runForSeconds(5);
          assertThat(copy.manager().isTerminated()).isTrue();
        });
  }

  /** Seed 0: a call before the first lease took the unset clock for the end of the layout. */
  @Test
  void aCallBeforeTheFirstLeaseIsNotAtTheHorizon() throws InterruptedException {
    long refusals =
        SimLog.silently(
            () -> {
              Simulation world = Simulation.scripted(SimSystem.UNCHANGED);
              for (int i = 0; i < 20; i++) {
                world.start().mintOne(); // each at a random nanoTime
              }
              return world.refusals;
            });
    assertThat(refusals).isEqualTo(20);
  }
}
