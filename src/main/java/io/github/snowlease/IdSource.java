package io.github.snowlease;

/** Where ids come from; by {@link Ordering}, there are two. */
interface IdSource {
  /** See {@link Snowflake#nextId()}. */
  long nextId();

  /** Mints one to {@code most} words of one tick at once; waits and throws as one id does. */
  WordBlock reserve(int most);

  /** See {@link Snowflake#nextIds(long[])}. */
  default void nextIds(long[] ids) {
    for (int filled = 0; filled < ids.length; ) {
      WordBlock block = reserve(ids.length - filled);
      block.copyTo(ids, filled);
      filled += block.length();
    }
  }
}
