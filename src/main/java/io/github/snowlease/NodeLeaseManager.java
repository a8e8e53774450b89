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
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gets a lease, keeps it, notices when it is gone, and gets another: a state machine ({@link
 * LeaseState}) that one thread drives by calling {@link #poll()}, when it is due or when an answer
 * has come. It never blocks and never reads a clock that was not handed to it, so that the
 * simulation and the unit tests drive the very same code by hand.
 *
 * <p><b>Questions.</b> At most one question to the store is under way. An answer to a question that
 * was given up is ignored. A question without an answer in {@code commandTimeout} has an unknown
 * outcome: it never extends the window and never ends the lease. What it may have done is undone or
 * allowed for: an unknown renewal's nonce goes into the list that the next renewal presents, an
 * unknown claim's token is released.
 *
 * <p><b>Safety.</b> The generator is opened and extended only with what a store's answer grants,
 * and is sealed before a slot is released. Everything else here is about liveness.
 *
 * <p><b>Threads.</b> All fields are confined to the thread that polls, except those said to be
 * shared.
 */
final class NodeLeaseManager {
  private static final Logger log = LoggerFactory.getLogger(NodeLeaseManager.class);

  private static final long NANOS_PER_MILLI = 1_000_000;

  /** The thread wakes at least so often, so that waking late shows. */
  private static final long MAX_SLEEP_NANOS = 1_000 * NANOS_PER_MILLI;

  /** How long close() spends on handing slots back before it leaves them to run out. */
  private static final long CLOSE_BUDGET_NANOS = 1_000 * NANOS_PER_MILLI;

  private static final long STEPPED_CLOCK_TOLERANCE_MILLIS = 1_000;

  private final LeaseStore store;
  private final LeaseTerms terms;
  private final BitLayout layout;
  private final SlotRange range;
  private final long heartbeatMillis;
  private final long acquireTimeoutNanos;
  private final TimeSource time;
  private final Random random;
  private final IdClock clock;
  private final SnowflakeGenerator generator;
  private final Holder holder;
  private final LeaseListener listener;

  /** Shared: what other threads have for this one, answers of the store above all. */
  private final Queue<Runnable> mailbox = new ConcurrentLinkedQueue<>();

  /** Shared: wakes the thread that polls. */
  private volatile Runnable wakeUp = () -> {};

  /** Shared: the first lease, or why there is none. */
  private final CompletableFuture<Void> started = new CompletableFuture<>();

  /** Shared: everything is given up. */
  private final CompletableFuture<Void> terminated = new CompletableFuture<>();

  /** Shared: the latest status. */
  private volatile SnowflakeStatus status;

  private final StallDetector stalls;
  private final ArrayDeque<LeaseEvent> events = new ArrayDeque<>();
  private final ArrayDeque<Orphan> orphans = new ArrayDeque<>();
  private LeaseState state = LeaseState.ACQUIRING;
  private SlotSearch search;
  private @Nullable Grant grant;
  private @Nullable Question question;
  private long dueAt;
  private long acquireDeadline;
  private long closeDeadline;
  private boolean everHeld;
  private long seenRev;
  private long renewedAt;
  private boolean quarantineTold;
  private int failures;
  private @Nullable SnowflakeException lastFailure;

  /** A slot that this process holds, or held. */
  private static final class Grant {
    final Slot slot;
    final String token;
    final long lo;

    /** The last acknowledged nonce, then those of later attempts whose outcome is unknown. */
    final List<String> nonces = new ArrayList<>(64);

    long until;
    LeaseWindow window;

    Grant(Slot slot, String token, String nonce, long lo, long until, LeaseWindow window) {
      this.slot = slot;
      this.token = token;
      this.lo = lo;
      this.until = until;
      this.window = window;
      nonces.add(nonce);
    }
  }

  /** A slot to hand back, from one moment on until it would have run out by itself. */
  private record Orphan(Release release, long notBefore, long dropAt) {}

  /** A question to the store that is under way. */
  private static final class Question {
    final long sentAt;
    final Consumer<SnowflakeException> onUnknown;

    Question(long sentAt, Consumer<SnowflakeException> onUnknown) {
      this.sentAt = sentAt;
      this.onUnknown = onUnknown;
    }
  }

  /** What to do with an answer that came in time. */
  private interface Answer<T> {
    void take(T answer, Question question, long receivedAt);
  }

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
    this.range = range;
    this.heartbeatMillis = timings.heartbeatMillis();
    this.acquireTimeoutNanos = timings.acquireTimeoutMillis() * NANOS_PER_MILLI;
    this.time = time;
    this.random = random;
    this.clock = clock;
    this.generator = generator;
    this.holder = holder;
    this.listener = listener;
    this.stalls = new StallDetector(time);
    this.search = new SlotSearch(range, random);
    this.dueAt = time.nanoTime();
    this.acquireDeadline = dueAt + acquireTimeoutNanos;
    this.status = describe(dueAt);
  }

  // ---- what other threads call
  // -------------------------------------------------------------------

  /** Completes with the first lease, or with the reason why there will be none. */
  CompletableFuture<Void> started() {
    return started;
  }

  /** Completes when the slot is handed back, or given up as far as closing may take. */
  CompletableFuture<Void> terminated() {
    return terminated;
  }

  SnowflakeStatus status() {
    return status;
  }

  /** Sets how to wake the thread that polls; until then nothing wakes it. */
  void onWakeUp(Runnable wakeUp) {
    this.wakeUp = wakeUp;
  }

  /** Hands the slot back. The generator has been closed; lastTick is what it told. */
  void close(long lastTick) {
    post(() -> beginClose(lastTick, "closed"));
  }

  /** Runs something on the thread that polls, as part of its next beat. */
  private void post(Runnable message) {
    mailbox.add(message);
    wakeUp.run();
  }

  // ---- the beat
  // ----------------------------------------------------------------------------------

  /**
   * Does what is due, and returns the nanoTime at which to call again at the latest. What it throws
   * leaves a state from which the next call goes on.
   */
  long poll() {
    long now = time.nanoTime();
    watchForStall(now);
    for (Runnable message = mailbox.poll(); message != null; message = mailbox.poll()) {
      message.run();
    }
    Question open = question;
    if (open != null && now - open.sentAt > terms.commandTimeout() * NANOS_PER_MILLI) {
      question = null;
      open.onUnknown.accept(
          new LeaseStoreException(
              LeaseStoreException.Reason.NO_REPLY,
              "the store must answer within "
                  + terms.commandTimeout()
                  + "ms: it did not; see"
                  + " whether it hangs, or the network to it",
              null));
    }
    advance(now);
    status = describe(now);
    tellListener();
    long wakeAt = wakeAt(now);
    stalls.plan(wakeAt);
    return wakeAt;
  }

  private long wakeAt(long now) {
    if (!mailbox.isEmpty()) {
      return now;
    }
    long wakeAt = now + MAX_SLEEP_NANOS;
    Question open = question;
    if (open != null) {
      wakeAt =
          earlier(wakeAt, open.sentAt + terms.commandTimeout() * NANOS_PER_MILLI + NANOS_PER_MILLI);
    } else if (state != LeaseState.CLOSED) {
      wakeAt = earlier(wakeAt, dueAt);
    }
    if (state == LeaseState.CLOSED) {
      return earlier(wakeAt, closeDeadline);
    }
    if (!everHeld) {
      wakeAt = earlier(wakeAt, acquireDeadline);
    }
    Grant held = grant;
    if (held != null) {
      long left = Math.max(0, held.until + 1 - clock.estimateAt(now));
      wakeAt = earlier(wakeAt, now + (left + 1) * NANOS_PER_MILLI);
    }
    return wakeAt;
  }

  private static long earlier(long a, long b) {
    return a - b < 0 ? a : b;
  }

  private boolean isDue(long now) {
    return question == null && now - dueAt >= 0;
  }

  private void dueIn(long now, long millis) {
    dueAt = now + millis * NANOS_PER_MILLI;
  }

  private void advance(long now) {
    Grant held = grant;
    if (held != null && clock.estimateAt(now) > held.until) {
      lose(now, "the window ended before the store could be asked to extend it", true);
      log.warn(
          "A lease must be renewed before its window ends: namespace={} slot={} until={} failures={}"
              + " cause={}; ids stop until a new slot is leased",
          terms.namespace(),
          held.slot,
          Instant.ofEpochMilli(held.until),
          failures,
          causeText());
    }
    switch (state) {
      case ACQUIRING -> advanceAcquiring(now);
      case HELD -> {
        if (isDue(now)) {
          renew(now);
        } else if (question == null && hasOrphanDue(now)) {
          releaseOrphan(now);
        }
      }
      case SUSPENDED -> {
        if (isDue(now)) {
          askForTime(now);
        }
      }
      case CLOSED -> advanceClosed(now);
    }
  }

  private void watchForStall(long now) {
    StallDetector.Finding finding = stalls.beat(now);
    if (finding == StallDetector.Finding.NONE || state == LeaseState.CLOSED) {
      return;
    }
    // Whatever was under way is dropped: a copy of this process may get the same answer.
    Question open = question;
    question = null;
    dueAt = now;
    if (finding == StallDetector.Finding.LATE) {
      if (grant != null) {
        lose(now, "this process stood still for more than 5 s and may be a copy", false);
        log.warn(
            "A process that stood still for more than 5 s may be a copy of another: namespace={};"
                + " its lease is dropped and a new slot leased",
            terms.namespace());
      }
    } else if (state == LeaseState.HELD) {
      generator.seal();
      if (open != null) {
        open.onUnknown.accept(dropped("the clocks of this host disagree"));
      }
      dueAt = now;
      change(LeaseState.SUSPENDED, slotOf(grant), "wall clock and nanoTime disagree");
    }
  }

  // ---- acquiring
  // ---------------------------------------------------------------------------------

  private void advanceAcquiring(long now) {
    if (!everHeld && now - acquireDeadline >= 0) {
      failStart(now, startFailure());
      return;
    }
    if (!isDue(now)) {
      return;
    }
    if (hasOrphanDue(now)) {
      releaseOrphan(now);
      return;
    }
    List<Slot> candidates = search.candidates();
    if (candidates == null) {
      ask(
          now,
          () -> store.readLedger(terms),
          (Map<Slot, LedgerEntry> ledger, Question asked, long receivedAt) -> {
            succeeded();
            search.onLedger(ledger, clock.estimateAt(receivedAt));
            dueIn(receivedAt, search.delayMillis());
          },
          failure -> failed(failure));
      return;
    }
    Claim claim =
        new Claim(
            hex(128),
            hex(64),
            time.wallMillis(),
            clock.isObserved() ? clock.estimateAt(now) : -1,
            seenRev,
            candidates,
            holder);
    ask(
        now,
        () -> store.claim(terms, claim),
        (ClaimReply reply, Question asked, long receivedAt) ->
            onClaimReply(claim, reply, asked, receivedAt),
        failure -> {
          if (!(failure instanceof LeaseStoreException f) || f.mayHaveRun()) {
            addOrphan(new Release(claim.token(), Release.UNKNOWN_GRANT, candidates));
          }
          failed(failure);
        });
  }

  private void onClaimReply(Claim claim, ClaimReply reply, Question asked, long receivedAt) {
    observe(asked, receivedAt, reply.now());
    if (reply instanceof Granted granted) {
      onGranted(claim, granted, receivedAt);
    } else if (reply instanceof Full full) {
      succeeded();
      seenRev = Math.max(seenRev, full.rev());
      search.onFull(full);
      dueIn(receivedAt, search.delayMillis());
      if (search.isTaken() && !everHeld) {
        failStart(receivedAt, startFailure());
      }
    } else if (reply instanceof Quarantined quarantined) {
      onQuarantined(quarantined, receivedAt);
    } else if (reply instanceof LayoutDiffers other) {
      LayoutMismatchException mismatch =
          new LayoutMismatchException(terms.namespace(), other.stored(), terms.layout());
      if (everHeld) {
        failed(mismatch);
        dueIn(receivedAt, 1_000 + random.nextInt(1_000));
      } else {
        failStart(receivedAt, mismatch);
      }
    } else if (reply instanceof Skewed skewed) {
      long elapsed = (receivedAt - asked.sentAt) / NANOS_PER_MILLI;
      long apart = Math.abs(skewed.now() - claim.wallClock());
      if (apart - elapsed > terms.maxClockSkew()) {
        failed(new ClockSkewException(claim.wallClock(), skewed.now(), terms.maxClockSkew()));
        dueIn(receivedAt, 500 + random.nextInt(500));
      } else {
        // The claim sat in a queue; that says nothing about the clocks.
        retrySoon(receivedAt);
      }
    }
  }

  private void onGranted(Claim claim, Granted granted, long receivedAt) {
    LeaseWindow window = LeaseWindow.of(layout, granted.slot(), granted.now(), granted.until());
    if (window.isEmpty() && granted.now() > layout.epochMillis()) {
      HorizonReachedException horizon = new HorizonReachedException(layout);
      addOrphan(new Release(claim.token(), granted.now() - 1, List.of(granted.slot())));
      failed(horizon);
      if (everHeld) {
        dueIn(receivedAt, 60_000);
      } else {
        failStart(receivedAt, horizon);
      }
      return;
    }
    succeeded();
    seenRev = Math.max(seenRev, granted.rev());
    Grant won =
        new Grant(
            granted.slot(), claim.token(), claim.nonce(), granted.now(), granted.until(), window);
    grant = won;
    renewedAt = receivedAt;
    quarantineTold = false;
    search = new SlotSearch(range, random);
    if (!generator.open(window)) {
      return; // closed meanwhile; the message that says so is in the mailbox or about to be
    }
    dueIn(receivedAt, jitteredHeartbeat());
    change(LeaseState.HELD, won.slot, everHeld ? "leased anew" : "leased");
    log.info(
        "Leased: namespace={} slot={} until={}",
        terms.namespace(),
        won.slot,
        Instant.ofEpochMilli(won.until));
    if (granted.trustedEmpty()) {
      log.warn(
          "trustEmptyRedis took an empty store for a new namespace: namespace={}; if processes still"
              + " mint on leases of before, ids can be duplicates; never use it in production",
          terms.namespace());
    }
    if (!everHeld) {
      everHeld = true;
      warnOfHorizon(granted.now());
      started.complete(null);
    }
  }

  private void warnOfHorizon(long now) {
    Instant horizon = layout.horizon();
    if (Instant.ofEpochMilli(now).plus(Duration.ofDays(365)).isAfter(horizon)) {
      log.warn(
          "The layout ends within a year: namespace={} horizon={} layout={}; plan the move to another"
              + " layout",
          terms.namespace(),
          horizon,
          layout);
    }
  }

  private void onQuarantined(Quarantined quarantined, long receivedAt) {
    seenRev = Math.max(seenRev, quarantined.rev());
    if (!quarantineTold) {
      quarantineTold = true;
      log.warn(
          "The store is empty, restarted or lost data, so leases granted before may still be in use:"
              + " namespace={} firstLeaseIn={}ms; if nobody mints here now, skip the wait with"
              + " createNamespace()",
          terms.namespace(),
          quarantined.waitMillis());
    }
    failed(
        new LeaseStoreException(
            LeaseStoreException.Reason.UNAVAILABLE,
            "an empty, restarted or failed-over store grants its first lease after the quarantine:"
                + " left="
                + quarantined.waitMillis()
                + "ms; wait, or create a new namespace with"
                + " createNamespace() if nobody mints here now",
            null));
    dueIn(receivedAt, quarantined.waitMillis() + random.nextInt(100));
  }

  private SnowflakeException startFailure() {
    SnowflakeException full = search.exhausted();
    SnowflakeException last = lastFailure;
    if (last != null) {
      return last;
    }
    if (full != null) {
      return full;
    }
    return new LeaseStoreException(
        LeaseStoreException.Reason.NO_REPLY,
        "a lease must be granted within acquireTimeout="
            + acquireTimeoutNanos / NANOS_PER_MILLI
            + "ms: the store has not answered; see whether it can be reached",
        null);
  }

  private void failStart(long now, SnowflakeException failure) {
    started.completeExceptionally(failure);
    generator.close();
    beginCloseAt(now, "start failed: " + failure.getMessage());
  }

  // ---- holding
  // -----------------------------------------------------------------------------------

  private void renew(long now) {
    Grant held = heldGrant();
    String newNonce = hex(64);
    Renewal renewal =
        new Renewal(
            held.token,
            held.slot,
            held.until,
            List.copyOf(held.nonces),
            newNonce,
            clock.estimateAt(now),
            seenRev,
            holder);
    ask(
        now,
        () -> store.renew(terms, renewal),
        (RenewReply reply, Question asked, long receivedAt) ->
            onRenewReply(held, newNonce, reply, asked, receivedAt),
        failure -> {
          if (!(failure instanceof LeaseStoreException f) || f.mayHaveRun()) {
            held.nonces.add(newNonce);
          }
          failed(failure);
          if (failures == 1) {
            log.warn(
                "A lease could not be renewed: namespace={} slot={} until={} cause={}; it is tried"
                    + " again until then, and ids go on meanwhile",
                terms.namespace(),
                held.slot,
                Instant.ofEpochMilli(held.until),
                failure.getMessage());
          }
        });
  }

  private void onRenewReply(
      Grant held, String newNonce, RenewReply reply, Question asked, long receivedAt) {
    observe(asked, receivedAt, reply.now());
    if (reply instanceof Renewed renewed) {
      if (failures > 0) {
        log.info(
            "Renewed again after {} failures: namespace={} slot={}",
            failures,
            terms.namespace(),
            held.slot);
      }
      succeeded();
      seenRev = Math.max(seenRev, renewed.rev());
      held.nonces.clear();
      held.nonces.add(newNonce);
      renewedAt = receivedAt;
      if (renewed.until() > held.until) {
        LeaseWindow longer = LeaseWindow.of(layout, held.slot, held.lo, renewed.until());
        generator.extend(held.window, longer);
        held.window = longer;
        held.until = renewed.until();
      }
      dueIn(receivedAt, jitteredHeartbeat());
      claimAfreshIfStoreWentBack(receivedAt);
    } else if (reply instanceof Lost lost) {
      seenRev = Math.max(seenRev, lost.rev());
      lose(receivedAt, "the store says the lease is gone: " + lost.reason(), false);
      log.warn(
          "The lease is gone: namespace={} slot={} reason={}; ids stop until a new slot is leased",
          terms.namespace(),
          held.slot,
          lost.reason());
    } else if (reply instanceof LayoutDiffers other) {
      LayoutMismatchException mismatch =
          new LayoutMismatchException(terms.namespace(), other.stored(), terms.layout());
      lose(receivedAt, "the namespace has another layout now", false);
      failed(mismatch);
      log.error("Ids stop: {}", mismatch.getMessage());
    } else if (reply instanceof Skewed) {
      retrySoon(receivedAt);
      claimAfreshIfStoreWentBack(receivedAt);
    }
  }

  /**
   * The store's clock went back by more than the protocol allows for: what it remembers of this
   * lease lies in its future, and it would refuse every renewal.
   */
  private void claimAfreshIfStoreWentBack(long receivedAt) {
    if (clock.leadAt(receivedAt) > terms.maxClockSkew()) {
      log.warn(
          "The store's clock went back: namespace={} by={}ms; a new slot is leased, and ids wait until"
              + " the clock has caught up",
          terms.namespace(),
          clock.leadAt(receivedAt));
      lose(receivedAt, "the store's clock went back", true);
    }
  }

  /** Ends the present lease: seals first, and only then may the slot be handed back. */
  private void lose(long now, String reason, boolean handBack) {
    generator.seal();
    Grant lost = heldGrant();
    grant = null;
    question = null;
    dueAt = now;
    if (handBack) {
      addOrphan(releaseOf(lost, generator.lastTick()));
    }
    change(LeaseState.ACQUIRING, lost.slot, reason);
  }

  private Release releaseOf(Grant lost, long lastTick) {
    // The last tick may belong to the slot before this one, or to no slot; the fence never lies
    // outside the grant.
    long endOfTick =
        lastTick > layout.maxTick()
            ? Long.MAX_VALUE
            : layout.epochMillis() + (lastTick + 1) * layout.tickMillis() - 1;
    long lastIssued = Math.min(lost.until, Math.max(lost.lo - 1, endOfTick));
    return new Release(lost.token, lastIssued, List.of(lost.slot));
  }

  // ---- suspended
  // ---------------------------------------------------------------------------------

  private void askForTime(long now) {
    ask(
        now,
        () -> store.time(terms),
        (Long storeTime, Question asked, long receivedAt) -> {
          succeeded();
          long expected = clock.estimateAt(receivedAt);
          long rtt = (receivedAt - asked.sentAt) / NANOS_PER_MILLI;
          long ahead = storeTime - expected;
          if (ahead > STEPPED_CLOCK_TOLERANCE_MILLIS
              || ahead < -STEPPED_CLOCK_TOLERANCE_MILLIS - rtt) {
            lose(receivedAt, "this process was frozen or copied", false);
            log.warn(
                "This process was frozen or copied: namespace={} store went on by {}ms more than"
                    + " nanoTime; its lease is dropped and a new slot leased",
                terms.namespace(),
                ahead);
            return;
          }
          Grant held = heldGrant();
          log.warn(
              "This host's wall clock was stepped: namespace={} slot={}; ids go on, as they do not"
                  + " depend on it",
              terms.namespace(),
              held.slot);
          if (generator.open(held.window)) {
            dueAt = receivedAt;
            change(LeaseState.HELD, held.slot, "only the wall clock was stepped");
          }
        },
        failure -> failed(failure));
  }

  // ---- closing
  // -----------------------------------------------------------------------------------

  private void beginClose(long lastTick, String reason) {
    if (state == LeaseState.CLOSED) {
      return;
    }
    Grant held = grant;
    if (held != null) {
      addOrphan(releaseOf(held, lastTick));
    }
    beginCloseAt(time.nanoTime(), reason);
  }

  private void beginCloseAt(long now, String reason) {
    Slot slot = slotOf(grant);
    change(LeaseState.CLOSED, slot, reason);
    grant = null;
    Question open = question;
    question = null;
    if (open != null) {
      // A claim under way may have been granted: its outcome is unknown, and its token is released.
      open.onUnknown.accept(dropped("the lease is being closed"));
    }
    closeDeadline = now + CLOSE_BUDGET_NANOS;
    started.completeExceptionally(
        new NoLeaseException(
            NoLeaseException.Reason.CLOSED, "an id needs an open Snowflake: it was closed", null));
  }

  private static LeaseStoreException dropped(String why) {
    return new LeaseStoreException(
        LeaseStoreException.Reason.NO_REPLY, "the answer was not waited for: " + why, null);
  }

  private void advanceClosed(long now) {
    if (terminated.isDone()) {
      return;
    }
    if (now - closeDeadline >= 0) {
      orphans.clear();
      question = null;
    }
    if (question == null && !orphans.isEmpty()) {
      releaseOrphan(now);
    }
    if (question == null && orphans.isEmpty()) {
      log.info("Closed: namespace={}", terms.namespace());
      terminated.complete(null);
    }
  }

  boolean isTerminated() {
    return terminated.isDone();
  }

  private void addOrphan(Release release) {
    long now = time.nanoTime();
    orphans.add(new Orphan(release, now, now + terms.leaseTtl() * NANOS_PER_MILLI));
  }

  private boolean hasOrphanDue(long now) {
    Orphan first = orphans.peekFirst();
    return first != null && now - first.notBefore >= 0;
  }

  private void releaseOrphan(long now) {
    Orphan orphan = orphans.removeFirst();
    if (now - orphan.dropAt >= 0) {
      return; // its lease has run out by itself
    }
    ask(
        now,
        () -> store.release(terms, orphan.release),
        (Boolean released, Question asked, long receivedAt) -> succeeded(),
        failure -> {
          if (state != LeaseState.CLOSED) {
            // Not at once: a claim or renewal goes first.
            orphans.add(new Orphan(orphan.release, now + MAX_SLEEP_NANOS, orphan.dropAt));
          }
          failed(failure);
        });
  }

  // ---- questions
  // ---------------------------------------------------------------------------------

  private <T> void ask(
      long now,
      Supplier<CompletionStage<T>> send,
      Answer<T> onAnswer,
      Consumer<SnowflakeException> onUnknown) {
    Question asked = new Question(now, onUnknown);
    question = asked;
    send.get()
        .whenComplete(
            (answer, error) -> {
              // On a thread of the store: note the time, and leave the rest to the lease thread.
              long receivedAt = time.nanoTime();
              post(() -> receive(asked, onAnswer, answer, error, receivedAt));
            });
  }

  private <T> void receive(
      Question asked,
      Answer<T> onAnswer,
      @Nullable T answer,
      @Nullable Throwable error,
      long receivedAt) {
    if (question != asked) {
      return; // given up
    }
    if (receivedAt - asked.sentAt > terms.commandTimeout() * NANOS_PER_MILLI) {
      return; // too late to say anything about now; poll() gives it up
    }
    if (answer == null || error != null) {
      question = null;
      asked.onUnknown.accept(asFailure(error));
      return;
    }
    // If taking the answer throws, the question stays open and its outcome becomes unknown.
    onAnswer.take(answer, asked, receivedAt);
    if (question == asked) {
      question = null;
    }
  }

  private static SnowflakeException asFailure(@Nullable Throwable error) {
    Throwable cause = error;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    if (cause instanceof SnowflakeException known) {
      return known;
    }
    return new LeaseStoreException(
        LeaseStoreException.Reason.OTHER, "the store failed: " + cause, cause);
  }

  private void failed(SnowflakeException failure) {
    failures++;
    lastFailure = failure;
    long now = time.nanoTime();
    retrySoon(now);
    boolean hopeless = failure instanceof LeaseStoreException f && f.needsOperator();
    if (!everHeld && state == LeaseState.ACQUIRING) {
      if (hopeless) {
        failStart(now, failure);
      } else if (failures == 1) {
        log.warn(
            "No lease yet: namespace={} cause={}; it is tried again for acquireTimeout={}ms",
            terms.namespace(),
            failure.getMessage(),
            acquireTimeoutNanos / NANOS_PER_MILLI);
      }
    }
  }

  private void succeeded() {
    failures = 0;
    lastFailure = null;
  }

  private void retrySoon(long now) {
    dueIn(now, random.nextInt(100, 500));
  }

  private void observe(Question asked, long receivedAt, long storeMillis) {
    clock.observe(asked.sentAt, receivedAt, storeMillis);
  }

  // ---- the rest
  // ----------------------------------------------------------------------------------

  private void change(LeaseState to, @Nullable Slot slot, String reason) {
    LeaseState from = state;
    state = to;
    events.add(new LeaseEvent(from, to, slot, reason));
  }

  private void tellListener() {
    for (LeaseEvent event = events.poll(); event != null; event = events.poll()) {
      try {
        listener.onChange(event);
      } catch (Throwable t) { // a listener's fault must not end renewals
        log.warn("A listener failed: event={}", event, t);
      }
    }
  }

  private SnowflakeStatus describe(long now) {
    Grant held = grant;
    return new SnowflakeStatus(
        state,
        slotOf(held),
        held == null ? null : Instant.ofEpochMilli(held.until),
        everHeld ? Duration.ofNanos(now - renewedAt) : null,
        clock.isObserved() ? Duration.ofMillis(time.wallMillis() - clock.estimateAt(now)) : null,
        failures,
        lastFailure,
        layout.horizon());
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

  private String causeText() {
    SnowflakeException last = lastFailure;
    return last == null ? "none" : String.valueOf(last.getMessage());
  }

  private long jitteredHeartbeat() {
    return Math.round(heartbeatMillis * (0.8 + 0.4 * random.nextDouble()));
  }

  private String hex(int bits) {
    StringBuilder text = new StringBuilder(bits / 4);
    for (int i = 0; i < bits; i += Long.SIZE) {
      text.append(HexFormat.of().toHexDigits(random.nextLong()));
    }
    return text.toString();
  }
}
