package io.github.snowlease;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/**
 * The memory of a fleet: which slot is leased to whom, and up to which moment ids of that slot may
 * have been minted (the <em>fence</em>). {@code docs/design.md} §3 is the protocol; the contract
 * test of this interface is its executable form, and every implementation passes it.
 *
 * <p>All times are milliseconds of the store's own clock since 1970-01-01T00:00:00Z unless a name
 * says otherwise. Every operation is one atomic step of the store.
 *
 * <p><b>Outcomes.</b> A stage that completes normally carries an answer: granted or refused. A
 * stage that fails carries a {@link LeaseStoreException}: the outcome is unknown, unless {@link
 * LeaseStoreException#mayHaveRun()} says that nothing can have happened. A grant completes normally
 * only when it is as durable as {@link LeaseTerms#minReplicas()} demands.
 *
 * <p><b>Threads.</b> Methods may be called from any thread, return without waiting for the store,
 * and never throw; stages complete on a thread of the store's choosing. One store may serve several
 * namespaces.
 */
public interface LeaseStore extends AutoCloseable {

  /**
   * Grants the first free candidate slot to a fresh token: a window {@code [now, now + W]} above
   * the fence of that slot.
   *
   * @param terms what the namespace agrees on
   * @param claim who asks, and for which slots
   * @return the answer
   */
  CompletionStage<ClaimReply> claim(LeaseTerms terms, Claim claim);

  /**
   * Extends a window to {@code now + W}, as a compare-and-set on the nonce of the last change.
   *
   * @param terms what the namespace agrees on
   * @param renewal the grant as its holder knows it
   * @return the answer
   */
  CompletionStage<RenewReply> renew(LeaseTerms terms, Renewal renewal);

  /**
   * Gives back the slot that a token holds, if it holds one. Fences it at the last id issued. Must
   * be asked for only after the generator has been sealed.
   *
   * @param terms what the namespace agrees on
   * @param release the token and where its slot may be
   * @return whether a slot was released
   */
  CompletionStage<Boolean> release(LeaseTerms terms, Release release);

  /**
   * Reads the whole ledger, to tell a full namespace from an unlucky choice of candidates.
   *
   * @param terms what the namespace agrees on
   * @return the entries of all slots that were ever granted
   */
  CompletionStage<Map<Slot, LedgerEntry>> readLedger(LeaseTerms terms);

  /**
   * Reads the store's clock.
   *
   * @param terms what the namespace agrees on
   * @return the time in milliseconds
   */
  CompletionStage<Long> time(LeaseTerms terms);

  /**
   * Creates the namespace: the deliberate statement that nobody mints in it now, so that the first
   * lease need not wait for the quarantine.
   *
   * @param terms what the namespace will agree on
   * @return true if it was created, false if it exists already
   */
  CompletionStage<Boolean> createNamespace(LeaseTerms terms);

  /**
   * Looks for settings of the store that weaken leases, such as an eviction policy that may drop
   * their keys.
   *
   * @param terms what the namespace agrees on
   * @return one line a finding, each with what to do; empty if all is well or nothing can be said
   */
  CompletionStage<List<String>> warnings(LeaseTerms terms);

  /**
   * Closes connections of the store's own, never those that it was handed; the next question
   * connects anew. Called while no question is open, before a checkpoint of the process, which open
   * sockets would make fail. Returns within about a second even if the store hangs. Does nothing by
   * default, as befits a store without connections.
   */
  default void disconnect() {}

  /**
   * Gives up connections and threads of the store's own, never those that it was handed.
   * Idempotent; returns within about a second even if the store hangs.
   */
  @Override
  void close();

  /**
   * A wish for a slot.
   *
   * @param token 32 hex digits, drawn afresh for this claim alone
   * @param nonce 16 hex digits, drawn afresh for this claim alone
   * @param wallClock the caller's wall clock in milliseconds
   * @param estimate the caller's estimate of the store's clock, or -1 if it has none
   * @param seenRev the highest revision of the ledger that the caller has seen, 0 if none
   * @param candidates the slots to try, in this order; not empty
   * @param holder who asks, for people to read
   */
  record Claim(
      String token,
      String nonce,
      long wallClock,
      long estimate,
      long seenRev,
      List<Slot> candidates,
      Holder holder) {}

  /**
   * A wish to extend a window.
   *
   * @param token the token of the grant
   * @param slot the slot of the grant
   * @param until the end of the window as the holder knows it
   * @param nonces the last few acknowledged nonces of this grant and those of all attempts since
   *     whose outcome is unknown
   * @param newNonce 16 hex digits, drawn afresh for this attempt alone
   * @param estimate the caller's estimate of the store's clock
   * @param seenRev the highest revision of the ledger that the caller has seen
   * @param holder who asks, for people to read
   */
  record Renewal(
      String token,
      Slot slot,
      long until,
      List<String> nonces,
      String newNonce,
      long estimate,
      long seenRev,
      Holder holder) {}

