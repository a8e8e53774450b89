package io.github.snowlease;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.EnumSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The promise, tried on thousands of simulated fleets: no duplicate id, whatever goes wrong within
 * what {@code docs/safety.md} assumes.
 *
 * <p>More seeds: {@code mvn -Psoak -Dtest=SimulationTest test}, with {@code
 * -Dsnowlease.soak.firstSeed=}, {@code -Dsnowlease.soak.seeds=} and {@code
 * -Dsnowlease.soak.minutes=}. {@link SimulationTrace} tells what happened in a run.
 */
class SimulationTest {
  private static final long NANOS_PER_MINUTE = TimeUnit.MINUTES.toNanos(1);

  @Test
  void noIdIsEverMintedTwice() throws InterruptedException {
    SimTotals.ByFaultSet result = SimTotals.run(0, 2_000, 4 * NANOS_PER_MINUTE);
    assertThat(result.nextSeed).as("seeds run in time").isEqualTo(2_000);
    assertSafe(result);
  }

  @Test
  void noIdIsEverMintedTwiceNorAThreadsIdsGoBackWithOrderingPerThread()
      throws InterruptedException {
    SimTotals totals = new SimTotals();
    SimLog.silently(
        () -> {
          for (long seed = 0; seed < 10L * SimFaultSet.values().length; seed++) {
            totals.add(seed, Simulation.run(seed, SimFaultSet.of(seed), SimSystem.PER_THREAD));
          }
          return totals;
        });
    assertThat(totals.badSeeds).as(totals.toString()).isEmpty();
    assertThat(totals.ids).as("ids minted a run").isGreaterThan(1_000 * totals.runs);
  }

  @Test
  @Tag("soak")
  @Timeout(value = 1, unit = TimeUnit.DAYS)
  void noIdIsEverMintedTwiceForLong() throws InterruptedException {
    long firstSeed = Long.getLong("snowlease.soak.firstSeed", 1_000_000);
    long seeds = Long.getLong("snowlease.soak.seeds", Long.MAX_VALUE - firstSeed);
    long minutes = Long.getLong("snowlease.soak.minutes", 60);
    long start = System.nanoTime();
    SimTotals.ByFaultSet result = SimTotals.run(firstSeed, seeds, minutes * NANOS_PER_MINUTE);
    result.totals.forEach((set, totals) -> System.out.println(set + ": " + totals));
    System.out.println("all: " + result.sum());
    System.out.println(
        "seeds "
            + firstSeed
            + " to "
            + (result.nextSeed - 1)
            + " in "
            + Duration.ofNanos(System.nanoTime() - start).toSeconds()
            + " s; go on with -Dsnowlease.soak.firstSeed="
            + result.nextSeed);
    assertSafe(result);
  }

  private static void assertSafe(SimTotals.ByFaultSet result) {
    SimTotals sum = result.sum();
    assertThat(sum.badSeeds).as(sum.toString()).isEmpty();
    assertThat(sum.seedsWithBaselessLosses).as("leases lost without a reason").isEmpty();
    assertThat(sum.ids).as("ids minted a run").isGreaterThan(1_000 * sum.runs);
    assertThat(result.totals.keySet()).isEqualTo(EnumSet.allOf(SimFaultSet.class));
    result.totals.forEach(
        (set, totals) ->
            assertThat(totals.neverFired()).as("faults of " + set + " that never fired").isEmpty());
  }

  @ParameterizedTest
  @EnumSource(SimFaultSet.class)
  void aSeedIsAWholeRun(SimFaultSet set) throws InterruptedException {
    long first = hashOfRun(7, set);
    assertThat(hashOfRun(7, set)).isEqualTo(first);
    assertThat(hashOfRun(8, set)).isNotEqualTo(first);
  }

  private static long hashOfRun(long seed, SimFaultSet set) throws InterruptedException {
    return SimLog.silently(() -> Simulation.run(seed, set, SimSystem.UNCHANGED).traceHash());
  }

  @Test
  void aPlantedDuplicateIsFound() {
    SimIds ids = new SimIds();
    for (long id = 1; id <= 100_000; id++) {
      assertThat(ids.add(id << 7)).isTrue();
    }
    assertThat(ids.add(77_777L << 7)).isFalse();
    assertThat(ids.count()).isEqualTo(100_000);
    assertThat(ids.duplicates()).isEqualTo(1);
  }

  @Test
  void plantedOverlapsAreFound() {
    SimIds ids = new SimIds();
    use(ids, 1, 10, 20);
    use(ids, 1, 21, 30);
    use(ids, 2, 15, 25);
    assertThat(ids.overlaps()).isZero();
    use(ids, 1, 30, 30);
    assertThat(ids.overlaps()).isEqualTo(1);
    use(ids, 2, 1, 100);
    assertThat(ids.overlaps()).isEqualTo(2);
  }

  private static void use(SimIds ids, long slot, long lowest, long highest) {
    SimIds.Use use = new SimIds.Use(0, slot, lowest);
    use.lowest = lowest;
    use.highest = highest;
    ids.add(use);
  }
}
