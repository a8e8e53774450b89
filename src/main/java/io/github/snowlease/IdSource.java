package io.github.snowlease;

/** Where ids come from; by {@link Ordering}, there are two. */
interface IdSource {
  /** See {@link Snowflake#nextId()}. */
  long nextId();

  /** See {@link Snowflake#nextIds(long[])}. */
  void nextIds(long[] ids);
}
