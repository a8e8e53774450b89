package io.github.snowlease;

import java.util.EnumSet;
import java.util.Set;

/** What goes wrong in a run. */
enum SimFault {
  /** A whole process stands still between two steps, and its nanoTime goes on: SIGSTOP, GC. */
  PROCESS_PAUSE,
  /** A minting thread stands still between two steps of nextId; its process may go on. */
  MINTING_PAUSE,
  /** The lease thread stands still inside a beat; its process may go on. */
  LEASE_THREAD_PAUSE,
  /** A machine is frozen and thawed: nanoTime stands still, the wall clock is right afterwards. */
  FREEZE,
  PARTITION,
  REQUEST_LOST,
  REPLY_LOST,
  REQUEST_LATE,
  REQUEST_TWICE,
  /** Redis got a request before one that its process had sent earlier. */
  REORDERED,
  /** Executed, and fewer replicas acknowledged than were demanded. */
  SHORT_WAIT,
  CRASH,
  CLOSE,
  /** The JVM exits: the slot is handed back while requests are still served. */
  EXIT,
  RESTART_OF_PROCESS,

  HOST_CLOCK_STEP,
  REDIS_CLOCK_STEP,
  FLUSHALL,
  RESTART_KEEPING_ALL,
  RESTART_EMPTY,
  /** A restart from a copy of any age. */
  RESTART_FROM_OLD_COPY,
  /** A replica takes over that lags by up to 2 s. */
  FAILOVER,
  /**
   * As a failover, but for a while some processes still talk to the old master: less than G, after
   * which that one may grant what a holder has renewed with the new one.
   */
  SPLIT_BRAIN,
  EVICTION_OF_LEASE_KEYS,
  EVICTION_OF_LEDGER,
  /** A snapshot of a process is thawed beside it. */
  CLONE,
  /** Some processes may not ask for Redis's run id. */
  INFO_DENIED,
  MIXED_LEASE_TTL;

  /** What every run has. */
  static final Set<SimFault> ALWAYS = EnumSet.range(PROCESS_PAUSE, RESTART_OF_PROCESS);
}
