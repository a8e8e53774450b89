package io.github.snowlease;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * No store at all, for people who give each process its cluster and node id by hand: {@code
 * SNOWFLAKE_STORE=none}. It grants the slot that it is asked for, and always extends its window;
 * what other processes do it cannot know.
 *
 * <p>Within this process ids are as safe as with any store: a slot has one {@link Snowflake} at a
 * time, the next one mints above the last id of the one before, and time does not go back with the
 * wall clock. Each {@link Snowflake} opens a store of its own; what they must know of each other is
 * static.
 *
 * <p>Thread-safe; every question is answered at once.
 */
final class UnleasedStore implements LeaseStore {
  static final String NAME = "none";

  private static final Map<String, Fence> FENCES = new HashMap<>();
  private static final Clock CLOCK = new Clock(TimeSource.SYSTEM);

  private final Map<String, Fence> fences;
  private final Clock clock;

  /** The last window of a slot. The owner is null once the slot was handed back. */
  record Fence(long until, String token, @Nullable UnleasedStore owner, Holder holder) {}

  /** The wall clock, but when that is set back it goes on from where it was. */
  static final class Clock {
    private final TimeSource time;
    private long shown;
    private long shownAt;

    Clock(TimeSource time) {
      this.time = time;
      this.shown = time.wallMillis();
      this.shownAt = time.nanoTime();
    }

    synchronized long now() {
      long nanos = time.nanoTime();
      long steady = shown + (nanos - shownAt) / 1_000_000;
      long now = Math.max(steady, time.wallMillis());
      if (now > shown) {
        shown = now;
        shownAt = nanos;
      }
      return now;
    }
  }

  UnleasedStore() {
    this(FENCES, CLOCK);
  }

  /** For tests: what the process shares is an argument. */
  UnleasedStore(Map<String, Fence> fences, Clock clock) {
    this.fences = fences;
    this.clock = clock;
  }

  @Override
  public CompletionStage<ClaimReply> claim(LeaseTerms terms, Claim claim) {
    Slot slot = claim.candidates().get(0);
    synchronized (fences) {
      long now = clock.now();
      Fence fence = fences.get(key(terms, slot));
      // What this store granted before, it may grant again at once: its one generator is sealed by
      // now, and goes on above its own last id.
      if (fence != null && fence.owner != this) {
        long freeAt = fence.until + 1 + (fence.owner == null ? 0 : LeaseTerms.GRACE);
        if (now < freeAt) {
          String holder = fence.owner == null ? "" : fence.holder.toJson(fence.token);
          return done(new Full(now, freeAt - now, 0, holder));
        }
      }
      long until = now + terms.window();
      fences.put(key(terms, slot), new Fence(until, claim.token(), this, claim.holder()));
      return done(new Granted(now, slot, until, 0, false));
    }
  }

  @Override
  public CompletionStage<RenewReply> renew(LeaseTerms terms, Renewal renewal) {
    synchronized (fences) {
      long now = clock.now();
      Fence fence = fences.get(key(terms, renewal.slot()));
      if (fence == null || fence.owner != this || !fence.token.equals(renewal.token())) {
        return done(new Lost(now, LossReason.OWNER, 0));
      }
      long until = Math.max(fence.until, now + terms.window());
      fences.put(
          key(terms, renewal.slot()), new Fence(until, renewal.token(), this, renewal.holder()));
      return done(new Renewed(now, until, 0));
    }
  }

  @Override
  public CompletionStage<Boolean> release(LeaseTerms terms, Release release) {
    synchronized (fences) {
      for (Slot slot : release.candidates()) {
        Fence fence = fences.get(key(terms, slot));
        if (fence != null && fence.owner == this && fence.token.equals(release.token())) {
          long last =
              release.lastIssued() == Release.UNKNOWN_GRANT
                  ? fence.until - terms.window()
                  : release.lastIssued();
          fences.put(key(terms, slot), new Fence(last, "", null, fence.holder));
          return done(true);
        }
      }
      return done(false);
    }
  }

  @Override
  public CompletionStage<Map<Slot, LedgerEntry>> readLedger(LeaseTerms terms) {
    return done(Map.of());
  }

  @Override
  public CompletionStage<Long> time(LeaseTerms terms) {
    return done(clock.now());
  }

  @Override
  public CompletionStage<Boolean> createNamespace(LeaseTerms terms) {
    return done(true);
  }

  @Override
  public CompletionStage<List<String>> warnings(LeaseTerms terms) {
    return done(
        List.of(
            "No slot is leased, as store=none: ids are duplicated if another process has the same"
                + " clusterId and nodeId, or if this host's clock goes back between two starts; give"
                + " each process ids of its own, or set a store"));
  }

  @Override
  public void close() {
    // There is nothing to give up.
  }

  @Override
  public String toString() {
    return "UnleasedStore";
  }

  private static String key(LeaseTerms terms, Slot slot) {
    return terms.keyPrefix() + ":" + slot;
  }

  private static <T> CompletionStage<T> done(T answer) {
    return CompletableFuture.completedFuture(answer);
  }
}
