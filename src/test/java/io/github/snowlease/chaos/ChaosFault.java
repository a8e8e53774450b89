package io.github.snowlease.chaos;

/**
 * What befalls processes and Redis; what befalls commands on their way is {@link NetworkFault}.
 *
 * <p>All lie within what docs/safety.md promises to bear. Left out is what it names as not
 * protected: two masters at once, a failover there and back to a master that went on running.
 */
enum ChaosFault {
  /** SIGSTOP, and SIGCONT later. */
  PROCESS_PAUSED,
  /** SIGKILL; another process comes in its place. */
  PROCESS_KILLED,
  /** SIGTERM; another process comes in its place. */
  PROCESS_TERMINATED,
  /** The wall clock of a process is stepped by up to an hour, and set right later. */
  HOST_CLOCK_STEPPED,
  FLUSHALL,
  SCRIPT_FLUSH,
  /** SIGSTOP to Redis. */
  REDIS_PAUSED,
  /** SIGTERM to Redis, which starts again with its append-only file. */
  REDIS_RESTARTED,
  /** SIGKILL to Redis, which starts again with its append-only file. */
  REDIS_KILLED,
  /** Redis starts again without its data. */
  REDIS_RESTARTED_EMPTY,
  /** A replica falls behind by seconds, the master is killed, the replica promoted. */
  LAGGING_REPLICA_PROMOTED,
  /** Redis evicts the ledger or a lease key. */
  EVICTION,
  /** Redis takes no writes, as it is out of memory. */
  OUT_OF_MEMORY,
  CLIENT_KILL,
  /** The password of the processes' user changes, and all connections are ended. */
  PASSWORD_CHANGED,
  /** The processes' user may run no script for a while. */
  RIGHTS_TAKEN
}
