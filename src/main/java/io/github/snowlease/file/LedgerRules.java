package io.github.snowlease.file;

import io.github.snowlease.LeaseStore.Claim;
import io.github.snowlease.LeaseStore.ClaimReply;
import io.github.snowlease.LeaseStore.Full;
import io.github.snowlease.LeaseStore.Granted;
import io.github.snowlease.LeaseStore.LayoutDiffers;
import io.github.snowlease.LeaseStore.LossReason;
import io.github.snowlease.LeaseStore.Lost;
import io.github.snowlease.LeaseStore.Quarantined;
import io.github.snowlease.LeaseStore.Release;
import io.github.snowlease.LeaseStore.RenewReply;
import io.github.snowlease.LeaseStore.Renewal;
import io.github.snowlease.LeaseStore.Renewed;
import io.github.snowlease.LeaseStore.Skewed;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.Slot;
import io.github.snowlease.file.Ledger.Fence;
import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One step of the protocol on a ledger that nobody else touches meanwhile: {@code docs/design.md}
 * §3, as the Redis store has it in its scripts. Changes the ledger in memory and says whether it
 * changed; its caller writes it.
 *
 * <p>In one thing it differs: a folder in which there is neither a ledger nor a trace of a holder
 * is a new namespace, for what was written to a disk does not vanish by itself. If only the ledger
 * is gone, or the folder is another than the ledger was written in, because it was copied or
 * restored, memory was lost here too, and the quarantine holds.
 */
final class LedgerRules {
  private static final String UNKNOWN_SERVER = "-";

  private final LeaseTerms terms;
  private final Ledger ledger;
  private final Slots slots;
  private final long now;
  private final String server;

  private boolean changed;
  private boolean trustedUnasked;
  private long rev;
  private long birth;
  private long quarantine;

  /** The files of slots, as far as the rules need them. */
  interface Slots {
    /** Whether there is a trace of any holder. */
    boolean hasTraces() throws IOException;

    /** What lies where a slot's lease is kept. */
    LeaseFile lease(Slot slot) throws IOException;

    /** Locks a slot for a token, unless a living process holds it: then false. */
    boolean lock(Slot slot, String token) throws IOException;
  }

  /**
   * A step.
   *
   * @param server the identity of the folder, {@code -} if that cannot be told
   */
  LedgerRules(LeaseTerms terms, Ledger ledger, Slots slots, long now, String server) {
    this.terms = terms;
    this.ledger = ledger;
    this.slots = slots;
    this.now = now;
    this.server = server;
  }

  /** Whether the ledger is to be written. */
  boolean hasChanged() {
    return changed;
  }

  ClaimReply claim(Claim claim) throws IOException {
    if (Math.abs(now - claim.wallClock()) > terms.maxClockSkew()) {
      return new Skewed(now);
    }
    String other = otherLayout();
    if (other != null) {
      return new LayoutDiffers(now, other);
    }
    boolean isNew = recall(claim.seenRev(), claim.estimate());
    long openAt = birth + quarantine + 1;
    if (now < openAt) {
      return new Quarantined(now, openAt - now, rev);
    }
    long soonest = Long.MAX_VALUE;
    for (Slot slot : claim.candidates()) {
      long freeAt = freeAt(slot);
      if (freeAt <= now) {
        // Whoever holds the lock after its window has ended is frozen: nobody knows for how long.
        freeAt = Long.MAX_VALUE;
        if (!slots.lease(slot).isObstacle() && slots.lock(slot, claim.token())) {
          long until = now + terms.window();
          agree(slot, new Fence(until, claim.token(), claim.nonce()), isNew);
          return new Granted(now, slot, until, rev, trustedUnasked);
        }
      }
      soonest = Math.min(soonest, freeAt);
    }
    return new Full(
        now,
        soonest == Long.MAX_VALUE ? -1 : Math.max(1, soonest - now),
        rev,
        slots.lease(claim.candidates().get(0)).text());
  }

  /** The first moment at which the ledger lets a slot go; the end of time if it never does. */
  private long freeAt(Slot slot) {
    if (!ledger.contains(slot)) {
      return now;
    }
    Fence fence = ledger.fence(slot);
    if (fence == null) {
      return Long.MAX_VALUE;
    }
    return fence.until() + 1 + (fence.isHeld() ? LeaseTerms.GRACE : 0);
  }

  RenewReply renew(Renewal renewal) throws IOException {
    if (Math.abs(now - renewal.estimate()) > terms.maxClockSkew()
        || renewal.until() > now + terms.window() + terms.maxClockSkew()) {
      return new Skewed(now);
    }
    String other = otherLayout();
    if (other != null) {
      return new LayoutDiffers(now, other);
    }
    boolean isNew = recall(renewal.seenRev(), renewal.estimate());
    LossReason lost = lossOf(renewal);
    if (lost != null) {
      return new Lost(now, lost, rev);
    }
    long until = Math.max(standingUntil(renewal), now + terms.window());
    agree(renewal.slot(), new Fence(until, renewal.token(), renewal.newNonce()), isNew);
    return new Renewed(now, until, rev);
  }