  /**
   * A slot handed back.
   *
   * @param token the token of the grant
   * @param lastIssued the last millisecond in which an id was issued, never below {@code lo - 1} of
   *     the grant; {@link #UNKNOWN_GRANT} if the claim's outcome is unknown, and so its slot too
   * @param candidates where the slot may be: the slot of the grant, or all that were claimed for
   */
  record Release(String token, long lastIssued, List<Slot> candidates) {
    /** The claim had no answer: nothing was issued, and the slot, if any, is unknown. */
    public static final long UNKNOWN_GRANT = -1;
  }

  /**
   * Who holds a slot, for people: identity is the token alone.
   *
   * @param host the host's name
   * @param pid the process id on that host
   * @param app the application's name, or an empty string
   * @param since when the process started to lease, in milliseconds of its wall clock
   * @param version the version of this library
   */
  record Holder(String host, long pid, String app, long since, String version) {
    /**
     * The text of a lease, as stores keep it for people to read.
     *
     * @param token the token of the lease
     * @return JSON in one line, which begins with <code>{"token":"…",</code>
     */
    public String toJson(String token) {
      return HolderJson.of(token, this);
    }
  }

  /**
   * The fence of a slot.
   *
   * @param until the last millisecond in which an id may have been issued
   * @param held whether a token holds the slot; false once it was released
   * @param readable false if the entry is damaged: then the slot is never granted
   */
  record LedgerEntry(long until, boolean held, boolean readable) {
    /**
     * Says whether the slot may be granted at a moment, as far as the ledger tells.
     *
     * @param now the store's time
     * @return whether the fence lies in the past
     */
    public boolean isFreeAt(long now) {
      return readable && now > until + (held ? LeaseTerms.GRACE : 0);
    }
  }

  /** The answer to a claim. */
  sealed interface ClaimReply permits Granted, Skewed, LayoutDiffers, Quarantined, Full {
    /**
     * The store's clock when it answered.
     *
     * @return the time in milliseconds
     */
    long now();
  }

  /** The answer to a renewal. */
  sealed interface RenewReply permits Renewed, Skewed, LayoutDiffers, Lost {
    /**
     * The store's clock when it answered.
     *
     * @return the time in milliseconds
     */
    long now();
  }

  /**
   * A slot was granted.
   *
   * @param now the store's clock, which is also the beginning of the window
   * @param slot the slot
   * @param until the last millisecond of the window
   * @param rev the ledger's revision
   * @param trustedEmpty whether the store was empty and taken for a new namespace unasked
   */
  record Granted(long now, Slot slot, long until, long rev, boolean trustedEmpty)
      implements ClaimReply {}

  /**
   * The window was extended.
   *
   * @param now the store's clock
   * @param until the last millisecond of the window
   * @param rev the ledger's revision
   */
  record Renewed(long now, long until, long rev) implements RenewReply {}

  /**
   * A clock is too far off. Nothing was written.
   *
   * @param now the store's clock
   */
  record Skewed(long now) implements ClaimReply, RenewReply {}

  /**
   * The namespace has another layout. Nothing was written.
   *
   * @param now the store's clock
   * @param stored the layout of the namespace
   */
  record LayoutDiffers(long now, String stored) implements ClaimReply, RenewReply {}

  /**
   * The store is empty, or lost or changed its memory lately, and grants nothing for a while.
   *
   * @param now the store's clock
   * @param waitMillis milliseconds until it may grant again
   * @param rev the ledger's revision
   */
  record Quarantined(long now, long waitMillis, long rev) implements ClaimReply {}

  /**
   * No candidate is free.
   *
   * @param now the store's clock
   * @param waitMillis milliseconds until a candidate may come free, {@code >= 1}; -1 if nobody
   *     knows
   * @param rev the ledger's revision
   * @param holder what stands in the way at the first candidate: the text of its lease key, or
   *     empty
   */
  record Full(long now, long waitMillis, long rev, String holder) implements ClaimReply {}

  /**
   * The grant is gone.
   *
   * @param now the store's clock
   * @param reason why
   * @param rev the ledger's revision
   */
  record Lost(long now, LossReason reason, long rev) implements RenewReply {}

  /** Why a store refuses to extend a window. */
  enum LossReason {
    /** Another token stands in the ledger. */
    OWNER,
    /** The ledger's entry was changed by a renewal that this holder did not send: a clone. */
    NONCE,
    /** The lease key exists and is not this holder's. */
    KEY,
    /** The ledger's entry cannot be read. */
    DAMAGED,
    /** The window had ended. */
    EXPIRED
  }
}
