package io.github.snowlease;

import io.github.snowlease.LeaseStore.Claim;
import io.github.snowlease.LeaseStore.ClaimReply;
import io.github.snowlease.LeaseStore.Full;
import io.github.snowlease.LeaseStore.Granted;
import io.github.snowlease.LeaseStore.Holder;
import io.github.snowlease.LeaseStore.LayoutDiffers;
import io.github.snowlease.LeaseStore.LedgerEntry;
import io.github.snowlease.LeaseStore.Lost;
import io.github.snowlease.LeaseStore.Quarantined;
import io.github.snowlease.LeaseStore.Release;
import io.github.snowlease.LeaseStore.RenewReply;
import io.github.snowlease.LeaseStore.Renewal;
import io.github.snowlease.LeaseStore.Renewed;
import io.github.snowlease.LeaseStore.Skewed;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Gets a lease, keeps it, notices when it is gone, and gets another: a state machine ({@link
 * LeaseState}) that one thread drives by calling {@link #poll()}, when that is due or mail has
 * come. It never blocks and reads no clock but the one it was handed, so that the simulation and
 * the unit tests drive the very same code by hand.
 *
 * <p><b>Outcomes.</b> An unknown outcome never extends the window and never ends the lease. What it
 * may have done is allowed for or undone: an unknown renewal's nonce goes into the list that the
 * next renewal presents, an unknown claim's token is released.
 *
 * <p><b>Safety.</b> The generator is opened and extended only with what an answer of the store
 * grants, and is sealed before a slot is handed back. Everything else here is about liveness.
 *
 * <p><b>Checkpoint.</b> Between {@link #suspend} and {@link #resume} the state is ACQUIRING,
 * nothing is asked, and no token, nonce or answer of before is left: a process restored from a
 * checkpoint, and each further one restored from the same, claims as a new one does.
 *
 * <p><b>Threads.</b> Confined to the thread that polls, but for {@link #started}, {@link
 * #terminated}, {@link #status}, {@link #isTerminated}, {@link #suspend}, {@link #resume} and
 * {@link #close}.
 */
final class NodeLeaseManager {
  private static final long NANOS_PER_MILLI = 1_000_000;

  /** The thread wakes at least so often, so that waking late shows. */
  private static final long MAX_SLEEP_NANOS = 1_000 * NANOS_PER_MILLI;

  /** How long is spent on handing slots back at the end before they are left to run out. */
  private static final long HAND_BACK_BUDGET_NANOS = 1_000 * NANOS_PER_MILLI;

  /**
   * A claim whose outcome is unknown costs a release, and many processes that start together on one
   * machine make it slow: the store's word is waited for as long again as an answer.
   */
  private static final long CLAIM_PATIENCE_MILLIS = 2_000;

  private static final long STEPPED_CLOCK_TOLERANCE_MILLIS = 1_000;
  private static final Duration HORIZON_WARNING = Duration.ofDays(365);

  private final LeaseStore store;
  private final LeaseTerms terms;
  private final BitLayout layout;
  private final Instant horizon;
  private final SlotRange range;
  private final LeaseTimings timings;
  private final TimeSource time;
  private final IdClock clock;
  private final SnowflakeGenerator generator;
  private final LeaseListener listener;
  private final LeaseLog log;
  private final StallDetector stalls;
  private final StoreDialog dialog;
  private final ReleaseQueue releases;
  private final ArrayDeque<LeaseEvent> events = new ArrayDeque<>();

  private final CompletableFuture<Void> started = new CompletableFuture<>();
  private final CompletableFuture<Void> terminated = new CompletableFuture<>();
  private volatile SnowflakeStatus status;

  private Random random;
  private Holder holder;
  private LeaseState state = LeaseState.ACQUIRING;
  private SlotSearch search;

  /** Not null in HELD and SUSPENDED, null in ACQUIRING and CLOSED. */
  private @Nullable Grant grant;

  /** When to ask the store next, if no question is open. */
  private long dueAt;

  /** Not null from {@link #suspend} to {@link #resume}; completed when nothing is left. */
  private @Nullable CompletableFuture<Void> suspension;

  private long acquireDeadline;
  private long handingBackSince;
  private boolean everHeld;

  /** Ids are minted though the slot was handed back: up to its fence. */
  private boolean inGrace;

  private long graceEndsAt;
  private boolean quarantineTold;
  private boolean fullTold;
  private boolean storeIsBehind;
  private long seenRev;
  private long renewedAt;
  private int failures;
  private @Nullable SnowflakeException lastFailure;

  NodeLeaseManager(
      LeaseStore store,
      LeaseTerms terms,
      BitLayout layout,
      SlotRange range,
      LeaseTimings timings,
      TimeSource time,
      Random random,
      IdClock clock,
      SnowflakeGenerator generator,
      Holder holder,
      LeaseListener listener) {
    this.store = store;
    this.terms = terms;
    this.layout = layout;
    this.horizon = layout.horizon();
    this.range = range;
    this.timings = timings;
    this.time = time;
    this.random = random;
    this.clock = clock;
    this.generator = generator;
    this.holder = holder;
    this.listener = listener;
    this.log = new LeaseLog(terms.namespace());
    this.stalls = new StallDetector(time);
    this.dialog = new StoreDialog(time, terms.commandTimeout());
    this.releases = new ReleaseQueue(terms.leaseTtl());
    this.search = new SlotSearch(range, random);
    this.dueAt = time.nanoTime();
    this.acquireDeadline = acquireDeadline(dueAt);
    this.status = describe(dueAt);
  }

  /** Completes with the first lease, or with the reason why there will be none. */
  CompletableFuture<Void> started() {
    return started;
  }

  /** Completes when the slot is handed back, or left to run out as that takes too long. */
  CompletableFuture<Void> terminated() {
    return terminated;
  }

  /** Whether nothing is left to poll for. */
  boolean isTerminated() {
    return terminated.isDone() && !inGrace;
  }

  /** The lease as of the last poll. */
  SnowflakeStatus status() {
    return status;
  }

  /** Sets how to wake the thread that polls. */
  void onWakeUp(Runnable wakeUp) {
    dialog.onWakeUp(wakeUp);
  }

  /** Hands the slot back. The generator has been closed before; lastTick is what it told. */
  void close(long lastTick) {
    dialog.post(() -> beginClose(lastTick, "closed"));
  }

  /**
   * Hands the slot back at once, fenced a while ahead, and lets ids be minted up to that fence: the
   * end of a process that still serves requests. Completes {@link #terminated()}.
   */
  void drain(long graceMillis) {
    dialog.post(() -> beginDrain(graceMillis));
  }

  /**
   * Drops the lease before a checkpoint of the process, and asks nothing more until {@link
   * #resume}.
   *
   * @return completes when no slot, token or open question is left, or the lease is closed
   */
  @SuppressWarnings("FutureReturnValueIgnored") // the callback is all
  CompletableFuture<Void> suspend() {
    CompletableFuture<Void> suspended = new CompletableFuture<>();
    terminated.thenRun(() -> suspended.complete(null));
    dialog.post(() -> beginSuspension(suspended));
    return suspended;
  }

  /**
   * Claims anew after a checkpoint, be this the same process or a restored one.
   *
   * @param fresh randomness that the checkpoint does not hold
   * @param here this process as it is now
   */
  void resume(Random fresh, Holder here) {
    dialog.post(() -> endSuspension(fresh, here));
  }

  // ---- The beat

  /**
   * Does what is due, and returns the nanoTime at which to call again at the latest. Whatever it
   * throws, the next call goes on from a sound state.
   */
  long poll() {
    long now = time.nanoTime();
    watchForStall(now);
    dialog.deliver();
    dialog.giveUpIfOverdue(now);
    Grant held = grant;
    if (held != null && clock.estimateAt(now) > held.until()) {
      log.windowEnded(held, failures);
      // A copy must not hand back what its original may still be minting on.
      lose(now, "the window ended without a renewal", state != LeaseState.SUSPENDED);
    }
    switch (state) {
      case ACQUIRING -> acquire(now);
      case HELD -> hold(now);
      case SUSPENDED -> resolveSuspicion(now);
      case CLOSED -> {
        finishClose(now);
        endGraceIfOver(now);
      }
    }
    status = describe(now);
    tellListener();
    long wakeAt = dialog.hasMail() ? now : nextWakeUp(now);
    stalls.plan(wakeAt);
    return wakeAt;
  }

  private long nextWakeUp(long now) {
    long wakeAt = now + MAX_SLEEP_NANOS;
    if (!dialog.isIdle()) {
      wakeAt = earlier(wakeAt, dialog.deadline());
    } else if (state != LeaseState.CLOSED && suspension == null) {
      wakeAt = earlier(wakeAt, dueAt);
    }
    if (inGrace) {
      wakeAt = earlier(wakeAt, graceEndsAt);
    }
    if (isHandingBack()) {
      wakeAt = earlier(wakeAt, handingBackSince + HAND_BACK_BUDGET_NANOS);
    } else if (!everHeld && suspension == null) {
      wakeAt = earlier(wakeAt, acquireDeadline);
    }
    Grant held = grant;
    if (held != null) {
      long left = Math.max(0, held.until() + 1 - clock.estimateAt(now));
      wakeAt = earlier(wakeAt, now + (left + 1) * NANOS_PER_MILLI);
    }
    return wakeAt;
  }

  private static long earlier(long a, long b) {
    return a - b < 0 ? a : b;
  }

  private boolean isDue(long now) {
    return dialog.isIdle() && now - dueAt >= 0;
  }

  private void dueIn(long now, long millis) {
    dueAt = now + millis * NANOS_PER_MILLI;
  }

  private void watchForStall(long now) {
    StallDetector.Finding finding = stalls.beat(now);
    if (finding == StallDetector.Finding.NONE) {
      return;
    }
    if (state == LeaseState.CLOSED) {
      graceEndsAt = now;
      return;
    }
    if (finding == StallDetector.Finding.CLOCKS_DIFFER && state == LeaseState.HELD) {
      generator.seal();
      dialog.dropAsUnknown("the clocks of this host disagree");
      change(LeaseState.SUSPENDED, "wall clock and nanoTime disagree");
    } else if (finding == StallDetector.Finding.LATE && grant != null) {
      log.stoodStill();
      lose(now, "this process stood still and may be a copy", false);
    }
    // Nor is an answer to a claim taken: a copy of this process may get the same.
    dialog.drop();
    dueAt = now;
  }

  // ---- ACQUIRING

  private long acquireDeadline(long from) {
    return from + timings.acquireTimeoutMillis() * NANOS_PER_MILLI;
  }

  private void acquire(long now) {
    if (suspension != null) {
      finishSuspension(suspension, now);
      return;
    }
    if (!everHeld && now - acquireDeadline >= 0) {
      failStart(reasonForNoLease());
      return;
    }
    if (!isDue(now) || releaseIfAny(releases.poll(now), now)) {
      return;
    }
    List<Slot> candidates = search.candidates();
    if (candidates == null) {
      dialog.ask(now, () -> store.readLedger(terms), this::onLedger, this::failed);
      return;
    }
    Claim claim =
        new Claim(
            hex(2),
            hex(1),
            time.wallMillis(),
            clock.isObserved() ? clock.estimateAt(now) : -1,
            seenRev,
            candidates,
            holder);
    dialog.ask(
        now,
        CLAIM_PATIENCE_MILLIS,
        () -> store.claim(terms, claim),
        (reply, sentAt, receivedAt) -> onClaimReply(claim, reply, sentAt, receivedAt),
        failure -> {
          if (mayHaveRun(failure)) {
            releases.add(
                new Release(claim.token(), Release.UNKNOWN_GRANT, candidates), time.nanoTime());
          }
          failed(failure);
        });
  }

  private void onLedger(Map<Slot, LedgerEntry> ledger, long sentAt, long receivedAt) {
    succeeded();
    search.onLedger(ledger, clock.estimateAt(receivedAt));
    if (search.candidates() == null) {
      tellFull();
    }
    dueIn(receivedAt, search.delayMillis());
  }

  private void onClaimReply(Claim claim, ClaimReply reply, long sentAt, long receivedAt) {
    clock.observe(sentAt, receivedAt, reply.now());
    if (reply instanceof Granted granted) {
      onGranted(new Grant(layout, claim, granted), granted, receivedAt);
    } else if (reply instanceof Full full) {
      succeeded();
      seenRev = Math.max(seenRev, full.rev());
      search.onFull(full);
      if (range.isPinned()) {
        tellFull();
      }
      dueIn(receivedAt, search.delayMillis());
      if (search.isTaken() && !everHeld) {
        failStart(reasonForNoLease());
      }
    } else if (reply instanceof Quarantined quarantined) {
      onQuarantined(quarantined, receivedAt);
    } else if (reply instanceof LayoutDiffers other) {
      SnowflakeException mismatch = layoutMismatch(other);
      failed(mismatch);
      if (everHeld) {
        dueIn(receivedAt, 1_000 + random.nextInt(1_000));
      } else {
        failStart(mismatch);
      }
    } else if (reply instanceof Skewed skewed) {
      long elapsed = (receivedAt - sentAt) / NANOS_PER_MILLI;
      if (Math.abs(skewed.now() - claim.wallClock()) - elapsed > terms.maxClockSkew()) {
        failed(new ClockSkewException(claim.wallClock(), skewed.now(), terms.maxClockSkew()));
      } else {
        retrySoon(receivedAt); // it sat in a queue, which says nothing about the clocks
      }
    }
  }

  private void onGranted(Grant won, Granted granted, long receivedAt) {
    if (won.window().isEmpty()) {
      SnowflakeException outOfReach = outOfReach(granted.now());
      releases.add(won.release(0), receivedAt);
      failed(outOfReach);
      if (everHeld) {
        dueIn(receivedAt, 60_000);
      } else {
        failStart(outOfReach);
      }
      return;
    }
    succeeded();
    seenRev = Math.max(seenRev, granted.rev());
    renewedAt = receivedAt;
    quarantineTold = false;
    search = new SlotSearch(range, random);
    grant = won;
    generator.open(won.window()); // has no effect if it is closed; then the mail says so
    dueIn(receivedAt, jitteredHeartbeat());
    change(LeaseState.HELD, everHeld ? "leased anew" : "leased");
    log.leased(won);
    if (granted.trustedEmpty()) {
      log.trustedEmpty();
    }
    if (!everHeld) {
      everHeld = true;
      if (Instant.ofEpochMilli(granted.now()).plus(HORIZON_WARNING).isAfter(horizon)) {
        log.horizonNear(layout);
      }
      // First: whoever waits for the start may ask at once how the lease stands.
      status = describe(receivedAt);
      started.complete(null);
    }
  }

  /** Whoever waits for a start to end should know why, before the time is up. */
  private void tellFull() {
    SnowflakeException full = search.exhausted();
    if (!everHeld && !fullTold && full != null) {
      fullTold = true;
      log.startFails(full, timings.acquireTimeoutMillis());
    }
  }

  private void onQuarantined(Quarantined quarantined, long receivedAt) {
    seenRev = Math.max(seenRev, quarantined.rev());
    if (!quarantineTold) {
      quarantineTold = true;
      log.quarantined(quarantined.waitMillis());
    }
    failures++;
    lastFailure =
        new LeaseStoreException(
            LeaseStoreException.Reason.UNAVAILABLE,
            "a store that is empty, restarted or failed over grants no lease until its quarantine"
                + " has passed: left="
                + quarantined.waitMillis()
                + "ms; wait, or create a new namespace with createNamespace() if nobody mints here"
                + " now",
            null);
    dueIn(receivedAt, quarantined.waitMillis() + random.nextInt(100));
  }

  /** Why the layout has no timestamp for a window that begins now. */
  private SnowflakeException outOfReach(long now) {
    if (now > layout.epochMillis()) {
      return new HorizonReachedException(layout);
    }
    return new SnowflakeException(
        "ids begin at the epoch of the layout: now="
            + Instant.ofEpochMilli(now)
            + " layout="
            + layout
            + "; use an epoch in the past",
        null);
  }

  private SnowflakeException layoutMismatch(LayoutDiffers other) {
    return new LayoutMismatchException(terms.namespace(), other.stored(), terms.layout());
  }

  private SnowflakeException reasonForNoLease() {
    SnowflakeException last = lastFailure;
    SnowflakeException full = search.exhausted();
    if (last != null) {
      return last;
    }
    if (full != null) {
      return full;
    }
    return new LeaseStoreException(
        LeaseStoreException.Reason.NO_REPLY,
        "the store must answer within acquireTimeout="
            + timings.acquireTimeoutMillis()
            + "ms: it did not; see whether it can be reached",
        null);
  }

  private void failStart(SnowflakeException failure) {
    started.completeExceptionally(failure);
    beginClose(generator.close(), "the start failed: " + failure.getMessage());
  }

  // ---- HELD

  private void hold(long now) {
    if (isDue(now)) {
      renew(now);
    } else if (dialog.isIdle()) {
      releaseIfAny(releases.poll(now), now);
    }
  }

  private void renew(long now) {
    Grant held = heldGrant();
    String nonce = hex(1);
    Renewal renewal = held.renewal(nonce, clock.estimateAt(now), seenRev, holder);
    dialog.ask(
        now,
        () -> store.renew(terms, renewal),
        (reply, sentAt, receivedAt) -> onRenewReply(held, nonce, reply, sentAt, receivedAt),
        failure -> {
          if (mayHaveRun(failure)) {
            held.unknownRenewal(nonce);
          }
          failed(failure);
          if (failures == 1) {
            log.renewalFails(held, failure);
          }
        });
  }

  private void onRenewReply(
      Grant held, String nonce, RenewReply reply, long sentAt, long receivedAt) {
    clock.observe(sentAt, receivedAt, reply.now());
    noteWhetherStoreWentBack(receivedAt);
    if (reply instanceof Renewed renewed) {
      if (failures > 0) {
        log.renewedAgain(held, failures);
      }
      succeeded();
      seenRev = Math.max(seenRev, renewed.rev());
      renewedAt = receivedAt;
      LeaseWindow before = held.window();
      held.renewed(nonce, renewed.until());
      generator.extend(before, held.window());
      dueIn(receivedAt, jitteredHeartbeat());
    } else if (reply instanceof Lost lost) {
      seenRev = Math.max(seenRev, lost.rev());
      log.lost(held, lost.reason());
      lose(receivedAt, "the store says that the lease is gone: " + lost.reason(), false);
    } else if (reply instanceof LayoutDiffers other) {
      SnowflakeException mismatch = layoutMismatch(other);
      log.layoutChanged(mismatch);
      lose(receivedAt, "the namespace has another layout now", false);
      failed(mismatch);
    } else if (reply instanceof Skewed) {
      if (storeIsBehind) {
        dueIn(receivedAt, jitteredHeartbeat());
      } else {
        retrySoon(receivedAt);
      }
    }
  }

  /**
   * A store whose clock went back by more than S may refuse renewals until it has caught up. The
   * lease is kept meanwhile: it is this process's own ids that lie ahead, so another slot would
   * mint none sooner.
   */
  private void noteWhetherStoreWentBack(long receivedAt) {
    long lead = clock.leadAt(receivedAt);
    boolean behind = lead > terms.maxClockSkew();
    if (behind && !storeIsBehind) {
      log.storeWentBack(lead);
    }
    storeIsBehind = behind;
  }

  /** Ends the lease: seals first, for only then may the slot be handed back. */
  private void lose(long now, String reason, boolean handBack) {
    generator.seal();
    Grant lost = heldGrant();
    dialog.drop();
    dueAt = now;
    if (handBack) {
      releases.add(lost.release(generator.lastTick()), now);
    }
    change(LeaseState.ACQUIRING, reason);
    grant = null;
  }

  // ---- SUSPENDED

  private void resolveSuspicion(long now) {
    if (isDue(now)) {
      dialog.ask(now, () -> store.time(terms), this::onTime, this::failed);
    }
  }

  private void onTime(long storeTime, long sentAt, long receivedAt) {
    succeeded();
    Grant held = heldGrant();
    long roundTrip = (receivedAt - sentAt) / NANOS_PER_MILLI;
    long ahead = storeTime - clock.estimateAt(receivedAt);
    if (ahead > STEPPED_CLOCK_TOLERANCE_MILLIS
        || ahead < -STEPPED_CLOCK_TOLERANCE_MILLIS - roundTrip) {
      log.frozenOrCopied(ahead);
      lose(receivedAt, "this process was frozen or copied", false);
      return;
    }
    log.wallClockStepped(held);
    generator.open(held.window());
    dueAt = receivedAt;
    change(LeaseState.HELD, "only the wall clock was stepped");
  }

  // ---- CLOSED

  private void beginClose(long lastTick, String reason) {
    if (state == LeaseState.CLOSED) {
      return;
    }
    handingBackSince = time.nanoTime();
    Grant held = grant;
    if (held != null && state != LeaseState.SUSPENDED) {
      releases.add(held.release(lastTick), handingBackSince);
    }
    change(LeaseState.CLOSED, reason);
    grant = null;
    // A claim under way may have been granted: as its outcome is unknown, its token is released.
    dialog.dropAsUnknown("the lease is being closed");
    started.completeExceptionally(
        new NoLeaseException(
            NoLeaseException.Reason.CLOSED, "a start must not be closed: it was", null));
  }

  /**
   * A window must not be shortened under a caller that has read it: sealing makes whoever has read
   * the word fail, and the word is opened again on the shorter window. Nothing is minted beyond
   * that, so its end is a fence as good as the last id.
   */
  private void beginDrain(long graceMillis) {
    if (state == LeaseState.CLOSED) {
      return;
    }
    generator.seal();
    long lastTick = generator.lastTick();
    Grant held = grant;
    if (held != null && state == LeaseState.HELD) {
      LeaseWindow rest = held.windowUntil(clock.estimateAt(time.nanoTime()) + graceMillis);
      if (!generator.open(rest)) {
        return; // it was closed, and whoever did that tells the last tick
      }
      lastTick = Math.max(lastTick, rest.lastTick());
      inGrace = true;
      graceEndsAt = time.nanoTime() + graceMillis * NANOS_PER_MILLI;
      log.draining(held, graceMillis);
    }
    beginClose(lastTick, "the JVM exits");
  }

  private void endGraceIfOver(long now) {
    if (inGrace && now - graceEndsAt >= 0) {
      generator.seal();
      inGrace = false;
    }
  }

  private void finishClose(long now) {
    if (terminated.isDone() || !hasHandedBack(now)) {
      return;
    }
    log.closed(Duration.ofNanos(now - handingBackSince));
    status = describe(now);
    terminated.complete(null);
  }

  /** Whether slots are handed back that soon nobody will be there to hand back. */
  private boolean isHandingBack() {
    return (state == LeaseState.CLOSED && !terminated.isDone())
        || (suspension != null && !suspension.isDone());
  }

  /** Hands slots back as long as there is one, and the budget lasts. */
  private boolean hasHandedBack(long now) {
    if (now - handingBackSince >= HAND_BACK_BUDGET_NANOS) {
      dialog.drop();
      return true;
    }
    return dialog.isIdle() && !releaseIfAny(releases.pollAny(now), now);
  }

  // ---- Suspended for a checkpoint

  @SuppressWarnings("FutureReturnValueIgnored") // the callback is all
  private void beginSuspension(CompletableFuture<Void> suspended) {
    CompletableFuture<Void> earlier = suspension;
    if (earlier != null) {
      earlier.thenRun(() -> suspended.complete(null));
      return;
    }
    if (state == LeaseState.CLOSED) {
      return; // ends with the closing, which hands back and forgets as well
    }
    suspension = suspended;
    handingBackSince = time.nanoTime();
    log.suspended();
    if (grant != null) {
      // A copy must not hand back what its original may still be minting on.
      lose(handingBackSince, "a checkpoint is taken", state != LeaseState.SUSPENDED);
    } else {
      dialog.dropAsUnknown("a checkpoint is taken");
    }
  }

  private void finishSuspension(CompletableFuture<Void> suspended, long now) {
    if (!suspended.isDone() && hasHandedBack(now)) {
      releases.clear(); // what is not handed back by now runs out
      status = describe(now);
      suspended.complete(null);
    }
  }

  private void endSuspension(Random fresh, Holder here) {
    CompletableFuture<Void> suspended = suspension;
    if (suspended == null) {
      return;
    }
    suspension = null;
    suspended.complete(null);
    if (state == LeaseState.CLOSED) {
      return;
    }
    // Of the store and its clock nothing is known any more: it may be another one.
    dialog.drop();
    releases.clear();
    clock.forget();
    seenRev = 0;
    succeeded();
    quarantineTold = false;
    storeIsBehind = false;
    random = fresh;
    holder = here;
    search = new SlotSearch(range, fresh);
    dueAt = time.nanoTime();
    acquireDeadline = acquireDeadline(dueAt);
    log.resumed();
  }

  // ---- Questions to the store

  private boolean releaseIfAny(ReleaseQueue.@Nullable Entry entry, long now) {
    if (entry == null) {
      return false;
    }
    dialog.ask(
        now,
        () -> store.release(terms, entry.release()),
        (released, sentAt, receivedAt) -> succeeded(),
        failure -> {
          if (!isHandingBack()) {
            releases.retryLater(entry, time.nanoTime());
          }
          failed(failure);
        });
    return true;
  }

  private static boolean mayHaveRun(SnowflakeException failure) {
    return !(failure instanceof LeaseStoreException known) || known.mayHaveRun();
  }

  private void failed(SnowflakeException failure) {
    failures++;
    lastFailure = failure;
    long now = time.nanoTime();
    retrySoon(now);
    if (everHeld || state != LeaseState.ACQUIRING || suspension != null) {
      return;
    }
    if (failure instanceof LeaseStoreException known && known.needsOperator()) {
      failStart(failure);
    } else if (failures == 1) {
      log.startFails(failure, timings.acquireTimeoutMillis());
    }
  }

  private void succeeded() {
    failures = 0;
    lastFailure = null;
  }

  private void retrySoon(long now) {
    dueIn(now, random.nextInt(100, 500));
  }

  // ---- The rest

  private void change(LeaseState to, String reason) {
    events.add(new LeaseEvent(state, to, slotOf(grant), reason));
    state = to;
  }

  private void tellListener() {
    for (LeaseEvent event = events.poll(); event != null; event = events.poll()) {
      try {
        listener.onChange(event);
      } catch (Throwable t) { // a listener's fault must not end renewals
        log.listenerFailed(event, t);
      }
    }
  }

  private SnowflakeStatus describe(long now) {
    Grant held = grant;
    return new SnowflakeStatus(
        state,
        slotOf(held),
        held == null ? null : Instant.ofEpochMilli(held.until()),
        everHeld ? Duration.ofNanos(now - renewedAt) : null,
        clock.isObserved() ? Duration.ofMillis(time.wallMillis() - clock.estimateAt(now)) : null,
        failures,
        lastFailure,
        horizon);
  }

  private static @Nullable Slot slotOf(@Nullable Grant grant) {
    return grant == null ? null : grant.slot;
  }

  private Grant heldGrant() {
    Grant held = grant;
    if (held == null) {
      throw new IllegalStateException("a grant is held in this state: state=" + state);
    }
    return held;
  }

  private long jitteredHeartbeat() {
    return Math.round(timings.heartbeatMillis() * (0.8 + 0.4 * random.nextDouble()));
  }

  private String hex(int longs) {
    StringBuilder text = new StringBuilder(16 * longs);
    for (int i = 0; i < longs; i++) {
      text.append(HexFormat.of().toHexDigits(random.nextLong()));
    }
    return text.toString();
  }
}
