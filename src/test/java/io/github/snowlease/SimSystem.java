package io.github.snowlease;

/** What the simulation is built from. A mutant overrides a method to break one rule. */
class SimSystem {
  /** The system as it is. */
  static final SimSystem UNCHANGED = new SimSystem();

  SimLedgerModel newServer() {
    return new SimLedgerModel();
  }

  TimeSource clocksOf(SimProcess process) {
    return process;
  }

  SnowflakeGenerator generatorOf(
      SimProcess process, BitLayout layout, IdClock clock, TimeSource time) {
    return new SimGenerator(process, layout, clock, time);
  }

  LeaseStore storeOf(SimProcess process, LeaseStore network) {
    return network;
  }
}
