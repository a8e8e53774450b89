package io.github.snowlease;

import io.github.snowlease.LeaseStore.Full;
import io.github.snowlease.LeaseStore.LedgerEntry;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Decides which slots to claim next. While slots are plenty the first guess hits, without reading
 * anything and without all newcomers fighting for the lowest number: a few random candidates in one
 * script. Only when all of them are taken is the ledger read, once, and candidates are drawn from
 * what is free; only that read proves that a namespace is full.
 *
 * <p>Confined to the lease thread.
 */
final class SlotSearch {
  private static final int BLIND_CANDIDATES = 16;
  private static final int INFORMED_CANDIDATES = 32;

  /**
   * The end of a holder's lease is told in milliseconds left, and seems to move by some of them. A
   * renewal moves it by the time between two heartbeats, which is 80 ms at the least.
   */
  private static final long ROUNDING_MILLIS = 20;

  /** The token in a lease key's value is a right to release; people need the rest only. */
  private static final Pattern TOKEN = Pattern.compile("\"token\":\"[^\"]*\",?");

  private final SlotRange range;
  private final Random random;

  private @Nullable List<Slot> known;
  private boolean blindGuessFailed;
  private int fruitless;
  private long delayMillis;

  private long waitMillis = -1;
  private boolean toldFull;
  private int held;
  private int unusable;

  /** Slots that the ledger called free and a claim did not get: blocked, or lost to another. */
  private int refused;

  private String holder = "";
  private long holderFreeAt = -1;
  private int holderRenewals;

  SlotSearch(SlotRange range, Random random) {
    this.range = range;
    this.random = random;
  }

  /** The slots to claim now, or null if the ledger is to be read first. */
  @Nullable List<Slot> candidates() {
    if (range.isPinned()) {
      return range.all();
    }
    if (!blindGuessFailed) {
      return range.sample(BLIND_CANDIDATES, random);
    }
    return known;
  }

  /** How long to wait before the next step, in milliseconds. */
  long delayMillis() {
    return delayMillis;
  }

  /** None of the candidates was free. */
  void onFull(Full full) {
    toldFull = true;
    waitMillis = full.waitMillis();
    if (range.isPinned()) {
      watchHolder(full);
      held = 1;
      delayMillis = jittered(full.waitMillis() < 0 ? 1_000 : Math.min(1_000, full.waitMillis()));
      return;
    }
    // The first read comes at once. Later ones follow lost races, or slots that the ledger calls
    // free and an operator has blocked: spread them out in time.
    delayMillis = blindGuessFailed ? jittered(20L << Math.min(6, fruitless++)) : 0;
    blindGuessFailed = true;
    refused = known == null ? 0 : known.size();
    known = null;
  }

  /** The ledger was read at a moment of the store's time. */
  void onLedger(Map<Slot, LedgerEntry> ledger, long now) {
    List<Slot> free = range.all();
    int heldNow = 0;
    int unusableNow = 0;
    long soonest = Long.MAX_VALUE;
    for (Map.Entry<Slot, LedgerEntry> entry : ledger.entrySet()) {
      LedgerEntry fence = entry.getValue();
      if (!range.contains(entry.getKey()) || fence.isFreeAt(now)) {
        continue;
      }
      if (fence.readable()) {
        heldNow++;
        long freeAt = fence.until() + (fence.held() ? LeaseTerms.GRACE : 0) + 1;
        soonest = Math.min(soonest, freeAt - now);
      } else {
        unusableNow++;
      }
    }
    free.removeIf(slot -> ledger.containsKey(slot) && !ledger.get(slot).isFreeAt(now));
    held = heldNow;
    unusable = unusableNow;
    waitMillis = soonest == Long.MAX_VALUE ? -1 : Math.max(1, soonest);
    if (free.isEmpty()) {
      known = null;
      refused = 0;
      long backoff = Math.min(2_000, 250L << Math.min(3, fruitless++));
      delayMillis = jittered(waitMillis < 0 ? backoff : Math.min(backoff, waitMillis));
      return;
    }
    Collections.shuffle(free, random);
    known = new ArrayList<>(free.subList(0, Math.min(INFORMED_CANDIDATES, free.size())));
    delayMillis = 0;
  }

  private void watchHolder(Full full) {
    String shown = TOKEN.matcher(full.holder()).replaceFirst("");
    long freeAt = full.waitMillis() < 0 ? -1 : full.now() + full.waitMillis();
    if (!shown.equals(holder)) {
      holderRenewals = 0;
    } else if (holderFreeAt >= 0 && freeAt > holderFreeAt + ROUNDING_MILLIS) {
      holderRenewals++;
    }
    // Not the latest: a drift of rounding must not add up, nor a renewal hide in it.
    if (!shown.equals(holder) || freeAt > holderFreeAt + ROUNDING_MILLIS) {
      holderFreeAt = freeAt;
    }
    holder = shown;
  }

  /**
   * Whether the pinned slot's holder is alive: then waiting for its lease to run out is in vain.
   */
  boolean isTaken() {
    return holderRenewals >= 2;
  }

  /** What to throw when time is up; null if no answer of the store has said "full" yet. */
  @Nullable SnowflakeException exhausted() {
    if (!toldFull) {
      return null;
    }
    return range.isPinned()
        ? new SlotTakenException(range.all().get(0), holder)
        : new NoFreeNodeException(
            range.toString(), range.size(), held, unusable + refused, waitMillis);
  }

  private long jittered(long millis) {
    return Math.max(1, millis / 2 + random.nextLong(millis / 2 + 1));
  }
}
