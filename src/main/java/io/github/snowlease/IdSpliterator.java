package io.github.snowlease;

import java.util.Comparator;
import java.util.Spliterator;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** Ids for a stream: minted in batches, each when its first id is read. Not thread-safe. */
final class IdSpliterator implements Spliterator.OfLong {
  /** Enough to make the compare-and-set cheap, and what is dropped if reading stops early. */
  private static final int BATCH = 1_024;

  private final IdSource source;
  private long unminted;
  private long next;
  private long end;

  IdSpliterator(IdSource source, long count) {
    this.source = source;
    this.unminted = count;
  }

  @Override
  public boolean tryAdvance(LongConsumer action) {
    if (!hasNext()) {
      return false;
    }
    action.accept(next++);
    return true;
  }

  @Override
  public void forEachRemaining(LongConsumer action) {
    while (hasNext()) {
      // Local, so that they stay in registers: this loop is most of what an id costs. And the
      // action may read on: from the next block, as this one is taken as a whole.
      long id = next;
      long blockEnd = end;
      next = end;
      for (; id < blockEnd; id++) {
        action.accept(id);
      }
    }
  }

  private boolean hasNext() {
    if (next < end) {
      return true;
    }
    if (unminted == 0) {
      return false;
    }
    WordBlock block = source.reserve((int) Math.min(unminted, BATCH));
    unminted -= block.length();
    next = block.firstId();
    end = next + block.length();
    return true;
  }

  /** Not split: threads would take ids from each other, and the order would be lost. */
  @Override
  public @Nullable OfLong trySplit() {
    return null;
  }

  @Override
  public long estimateSize() {
    return unminted + (end - next);
  }

  @Override
  public int characteristics() {
    return ORDERED | SORTED | DISTINCT | NONNULL | IMMUTABLE | SIZED | SUBSIZED;
  }

  @Override
  public @Nullable Comparator<? super Long> getComparator() {
    return null; // as numbers are
  }
}
