package io.github.snowlease;

import io.github.snowlease.LeaseStore.Release;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Slots to hand back when there is time: those of lost windows, and those of claims whose answer
 * never came. Each is dropped when its lease has run out by itself. Confined to the lease thread.
 */
final class ReleaseQueue {
  private static final long RETRY_NANOS = 1_000_000_000;

  private final long lifeNanos;
  private final ArrayDeque<Entry> entries = new ArrayDeque<>();

  /** A release that is due from one moment on until it makes no difference any more. */
  record Entry(Release release, long notBefore, long dropAt) {}

  ReleaseQueue(long leaseTtlMillis) {
    this.lifeNanos = leaseTtlMillis * 1_000_000;
  }

  void add(Release release, long now) {
    entries.add(new Entry(release, now, now + lifeNanos));
  }

  /** Takes the next entry that is due, or null. */
  @Nullable Entry poll(long now) {
    dropOutdated(now);
    Entry first = entries.peek();
    return first == null || now - first.notBefore < 0 ? null : entries.poll();
  }

  /** Takes the next entry, due or not, or null. */
  @Nullable Entry pollAny(long now) {
    dropOutdated(now);
    return entries.poll();
  }

  /** Puts an entry back whose release failed; claims and renewals go first. */
  void retryLater(Entry failed, long now) {
    entries.add(new Entry(failed.release, now + RETRY_NANOS, failed.dropAt));
  }

  void clear() {
    entries.clear();
  }

  private void dropOutdated(long now) {
    entries.removeIf(entry -> now - entry.dropAt >= 0);
  }
}
