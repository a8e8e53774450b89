package io.github.snowlease;

import io.github.snowlease.LeaseStore.Claim;
import io.github.snowlease.LeaseStore.Granted;
import io.github.snowlease.LeaseStore.Holder;
import io.github.snowlease.LeaseStore.Release;
import io.github.snowlease.LeaseStore.Renewal;
import java.util.ArrayList;
import java.util.List;

/** A slot that this process holds, as far as it knows. Confined to the lease thread. */
final class Grant {
  final Slot slot;
  private final BitLayout layout;
  private final String token;
  private final long lo;

  /**
   * How many acknowledged nonces are presented: a failover may bring back the ledger of some
   * renewals ago, and must not end the lease of a live holder. All are this holder's own, so
   * whoever of two copies renews first still ends the other's lease.
   */
  private static final int REMEMBERED_NONCES = 8;

  /**
   * The latest acknowledged nonces, then those of later attempts whose outcome is unknown: a window
   * has room for few of them.
   */
  private final List<String> nonces = new ArrayList<>(64);

  private long until;
  private LeaseWindow window;

  Grant(BitLayout layout, Claim claim, Granted granted) {
    this.slot = granted.slot();
    this.layout = layout;
    this.token = claim.token();
    this.lo = granted.now();
    this.until = granted.until();
    this.window = LeaseWindow.of(layout, slot, lo, until);
    nonces.add(claim.nonce());
  }

  /** The last millisecond of the window, in the store's time. */
  long until() {
    return until;
  }

  LeaseWindow window() {
    return window;
  }

  Renewal renewal(String newNonce, long estimate, long seenRev, Holder holder) {
    return new Renewal(
        token, slot, until, List.copyOf(nonces), newNonce, estimate, seenRev, holder);
  }

  /** The outcome of a renewal is unknown: the store may hold its nonce or the one before. */
  void unknownRenewal(String nonce) {
    nonces.add(nonce);
  }

  /** A renewal was acknowledged. */
  void renewed(String nonce, long newUntil) {
    nonces.add(nonce);
    while (nonces.size() > REMEMBERED_NONCES) {
      nonces.remove(0);
    }
    if (newUntil > until) {
      until = newUntil;
      window = LeaseWindow.of(layout, slot, lo, newUntil);
    }
  }

  /** What is left of the window if it ends at a moment of the store's time, or before. */
  LeaseWindow windowUntil(long end) {
    return LeaseWindow.of(layout, slot, lo, Math.min(until, end));
  }

  /**
   * How to hand the slot back after the generator was sealed at {@code lastTick}. That tick may
   * belong to a slot before this one, so the fence is kept inside the grant; nothing was minted
   * outside.
   */
  Release release(long lastTick) {
    long lastIssued =
        lastTick > layout.maxTick()
            ? until
            : layout.epochMillis() + (lastTick + 1) * layout.tickMillis() - 1;
    return new Release(token, Math.min(until, Math.max(lo - 1, lastIssued)), List.of(slot));
  }
}