  private @Nullable LossReason lossOf(Renewal renewal) throws IOException {
    if (ledger.contains(renewal.slot())) {
      Fence fence = ledger.fence(renewal.slot());
      if (fence == null) {
        return LossReason.DAMAGED;
      }
      if (!fence.token().equals(renewal.token())) {
        return LossReason.OWNER;
      }
      if (!renewal.nonces().contains(fence.nonce())) {
        return LossReason.NONCE;
      }
    }
    LeaseFile lease = slots.lease(renewal.slot());
    if (lease.exists() && !lease.isOf(renewal.token())) {
      return LossReason.KEY;
    }
    if (now > standingUntil(renewal)) {
      return LossReason.EXPIRED;
    }
    return slots.lock(renewal.slot(), renewal.token()) ? null : LossReason.KEY;
  }

  private long standingUntil(Renewal renewal) {
    Fence fence = ledger.fence(renewal.slot());
    return fence == null ? renewal.until() : Math.max(fence.until(), renewal.until());
  }

  /** Fences the slot that a token holds at its last id; returns that slot, or null if none. */
  @Nullable Slot release(Release release) {
    for (Slot slot : release.candidates()) {
      Fence fence = ledger.fence(slot);
      if (fence == null || !fence.token().equals(release.token())) {
        continue;
      }
      long last =
          release.lastIssued() == Release.UNKNOWN_GRANT
              ? fence.until() - terms.window()
              : release.lastIssued();
      if (last > fence.until()) {
        return null; // a fence is never raised here
      }
      ledger.put(slot, Fence.released(last));
      ledger.put(Ledger.REVISION, Math.max(0, ledger.number(Ledger.REVISION)) + 1);
      changed = true;
      return slot;
    }
    return null;
  }

  boolean create() {
    if (!ledger.isEmpty()) {
      return false;
    }
    ledger.put(Ledger.LAYOUT, terms.layout());
    ledger.put(Ledger.BIRTH, now - terms.quarantine() - 1);
    ledger.put(Ledger.SERVER, server);
    ledger.put(Ledger.REVISION, 1);
    ledger.put(Ledger.QUARANTINE, terms.quarantine());
    changed = true;
    return true;
  }

  private @Nullable String otherLayout() {
    String stored = ledger.get(Ledger.LAYOUT);
    return stored == null || stored.equals(terms.layout()) ? null : stored;
  }

  /**
   * Finds out whether memory was lost, and notes that in the ledger. Returns whether this is a new
   * namespace, about which only a grant writes anything.
   */
  private boolean recall(long seenRev, long estimate) throws IOException {
    long storedRev = Math.max(0, ledger.number(Ledger.REVISION));
    String storedServer = ledger.get(Ledger.SERVER);
    birth = ledger.number(Ledger.BIRTH);
    rev = Math.max(storedRev, seenRev);
    quarantine = Math.max(ledger.number(Ledger.QUARANTINE), terms.quarantine());
    boolean unseen = birth < 0 && seenRev == 0;
    boolean blank = unseen && ledger.isEmpty() && !slots.hasTraces();
    if (blank || (unseen && terms.trustEmptyStore())) {
      trustedUnasked = terms.trustEmptyStore();
      birth = now - quarantine - 1;
      return true;
    }
    // An identity that cannot be told neither compares nor overwrites.
    boolean comparable = !server.equals(UNKNOWN_SERVER) && !UNKNOWN_SERVER.equals(storedServer);
    boolean moved = comparable && !server.equals(storedServer);
    if (birth < 0 || moved || seenRev > storedRev) {
      birth = Math.max(now, Math.max(estimate, birth));
      ledger.put(Ledger.BIRTH, birth);
      noteServer(storedServer);
      noteChange();
    } else if (!Objects.equals(server, storedServer) && !server.equals(UNKNOWN_SERVER)) {
      noteServer(storedServer);
      noteChange();
    }
    return false;
  }

  private void noteServer(@Nullable String stored) {
    if (stored == null || !server.equals(UNKNOWN_SERVER)) {
      ledger.put(Ledger.SERVER, server);
    }
  }

  private void noteChange() {
    if (!changed) {
      changed = true;
      rev++;
    }
    ledger.put(Ledger.REVISION, rev);
  }

  private void agree(Slot slot, Fence fence, boolean isNew) {
    if (isNew) {
      ledger.put(Ledger.BIRTH, birth);
      ledger.put(Ledger.SERVER, server);
    }
    ledger.put(Ledger.LAYOUT, terms.layout());
    ledger.put(Ledger.QUARANTINE, quarantine);
    ledger.put(slot, fence);
    noteChange();
  }
}
