package io.github.snowlease;

/** Tells what happened in the run of a seed: {@code mvn exec:java} with this class and a seed. */
final class SimulationTrace {
  private SimulationTrace() {}

  public static void main(String[] args) throws InterruptedException {
    SimLog.silently(
        () -> {
          for (String seed : args) {
            Simulation.trace(Long.parseLong(seed), System.out::println);
          }
          return args;
        });
  }
}
