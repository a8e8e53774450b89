package io.github.snowlease;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.Supplier;

/** How a mutant is shown to die, and the system as it is to live on the same seeds. */
final class Mutants {
  private static final int MAX_SEEDS = 400;

  private Mutants() {}

  /** A mutant of the scripts. */
  static SimSystem withScripts(Supplier<SimLedgerModel> mutant) {
    return new SimSystem() {
      @Override
      SimLedgerModel newServer() {
        return mutant.get();
      }
    };
  }

  /**
   * The mutant mints an id twice in the run of one of the first seeds, and on all seeds until then
   * the unchanged system does not.
   */
  static void assertMintsTwice(SimSystem mutant, SimFaultSet faultSet) throws InterruptedException {
    assertMintsTwice(mutant, faultSet, SimSystem.UNCHANGED);
  }

  static void assertMintsTwice(SimSystem mutant, SimFaultSet faultSet, SimSystem unchanged)
      throws InterruptedException {
    SimLog.silently(
        () -> {
          for (long seed = 0; seed < MAX_SEEDS; seed++) {
            Simulation control = Simulation.run(seed, faultSet, unchanged);
            assertThat(control.ids.duplicates()).as("control, seed " + seed).isZero();
            assertThat(control.ids.overlaps()).as("control, seed " + seed).isZero();
            if (Simulation.run(seed, faultSet, mutant).ids.duplicates() > 0) {
              return seed;
            }
          }
          throw new AssertionError(
              "the mutant must mint an id twice within " + MAX_SEEDS + " runs of " + faultSet);
        });
  }

  /** A story that has one ending for the system as it is, and another for the mutant. */
  interface Story<T> {
    T tell(SimSystem system);
  }

  static <T> void assertEndsDifferently(Story<T> story, SimSystem mutant, T good, T bad)
      throws InterruptedException {
    assertThat(SimLog.silently(() -> story.tell(SimSystem.UNCHANGED)))
        .as("control")
        .isEqualTo(good);
    assertThat(SimLog.silently(() -> story.tell(mutant))).as("mutant").isEqualTo(bad);
  }

  /** The ending of a story about ids. */
  enum Ids {
    ALL_DIFFERENT,
    MINTED_TWICE;

    static Ids of(Simulation run) {
      assertThat(run.ids.count()).as("ids minted").isPositive();
      return run.ids.duplicates() > 0 ? MINTED_TWICE : ALL_DIFFERENT;
    }
  }
}
