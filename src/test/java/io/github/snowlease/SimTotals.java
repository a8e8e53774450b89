package io.github.snowlease;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/** Many runs, added up. */
final class SimTotals {
  private final Map<SimFault, Long> fired = new EnumMap<>(SimFault.class);
  private final Set<SimFaultSet> faultSets = EnumSet.noneOf(SimFaultSet.class);

  /** Seeds of runs that broke a promise; {@link SimulationTrace} tells more. */
  final List<Long> badSeeds = new ArrayList<>();

  /** Seeds of runs in which a lease was lost without a reason. */
  final List<Long> seedsWithBaselessLosses = new ArrayList<>();

  long runs;
  long ids;
  long refusals;
  long duplicates;
  long overlaps;
  long outOfOrder;
  long failedBeats;
  long leasesLost;
  long leasesLostWithoutReason;

  synchronized void add(long seed, Simulation run) {
    faultSets.add(run.faultSet);
    runs++;
    ids += run.ids.count();
    refusals += run.refusals;
    int duplicatesOfRun = run.ids.duplicates();
    int overlapsOfRun = run.ids.overlaps();
    duplicates += duplicatesOfRun;
    overlaps += overlapsOfRun;
    outOfOrder += run.outOfOrder;
    failedBeats += run.failedBeats;
    leasesLost += run.leasesLost;
    leasesLostWithoutReason += run.leasesLostWithoutReason;
    run.fired.forEach((fault, times) -> fired.merge(fault, (long) times, Long::sum));
    if (duplicatesOfRun + overlapsOfRun + run.outOfOrder + run.failedBeats > 0) {
      badSeeds.add(seed);
    }
    if (run.leasesLostWithoutReason > 0) {
      seedsWithBaselessLosses.add(seed);
    }
  }

  void add(SimTotals other) {
    faultSets.addAll(other.faultSets);
    runs += other.runs;
    ids += other.ids;
    refusals += other.refusals;
    duplicates += other.duplicates;
    overlaps += other.overlaps;
    outOfOrder += other.outOfOrder;
    failedBeats += other.failedBeats;
    leasesLost += other.leasesLost;
    leasesLostWithoutReason += other.leasesLostWithoutReason;
    other.fired.forEach((fault, times) -> fired.merge(fault, times, Long::sum));
    badSeeds.addAll(other.badSeeds);
    seedsWithBaselessLosses.addAll(other.seedsWithBaselessLosses);
  }

  /** Faults that these runs should have had and never did: then their silence proves nothing. */
  Set<SimFault> neverFired() {
    Set<SimFault> missing = EnumSet.copyOf(SimFault.ALWAYS);
    faultSets.forEach(set -> missing.addAll(set.extra));
    missing.removeAll(fired.keySet());
    return missing;
  }

  @Override
  public String toString() {
    return "runs="
        + runs
        + " ids="
        + ids
        + " refusals="
        + refusals
        + " duplicates="
        + duplicates
        + " overlaps="
        + overlaps
        + " outOfOrder="
        + outOfOrder
        + " failedBeats="
        + failedBeats
        + " leasesLost="
        + leasesLost
        + " withoutReason="
        + leasesLostWithoutReason
        + " badSeeds="
        + badSeeds
        + " faults="
        + fired;
  }

  /** Runs of seeds in order, by fault set, on all cores. */
  static final class ByFaultSet {
    final Map<SimFaultSet, SimTotals> totals = new EnumMap<>(SimFaultSet.class);

    /** The first seed that was not run. */
    long nextSeed;

    SimTotals sum() {
      SimTotals sum = new SimTotals();
      totals.values().forEach(sum::add);
      return sum;
    }
  }

  /** Runs seeds from the first one on until a number is reached or the time is over. */
  static ByFaultSet run(long firstSeed, long count, long budgetNanos) throws InterruptedException {
    ByFaultSet result = new ByFaultSet();
    for (SimFaultSet set : SimFaultSet.values()) {
      result.totals.put(set, new SimTotals());
    }
    AtomicLong nextSeed = new AtomicLong(firstSeed);
    long deadline = System.nanoTime() + budgetNanos;
    List<Throwable> failures = new ArrayList<>();
    Runnable worker =
        () -> {
          while (deadline - System.nanoTime() > 0) {
            long seed = nextSeed.getAndIncrement();
            if (seed >= firstSeed + count) {
              return;
            }
            Simulation run = Simulation.run(seed);
            result.totals.get(run.faultSet).add(seed, run);
          }
        };
    List<Thread> workers = new ArrayList<>();
    SimLog.silently(
        () -> {
          for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
            Thread thread = new Thread(worker, "simulation-" + i);
            thread.setUncaughtExceptionHandler(
                (failed, failure) -> {
                  synchronized (failures) {
                    failures.add(failure);
                  }
                });
            thread.start();
            workers.add(thread);
          }
          for (Thread thread : workers) {
            thread.join();
          }
          return workers;
        });
    if (!failures.isEmpty()) {
      throw new AssertionError("a simulation broke down", failures.get(0));
    }
    result.nextSeed = Math.min(nextSeed.get(), firstSeed + count);
    result.totals.values().removeIf(totals -> totals.runs == 0);
    return result;
  }
}
