package io.github.snowlease;

import java.util.EnumSet;
import java.util.Set;

/** What a run adds to the faults that every run has. Seeds take turns through these sets. */
@SuppressWarnings("ImmutableEnumChecker") // the sets are not changed
enum SimFaultSet {
  ORDINARY,
  HOST_CLOCKS(SimFault.HOST_CLOCK_STEP),
  REDIS_CLOCK(SimFault.REDIS_CLOCK_STEP),
  FLUSH(SimFault.FLUSHALL),
  RESTART_KEEPING_ALL(SimFault.RESTART_KEEPING_ALL),
  RESTART_EMPTY(SimFault.RESTART_EMPTY),
  RESTART_FROM_OLD_COPY(SimFault.RESTART_FROM_OLD_COPY),
  FAILOVER(SimFault.FAILOVER),
  SPLIT_BRAIN(SimFault.SPLIT_BRAIN),
  EVICTION(SimFault.EVICTION_OF_LEASE_KEYS, SimFault.EVICTION_OF_LEDGER),
  CLONES(SimFault.CLONE),
  INFO_DENIED(
      SimFault.INFO_DENIED,
      SimFault.FLUSHALL,
      SimFault.RESTART_EMPTY,
      SimFault.RESTART_KEEPING_ALL,
      SimFault.EVICTION_OF_LEDGER),
  /** Redis remembers the longest quarantine of the namespace, as long as it remembers anything. */
  MIXED_LEASE_TTL(
      SimFault.MIXED_LEASE_TTL, SimFault.RESTART_KEEPING_ALL, SimFault.EVICTION_OF_LEASE_KEYS),
  ALL_TOGETHER(
      SimFault.HOST_CLOCK_STEP,
      SimFault.FLUSHALL,
      SimFault.RESTART_KEEPING_ALL,
      SimFault.RESTART_EMPTY,
      SimFault.RESTART_FROM_OLD_COPY,
      SimFault.FAILOVER,
      SimFault.SPLIT_BRAIN,
      SimFault.EVICTION_OF_LEASE_KEYS,
      SimFault.EVICTION_OF_LEDGER,
      SimFault.CLONE);

  private static final SimFaultSet[] ALL = values();

  final Set<SimFault> extra = EnumSet.noneOf(SimFault.class);

  SimFaultSet(SimFault... extra) {
    this.extra.addAll(Set.of(extra));
  }

  boolean has(SimFault fault) {
    return extra.contains(fault);
  }

  static SimFaultSet of(long seed) {
    return ALL[(int) Math.floorMod(seed, (long) ALL.length)];
  }
}
