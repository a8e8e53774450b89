package io.github.snowlease;

/** What the simulation is built from. A mutant overrides a method to break one rule. */
class SimSystem {
  /** The system as it is. */
  static final SimSystem UNCHANGED = new SimSystem();

  /** The system with {@link Ordering#PER_THREAD}. */
  static final SimSystem PER_THREAD =
      new SimSystem() {
        @Override
        IdSource idsOf(SnowflakeGenerator generator, BitLayout layout, IdClock clock) {
          return new StripedGenerator(generator, clock, layout);
        }
      };

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

  IdSource idsOf(SnowflakeGenerator generator, BitLayout layout, IdClock clock) {
    return generator;
  }
}
