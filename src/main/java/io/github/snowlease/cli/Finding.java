package io.github.snowlease.cli;

/**
 * One thing that was looked at.
 *
 * @param level how bad it is
 * @param about what was looked at, in a word
 * @param text what was found, and what to do
 */
record Finding(Level level, String about, String text) {
  /** How bad it is. */
  enum Level {
    /** As it should be. */
    OK,
    /** Leases work, and are weaker or slower than they could be. */
    WARN,
    /** No lease, or none that can be relied on. */
    FAIL
  }
}
