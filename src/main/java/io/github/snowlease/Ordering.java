package io.github.snowlease;

/** What the order of the ids of one {@link Snowflake} says about the order of calls. */
public enum Ordering {
  /**
   * An id that was returned before another call began is smaller than that call's, whichever
   * threads they were: ids are linearizable.
   */
  TOTAL,

  /**
   * The ids that one thread gets increase. Of ids of different threads, one that was returned
   * before another call began has no later timestamp than that call's; within one tick of the
   * layout their order says nothing. All ids are unique, as always.
   *
   * <p>Threads do not get in each other's way then, as each reserves some ids ahead. What is
   * reserved and not used by the end of a tick is dropped.
   */
  PER_THREAD
}
