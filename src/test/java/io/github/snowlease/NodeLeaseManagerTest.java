package io.github.snowlease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.snowlease.LeaseStore.Claim;
import io.github.snowlease.LeaseStore.ClaimReply;
import io.github.snowlease.LeaseStore.Full;
import io.github.snowlease.LeaseStore.Granted;
import io.github.snowlease.LeaseStore.Holder;
import io.github.snowlease.LeaseStore.LayoutDiffers;
import io.github.snowlease.LeaseStore.LedgerEntry;
import io.github.snowlease.LeaseStore.LossReason;
import io.github.snowlease.LeaseStore.Lost;
import io.github.snowlease.LeaseStore.Quarantined;
import io.github.snowlease.LeaseStore.Release;
import io.github.snowlease.LeaseStore.RenewReply;
import io.github.snowlease.LeaseStore.Renewal;
import io.github.snowlease.LeaseStore.Renewed;
import io.github.snowlease.LeaseStore.Skewed;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Drives the manager by hand: a clock that moves when told, a store that answers when told. */
class NodeLeaseManagerTest {
  private static final long EPOCH = BitLayout.standard().epochMillis();
  private static final long NANOS = 1_000_000;
  private static final long WINDOW = 25_000;
  private static final Holder HERE = new Holder("host", 1, "app", 0, "test");

  private final HandTime time = new HandTime();
  private final HandStore store = new HandStore();
  private final List<LeaseEvent> events = new ArrayList<>();
  private LeaseListener listener = events::add;
  private final BitLayout layout = BitLayout.standard();
  private final IdClock clock = new IdClock(time, EPOCH, 1);
  private final SnowflakeGenerator generator =
      new SnowflakeGenerator(
          layout, clock, time, 0, (reason, waited) -> new NoLeaseException(reason, "none", null));
  private SlotRange range = SlotRange.of(layout, null, null);
  private @Nullable NodeLeaseManager lazyManager;
  private long lastUntil;

  // ---- Acquiring

  @Test
  void firstLeaseCostsOneClaimOfSixteenCandidatesAndNoRead() {
    poll();

    Claim claim = store.theClaim();
    assertThat(claim.candidates()).hasSize(16).doesNotHaveDuplicates();
    assertThat(claim.estimate()).isEqualTo(-1);
    assertThat(claim.wallClock()).isEqualTo(time.wall);
    assertThat(store.ledgerReads).isEmpty();

    grant(claim);

    assertThat(manager().started()).isCompleted();
    assertThat(events).hasToString("[ACQUIRING -> HELD slot=" + slot(claim) + ": leased]");
    assertThat(layout.parse(generator.nextId()).slot()).isEqualTo(slot(claim));
    assertThat(store.questions).isEqualTo(1);
  }

  @Test
  void statusTellsOfTheLeaseByTheTimeTheStartReturns() {
    List<SnowflakeStatus> seen = new ArrayList<>();
    // Runs where start() goes on, at the earliest moment it can.
    var unused = manager().started().thenRun(() -> seen.add(manager().status()));
    Claim claim = leaseNow();

    assertThat(seen).hasSize(1);
    assertThat(seen.get(0).isReady()).isTrue();
    assertThat(seen.get(0).slot()).contains(slot(claim));
  }

  @Test
  void statusTellsOfTheEndByTheTimeCloseReturns() {
    List<LeaseState> seen = new ArrayList<>();
    var unused = manager().terminated().thenRun(() -> seen.add(manager().status().state()));
    manager().close(generator.close());
    poll();

    assertThat(seen).containsExactly(LeaseState.CLOSED);
  }

  @Test
  void everyClaimCarriesAFreshTokenAndNonce() {
    Set<String> tokens = new HashSet<>();
    for (int i = 0; i < 20; i++) {
      poll();
      Claim claim = store.theClaim();
      assertThat(claim.token()).matches("[0-9a-f]{32}");
      assertThat(claim.nonce()).matches("[0-9a-f]{16}");
      assertThat(tokens.add(claim.token())).isTrue();
      store.answer(new Skewed(storeNow()));
      poll();
      time.advance(1_000);
    }
  }

  @Test
  void fullCandidatesLeadToOneReadThenToClaimsOfFreeSlotsOnly() {
    poll();
    store.answer(new Full(storeNow(), 500, 1, ""));
    poll();
    assertThat(store.ledgerReads).hasSize(1);
    Map<Slot, LedgerEntry> ledger = new java.util.HashMap<>();
    for (int node = 0; node < 32; node++) {
      for (int cluster = 0; cluster < 32; cluster++) {
        ledger.put(new Slot(cluster, node), new LedgerEntry(storeNow() + 10_000, true, true));
      }
    }
    ledger.remove(new Slot(3, 4));
    ledger.put(new Slot(5, 6), new LedgerEntry(storeNow() - 1, false, true));
    ledger.put(new Slot(7, 8), new LedgerEntry(0, false, false)); // damaged: never free
    store.answerLedger(ledger);
    poll();

    assertThat(store.theClaim().candidates())
        .containsExactlyInAnyOrder(new Slot(3, 4), new Slot(5, 6));
  }

  @Test
  void fullNamespaceFailsTheStartAfterAcquireTimeoutWithTheCounts() {
    range = SlotRange.of(layout, 1, null);
    Map<Slot, LedgerEntry> ledger = new java.util.HashMap<>();
    range.all().forEach(s -> ledger.put(s, new LedgerEntry(storeNow() + 100_000, true, true)));
    ledger.put(new Slot(1, 0), new LedgerEntry(0, true, false));
    long end = time.nano + 60_000 * NANOS;
    int reads = 0;
    while (!manager().started().isDone()) {
      long wakeAt = poll();
      if (store.open instanceof Claim) {
        store.answer(new Full(storeNow(), 500, 1, ""));
      } else if (store.openLedger != null) {
        reads++;
        store.answerLedger(ledger);
      } else {
        time.advanceTo(wakeAt);
      }
    }

    Throwable failure = catchThrowable(() -> manager().started().join()).getCause();
    assertThat(failure)
        .isInstanceOf(NoFreeNodeException.class)
        .hasMessageContaining("slots=32 held=31 unusable=1 nextFreeIn=");
    assertThat(((NoFreeNodeException) failure).retryAfter()).isPresent();
    assertThat(time.nano - end).isBetween(0L, 1_000 * NANOS);
    assertThat(reads).as("the backoff is bounded above and below").isBetween(30, 120);
  }

  @Test
  void pinnedSlotWithALiveHolderIsGivenUpOnceThatHasRenewedTwice() {
    range = SlotRange.of(layout, 3, 7);
    String holder = "{\"token\":\"secret\",\"host\":\"web-1\",\"pid\":42}";
    long begin = time.nano;
    while (!manager().started().isDone()) {
      long wakeAt = poll();
      if (store.open instanceof Claim claim) {
        assertThat(claim.candidates()).containsExactly(new Slot(3, 7));
        long beat = (time.nano - begin) / (3_000 * NANOS);
        long freeAt = EPOCH + 1_000_000 + beat * 3_000 + 30_000;
        store.answer(new Full(storeNow(), freeAt - storeNow(), 1, holder));
      } else {
        time.advanceTo(wakeAt);
      }
    }

    assertThat(catchThrowable(() -> manager().started().join()).getCause())
        .isInstanceOf(SlotTakenException.class)
        .hasMessageContaining("slot=3:7")
        .hasMessageContaining("\"host\":\"web-1\"")
        .hasMessageNotContaining("secret");
    assertThat(time.nano - begin).isBetween(6_000 * NANOS, 9_000 * NANOS);
  }

  @Test
  void pinnedSlotOfADeadHolderIsWaitedFor() {
    range = SlotRange.of(layout, 3, 7);
    long freeAt = storeNow() + 30_000;
    while (!manager().started().isDone()) {
      long wakeAt = poll();
      if (store.open instanceof Claim claim) {
        if (storeNow() >= freeAt) {
          store.answer(granted(claim));
        } else {
          store.answer(new Full(storeNow(), freeAt - storeNow(), 1, "{\"token\":\"x\",\"pid\":1}"));
        }
      } else {
        time.advanceTo(wakeAt);
      }
    }
    assertThat(manager().started()).isCompleted();
  }

  @Test
  void anotherLayoutFailsTheStartAtOnce() {
    poll();
    store.answer(new LayoutDiffers(storeNow(), "epoch=0,tick=1,bits=41/5/5/12"));
    poll();
    assertThat(catchThrowable(() -> manager().started().join()).getCause())
        .isInstanceOf(LayoutMismatchException.class)
        .hasMessageContaining("stored=epoch=0,tick=1,bits=41/5/5/12 own=" + layout);
    poll();
    assertThat(manager().isTerminated()).isTrue();
  }

  @Test
  void grantBeforeTheEpochOrBeyondTheHorizonFailsTheStartAtOnceAndIsHandedBack() {
    store.offset = EPOCH - time.real - 3_600_000;
    poll();
    Claim claim = store.theClaim();
    store.answer(granted(claim));
    poll();
    assertThat(catchThrowable(() -> manager().started().join()).getCause())
        .isInstanceOf(SnowflakeException.class)
        .hasMessageContaining("use an epoch in the past");
    assertThat(store.theRelease().token()).isEqualTo(claim.token());

    lazyManager = null;
    store.offset = layout.horizon().toEpochMilli() + 1 - time.real;
    poll();
    store.answer(granted(store.theClaim()));
    poll();
    assertThat(catchThrowable(() -> manager().started().join()).getCause())
        .isInstanceOf(HorizonReachedException.class);
  }

  @Test
  void wrongClockFailsTheStartAfterAcquireTimeoutNamingBothClocks() {
    while (!manager().started().isDone()) {
      long wakeAt = poll();
      if (store.open instanceof Claim) {
        store.answer(new Skewed(storeNow() + 60_000));
      } else {
        time.advanceTo(wakeAt);
      }
    }
    assertThat(catchThrowable(() -> manager().started().join()).getCause())
        .isInstanceOf(ClockSkewException.class)
        .hasMessageContaining("difference=-60000ms");
  }

  @Test
  void quarantineIsWaitedOutAndOnlyThenClaimedAgain() {
    poll();
    store.answer(new Quarantined(storeNow(), 40_000, 1));
    long wakeAt = poll();
    for (int i = 0; i < 39; i++) {
      time.advance(1_000);
      poll();
    }
    assertThat(store.claims).hasSize(1);
    assertThat(wakeAt).isNotEqualTo(time.nano);
    time.advance(1_200);
    poll();
    assertThat(store.claims).hasSize(2);
  }

  @Test
  void failureThatAnOperatorMustMendFailsTheStartAtOnceAndOthersAreRetried() {
    poll();
    store.fail(new LeaseStoreException(LeaseStoreException.Reason.UNREACHABLE, "refused", null));
    poll();
    assertThat(manager().started()).isNotDone();
    time.advance(600);
    poll();
    store.fail(new LeaseStoreException(LeaseStoreException.Reason.DENIED, "NOPERM evalsha", null));
    poll();
    assertThatThrownBy(() -> manager().started().join()).hasMessageContaining("NOPERM evalsha");
  }

  @Test
  void unreachableStoreFailsTheStartAfterAcquireTimeoutWithItsReason() {
    while (!manager().started().isDone()) {
      long wakeAt = poll();
      if (store.open != null) {
        store.fail(
            new LeaseStoreException(LeaseStoreException.Reason.UNREACHABLE, "refused", null));
      } else {
        time.advanceTo(wakeAt);
      }
    }
    assertThat(catchThrowable(() -> manager().started().join()).getCause())
        .isInstanceOf(LeaseStoreException.class)
        .hasMessage("refused");
  }

  @Test
  void claimWithoutAnswerIsReleasedUnderItsTokenBeforeTheNextClaim() {
    poll();
    Claim unknown = store.theClaim();
    time.advance(4_100);
    poll(); // gives up
    time.advance(600);
    poll();

    Release release = store.theRelease();
    assertThat(release)
        .isEqualTo(new Release(unknown.token(), Release.UNKNOWN_GRANT, unknown.candidates()));
    store.answer(true);
    poll();
    assertThat(store.theClaim().token()).isNotEqualTo(unknown.token());

    store.answerOldest(granted(unknown)); // comes late: it was given up, and opens nothing
    poll();
    assertThat(manager().started()).isNotDone();
  }

  @Test
  void claimThatWasNeverSentIsNotReleasedEvenIfTheStoreSaysSoALittleLate() {
    poll();
    time.advance(3_900); // the store ends each question in time, but this machine is busy
    poll();
    store.fail(new LeaseStoreException(LeaseStoreException.Reason.UNREACHABLE, "refused", null));
    poll();
    time.advance(600);
    poll();

    assertThat(store.releases).isEmpty();
    assertThat(store.claims).hasSize(2);
  }

  @Test
  void grantThatComesALittleLateIsReleasedAtOnce() {
    poll();
    Claim claim = store.theClaim();
    time.advance(2_050);
    store.answer(granted(claim));
    poll();
    time.advance(600);
    poll();

    assertThat(manager().started()).isNotDone();
    assertThat(store.theRelease())
        .isEqualTo(new Release(claim.token(), Release.UNKNOWN_GRANT, claim.candidates()));
  }

  @Test
  void releaseThatFailsDoesNotHoldUpTheNextClaim() {
    poll();
    time.advance(4_100);
    poll();
    time.advance(600);
    poll();
    store.fail(new LeaseStoreException(LeaseStoreException.Reason.NO_REPLY, "timeout", null));
    poll();
    time.advance(600);
    poll();
    assertThat(store.open).isInstanceOf(Claim.class);
  }

  // ---- Holding

  @Test
  void heartbeatComesAfterItsIntervalWithJitterAndExtendsTheWindow() {
    Set<Long> pauses = new HashSet<>();
    leaseNow();
    for (int i = 0; i < 20; i++) {
      long before = time.nano;
      runUntilAsked();
      long pause = (time.nano - before) / NANOS;
      assertThat(pause).isBetween(2_400L, 3_600L);
      pauses.add(pause);
      assertThat(store.theRenewal().until()).isEqualTo(lastUntil);
      renewNow();
      assertThat(manager().status().windowEnd().orElseThrow().toEpochMilli()).isEqualTo(lastUntil);
    }
    assertThat(pauses).hasSizeGreaterThan(10);
  }

  @Test
  void renewalsOfUnknownOutcomeAreAllPresented() {
    Claim claim = leaseNow();
    runUntilAsked();
    Renewal first = store.theRenewal();
    assertThat(first.nonces()).containsExactly(claim.nonce());
    store.leaveUnanswered();
    time.advance(2_300);
    poll();
    runUntilAsked();
    Renewal second = store.theRenewal();
    assertThat(second.nonces()).containsExactly(claim.nonce(), first.newNonce());
    store.fail(new LeaseStoreException(LeaseStoreException.Reason.NO_REPLY, "cut", null));
    runUntilAsked();
    Renewal third = store.theRenewal();
    assertThat(third.nonces()).containsExactly(claim.nonce(), first.newNonce(), second.newNonce());
    renewNow();
    assertThat(manager().status().state()).isEqualTo(LeaseState.HELD);
  }

  @Test
  void acknowledgedNoncesOfTheLastEightRenewalsArePresentedAsAFailoverMayBringThemBack() {
    List<String> own = new ArrayList<>(List.of(leaseNow().nonce()));
    for (int i = 0; i < 20; i++) {
      runUntilAsked();
      int oldest = Math.max(0, own.size() - 8);
      assertThat(store.theRenewal().nonces()).isEqualTo(own.subList(oldest, own.size()));
      own.add(store.theRenewal().newNonce());
      renewNow();
    }
  }

  @Test
  void renewalThatWasNeverSentAddsNoNonce() {
    Claim claim = leaseNow();
    for (int i = 0; i < 500; i++) {
      runUntilAsked();
      if (!(store.open instanceof Renewal)) {
        break;
      }
      assertThat(store.theRenewal().nonces()).containsExactly(claim.nonce());
      store.fail(new LeaseStoreException(LeaseStoreException.Reason.UNREACHABLE, "refused", null));
      poll();
    }
    assertThat(events.get(events.size() - 1).reason()).contains("window ended");
  }

  @Test
  void answerThatComesTooLateExtendsNothing() {
    leaseNow();
    runUntilAsked();
    long before = manager().status().windowEnd().orElseThrow().toEpochMilli();
    time.advance(2_001);
    store.answer(new Renewed(storeNow(), until(), 2));
    poll();
    assertThat(manager().status().windowEnd().orElseThrow().toEpochMilli()).isEqualTo(before);
    assertThat(manager().status().failures()).isEqualTo(1);
  }

  @Test
  void lostLeaseSealsAndAnotherSlotIsClaimedByItself() {
    leaseNow();
    long last = generator.nextId();
    runUntilAsked();
    store.answer(new Lost(storeNow(), LossReason.OWNER, 9));
    poll();
    assertThatThrownBy(generator::nextId)
        .isInstanceOfSatisfying(
            NoLeaseException.class,
            e -> assertThat(e.reason()).isEqualTo(NoLeaseException.Reason.LOST));
    Claim again = store.theClaim();
    assertThat(again.seenRev()).isEqualTo(9);
    grant(again);
    assertThat(generator.nextId()).isGreaterThan(last);
    assertThat(events)
        .extracting(LeaseEvent::to)
        .containsExactly(LeaseState.HELD, LeaseState.ACQUIRING, LeaseState.HELD);
    assertThat(store.releases).as("what is lost is not ours to release").isEmpty();
  }

  @Test
  void windowThatEndsUnrenewedIsSealedThenReleasedAtTheLastIdAndASlotClaimedAfresh() {
    Claim claim = leaseNow();
    generator.nextId();
    time.advance(500);
    long lastMillis = layout.parse(generator.nextId()).timestamp().toEpochMilli();
    while (manager().status().state() == LeaseState.HELD) {
      long wakeAt = poll();
      if (store.open instanceof Renewal) {
        store.fail(
            new LeaseStoreException(LeaseStoreException.Reason.UNREACHABLE, "refused", null));
      } else {
        time.advanceTo(wakeAt);
      }
    }
    assertThatThrownBy(generator::nextId).isInstanceOf(NoLeaseException.class);
    assertThat(store.theRelease())
        .isEqualTo(new Release(claim.token(), lastMillis, List.of(slot(claim))));
    store.answer(true);
    poll();
    assertThat(store.theClaim().token()).isNotEqualTo(claim.token());
  }

  @Test
  void layoutThatChangedUnderARunningHolderSealsAndGoesOnTrying() {
    leaseNow();
    runUntilAsked();
    store.answer(new LayoutDiffers(storeNow(), "another"));
    poll();
    assertThatThrownBy(generator::nextId).isInstanceOf(NoLeaseException.class);
    for (int i = 0; i < 3; i++) {
      runUntilAsked();
      assertThat(store.open).isInstanceOf(Claim.class);
      store.answer(new LayoutDiffers(storeNow(), "another"));
      poll();
    }
    runUntilAsked();
    grant(store.theClaim());
    assertThat(generator.nextId()).isPositive();
  }

  @Test
  void storeClockThatGoesBackByMoreThanTheSkewKeepsTheLeaseAndAsksOnceAHeartbeat() {
    Claim claim = leaseNow();
    runUntilAsked();
    store.offset = -60_000;
    store.answer(new Skewed(storeNow()));
    poll();
    long first = generator.nextId();
    for (int refused = 0; refused < 5; refused++) {
      long answered = time.nano;
      runUntilAsked();
      assertThat(time.nano - answered).isBetween(2_400 * NANOS, 3_600 * NANOS);
      assertThat(store.theRenewal().token()).isEqualTo(claim.token());
      store.answer(new Skewed(storeNow()));
      poll();
    }
    assertThat(generator.nextId()).isGreaterThan(first);
    assertThat(manager().status().state()).isEqualTo(LeaseState.HELD);
    assertThat(store.claims).hasSize(1);
    assertThat(store.releases).isEmpty();
  }

  @Test
  void storeClockThatGoesBackALittleIsFollowedAtHalfSpeedWithoutLosingTheLease() {
    leaseNow();
    runUntilAsked();
    long before = layout.parse(generator.nextId()).timestamp().toEpochMilli();
    store.offset = -2_000;
    renewNow();
    time.advance(1_000);
    long after = layout.parse(generator.nextId()).timestamp().toEpochMilli();
    assertThat(after - before).isBetween(490L, 510L);
    assertThat(manager().status().state()).isEqualTo(LeaseState.HELD);
  }

  // ---- The exit of the JVM

  @Test
  void exitHandsTheSlotBackFencedAtTheEndOfTheGraceAndMintsUpToThere() {
    Claim claim = leaseNow();
    long last = generator.nextId();
    manager().drain(10_000);
    poll();
    long fence = storeNow() + 10_000;
    assertThat(store.theRelease().token()).isEqualTo(claim.token());
    assertThat(store.theRelease().lastIssued()).isBetween(fence - 1, fence);
    store.answer(true);
    poll();
    assertThat(manager().terminated()).isDone();
    assertThat(manager().status().isReady()).isFalse();
    for (int tenth = 0; tenth < 99; tenth++) {
      time.advance(100);
      poll();
    }
    assertThat(generator.nextId()).isGreaterThan(last);
    assertThat(manager().isTerminated()).isFalse();
    time.advance(101);
    poll();
    assertThatThrownBy(generator::nextId).isInstanceOf(NoLeaseException.class);
    assertThat(manager().isTerminated()).isTrue();
    assertThat(store.renewals).isEmpty();
  }

  @Test
  void exitNeverLengthensAWindow() {
    leaseNow();
    long until = lastUntil;
    manager().drain(3_600_000);
    poll();
    assertThat(store.theRelease().lastIssued()).isEqualTo(until);
    time.advance(WINDOW + 1);
    assertThatThrownBy(generator::nextId).isInstanceOf(NoLeaseException.class);
  }

  @Test
  void answerToARenewalThatWasOnItsWayAtTheExitLengthensNothing() {
    leaseNow();
    runUntilAsked();
    CompletableFuture<Object> renewal = future(store.openFuture);
    manager().drain(1_000);
    poll();
    renewal.complete(new Renewed(storeNow(), storeNow() + 60_000, 2));
    poll();
    time.advance(1_001);
    poll();
    assertThatThrownBy(generator::nextId).isInstanceOf(NoLeaseException.class);
  }

  @SuppressWarnings("unchecked") // the test answers what was asked
  private static CompletableFuture<Object> future(Object question) {
    return (CompletableFuture<Object>) question;
  }

  @Test
  void exitWithoutALeaseEndsAtOnce() {
    poll();
    manager().drain(10_000);
    poll();
    assertThat(manager().status().state()).isEqualTo(LeaseState.CLOSED);
    assertThatThrownBy(generator::nextId).isInstanceOf(NoLeaseException.class);
  }

  // ---- Stalls

  @Test
  void threadThatWakesLateAbandonsTheLeaseWithoutRenewingOrReleasing() {
    leaseNow();
    runUntilAsked();
    Renewal inFlight = store.theRenewal();
    store.answer(new Renewed(storeNow(), until(), 2));
    time.advance(7_000);
    poll();
    assertThat(manager().status().state()).isEqualTo(LeaseState.ACQUIRING);
    assertThatThrownBy(generator::nextId).isInstanceOf(NoLeaseException.class);
    assertThat(store.theClaim().token()).isNotEqualTo(inFlight.token());
    assertThat(store.releases).isEmpty();
  }

  @Test
  void wallClockStepHoldsMintingUntilTheStoreSaysThatNothingWasFrozen() {
    leaseNow();
    long last = generator.nextId();
    time.advance(500);
    poll();
    time.wall += 3_600_000;
    time.advance(100);
    poll();
    assertThat(manager().status().state()).isEqualTo(LeaseState.SUSPENDED);
    assertThatThrownBy(generator::nextId).isInstanceOf(NoLeaseException.class);
    store.answerTime(storeNow());
    poll();
    assertThat(manager().status().state()).isEqualTo(LeaseState.HELD);
    assertThat(generator.nextId()).isGreaterThan(last);
    assertThat(store.claims).hasSize(1);
  }

  @Test
  void machineThatWasFrozenAbandonsItsLease() {
    leaseNow();
    time.advance(500);
    poll();
    // nanoTime stood still for a minute, the wall clock was set right on waking.
    time.wall += 60_000;
    store.offset += 60_000;
    time.advance(100);
    poll();
    store.answerTime(storeNow());
    poll();
    assertThat(manager().status().state()).isEqualTo(LeaseState.ACQUIRING);
    assertThat(events.get(events.size() - 1).reason()).contains("frozen or copied");
    assertThat(store.releases).isEmpty();
  }

  // ---- Closing and faults

  @Test
  void closeReleasesTheSlotAtTheLastIdAndTerminates() {
    Claim claim = leaseNow();
    time.advance(10);
    long lastMillis = layout.parse(generator.nextId()).timestamp().toEpochMilli();
    manager().close(generator.close());
    poll();
    assertThat(store.theRelease())
        .isEqualTo(new Release(claim.token(), lastMillis, List.of(slot(claim))));
    assertThat(manager().isTerminated()).isFalse();
    store.answer(true);
    poll();
    assertThat(manager().isTerminated()).isTrue();
    assertThat(manager().status().state()).isEqualTo(LeaseState.CLOSED);
  }

  @Test
  void closeBeforeAnyIdReleasesJustBelowTheWindow() {
    poll();
    Claim claim = store.theClaim();
    long lo = storeNow();
    grant(claim);
    manager().close(generator.close());
    poll();
    assertThat(store.theRelease().lastIssued()).isEqualTo(lo - 1);
  }

  @Test
  void closeWithAHungStoreTerminatesWithinItsBudget() {
    leaseNow();
    manager().close(generator.close());
    poll();
    time.advance(1_001);
    poll();
    assertThat(manager().isTerminated()).isTrue();
  }

  @Test
  void closeDuringAClaimReleasesItsToken() {
    poll();
    Claim claim = store.theClaim();
    manager().close(generator.close());
    poll();
    assertThat(store.theRelease())
        .isEqualTo(new Release(claim.token(), Release.UNKNOWN_GRANT, claim.candidates()));
    assertThatThrownBy(() -> manager().started().join()).hasCauseInstanceOf(NoLeaseException.class);
  }

  @Test
  void storeThatThrowsWhateverItMayLeavesALeaseThatIsRenewedLater() {
    leaseNow();
    for (Throwable fault :
        List.of(
            new IllegalStateException("a fault"),
            new OutOfMemoryError("heap"),
            new StackOverflowError())) {
      store.throwOnce = fault;
      long nonces = store.renewals.size();
      Throwable thrown = null;
      while (thrown == null) {
        thrown = catchThrowable(() -> time.advanceTo(poll()));
      }
      assertThat(thrown).isSameAs(fault);
      time.advance(2_300); // as if unanswered
      poll();
      runUntilAsked();
      assertThat(store.renewals.size()).isGreaterThan((int) nonces);
      renewNow();
      assertThat(manager().status().state()).isEqualTo(LeaseState.HELD);
    }
  }

  @Test
  void listenerThatThrowsHarmsNothing() {
    listener =
        event -> {
          events.add(event);
          throw new IllegalStateException("listener");
        };
    leaseNow();
    runUntilAsked();
    renewNow();
    assertThat(events).hasSize(1);
    assertThat(manager().status().state()).isEqualTo(LeaseState.HELD);
  }

  // ---- Checkpoint

  @Test
  void checkpointSealsReleasesTheSlotAtTheLastIdAndThenAsksNothingMore() {
    Claim claim = leaseNow();
    time.advance(10);
    long lastMillis = layout.parse(generator.nextId()).timestamp().toEpochMilli();
    CompletableFuture<Void> suspended = manager().suspend();
    poll();
    assertThatThrownBy(generator::nextId).isInstanceOf(NoLeaseException.class);
    assertThat(store.theRelease())
        .isEqualTo(new Release(claim.token(), lastMillis, List.of(slot(claim))));
    assertThat(suspended).isNotDone();

    store.answer(true);
    poll();

    assertThat(suspended).isCompleted();
    assertThat(manager().status().slot()).isEmpty();
    int questions = store.questions;
    for (int i = 0; i < 100; i++) {
      long before = time.nano;
      time.advanceTo(poll());
      assertThat(time.nano - before).as("it sleeps").isPositive();
    }
    assertThat(store.questions).isEqualTo(questions);
    assertThatThrownBy(generator::nextId).isInstanceOf(NoLeaseException.class);
  }

  @Test
  void restoreClaimsAnewAndBringsNothingOfBefore() {
    Claim before = leaseNow();
    runUntilAsked();
    renewNow(); // so that a revision was seen
    long last = generator.nextId();
    suspendNow();

    time.advance(3_600_000);
    store.offset = 7_000; // another store, for all it knows
    Holder here = new Holder("elsewhere", 2, "app", 1, "test");
    // Randomness comes from what is handed in alone: the seed of before gives the token of before.
    manager().resume(new Random(42), here);
    poll();

    Claim claim = store.theClaim();
    assertThat(claim.token()).isEqualTo(before.token());
    assertThat(claim.estimate()).isEqualTo(-1);
    assertThat(claim.seenRev()).isZero();
    assertThat(claim.holder()).isEqualTo(here);
    grant(claim);
    assertThat(generator.nextId()).isGreaterThan(last);
    assertThat(events)
        .extracting(LeaseEvent::to)
        .containsExactly(LeaseState.HELD, LeaseState.ACQUIRING, LeaseState.HELD);
  }

  @Test
  void restoreNeverClaimsWithATokenOfBefore() {
    Claim before = leaseNow();
    suspendNow();
    manager().resume(new Random(7), HERE);
    poll();
    assertThat(store.theClaim().token()).isNotEqualTo(before.token());
    assertThat(store.theClaim().nonce()).isNotEqualTo(before.nonce());
  }

  @Test
  void restoreOnAMachineWhoseClocksHaveNothingToDoWithTheOldOnesMintsAtOnce() {
    leaseNow();
    generator.nextId();
    suspendNow();
    time.nano += 400 * 24 * 3_600_000L * NANOS; // up for longer, and its clock an hour later
    time.wall += 3_600_000;
    time.real += 3_600_000;
    poll();
    manager().resume(new Random(7), HERE);
    poll();
    grant(store.theClaim());
    assertThat(layout.parse(generator.nextId()).timestamp().toEpochMilli())
        .isBetween(storeNow() - 2, storeNow());
  }

  @Test
  void checkpointDuringTheFirstClaimReleasesItsTokenAndTheStartEndsAfterTheRestore() {
    poll();
    Claim claim = store.theClaim();
    CompletableFuture<Void> suspended = manager().suspend();
    poll();
    assertThat(store.theRelease())
        .isEqualTo(new Release(claim.token(), Release.UNKNOWN_GRANT, claim.candidates()));
    store.answer(true);
    store.answerOldest(granted(claim)); // comes late, and opens nothing
    poll();
    assertThat(suspended).isCompleted();
    assertThatThrownBy(generator::nextId).isInstanceOf(NoLeaseException.class);

    time.advance(3_600_000); // does not count for acquireTimeout
    poll();
    assertThat(manager().started()).isNotDone();
    manager().resume(new Random(7), HERE);
    poll();
    grant(store.theClaim());
    assertThat(manager().started()).isCompleted();
  }

  @Test
  void checkpointWithAHungStoreForgetsTheTokenWithinItsBudget() {
    leaseNow();
    CompletableFuture<Void> suspended = manager().suspend();
    poll();
    time.advance(1_001);
    poll();
    assertThat(suspended).isCompleted();
    manager().resume(new Random(7), HERE);
    poll();
    store.fail(new LeaseStoreException(LeaseStoreException.Reason.UNREACHABLE, "refused", null));
    runUntilAsked();
    assertThat(store.open).as("never again the release of before").isInstanceOf(Claim.class);
  }

  @Test
  void checkpointWithoutAStoreDoesNotSpin() {
    leaseNow();
    CompletableFuture<Void> suspended = manager().suspend();
    poll();
    store.fail(new LeaseStoreException(LeaseStoreException.Reason.UNREACHABLE, "refused", null));
    poll();
    assertThat(suspended).isCompleted();
    assertThat(store.releases).hasSize(1);
  }

  @Test
  void checkpointOfAProcessThatMayBeACopyHandsNothingBack() {
    leaseNow();
    poll();
    time.wall += 60_000;
    poll();
    assertThat(manager().status().state()).isEqualTo(LeaseState.SUSPENDED);
    CompletableFuture<Void> suspended = manager().suspend();
    poll();
    assertThat(suspended).isCompleted();
    assertThat(store.releases).isEmpty();
  }

  @Test
  void secondCheckpointHookEndsWithTheFirst() {
    leaseNow();
    CompletableFuture<Void> first = manager().suspend();
    CompletableFuture<Void> second = manager().suspend();
    poll();
    assertThat(second).isNotDone();
    store.answer(true);
    poll();
    assertThat(first).isCompleted();
    assertThat(second).isCompleted();
    assertThat(store.releases).hasSize(1);
  }

  @Test
  void checkpointDuringCloseEndsWithTheCloseAndTheRestoreClaimsNothing() {
    leaseNow();
    manager().close(generator.close());
    poll();
    CompletableFuture<Void> suspended = manager().suspend();
    poll();
    assertThat(suspended).isNotDone();
    store.answer(true);
    poll();
    assertThat(suspended).isCompleted();
    assertThat(manager().suspend()).as("after the close").isCompleted();
    manager().resume(new Random(7), HERE);
    poll();
    assertThat(store.open).isNull();
    assertThat(manager().status().state()).isEqualTo(LeaseState.CLOSED);
  }

  @Test
  void closeBetweenCheckpointAndRestoreIsForGood() {
    leaseNow();
    suspendNow();
    manager().close(generator.close());
    poll();
    assertThat(manager().isTerminated()).isTrue();
    manager().resume(new Random(7), HERE);
    poll();
    assertThat(store.open).isNull();
  }

  @Test
  void restoreWithoutACheckpointChangesNothing() {
    leaseNow();
    manager().resume(new Random(7), HERE);
    poll();
    assertThat(manager().status().state()).isEqualTo(LeaseState.HELD);
    assertThat(generator.nextId()).isPositive();
  }

  // ---- Fixture

  private void suspendNow() {
    CompletableFuture<Void> suspended = manager().suspend();
    poll();
    if (store.open instanceof Release) {
      store.answer(true);
      poll();
    }
    assertThat(suspended).isCompleted();
  }

  private NodeLeaseManager manager() {
    NodeLeaseManager present = lazyManager;
    if (present == null) {
      LeaseTerms terms =
          new LeaseTerms("orders", layout.toString(), 30_000, 5_000, 0, 2_000, false);
      present =
          new NodeLeaseManager(
              store,
              terms,
              layout,
              range,
              new LeaseTimings(3_000, 60_000, 1_000),
              time,
              new Random(42),
              clock,
              generator,
              HERE,
              event -> listener.onChange(event));
      lazyManager = present;
    }
    return present;
  }

  private long poll() {
    long wakeAt = manager().poll();
    while (wakeAt == time.nano) { // mail
      wakeAt = manager().poll();
    }
    return wakeAt;
  }

  private void runUntilAsked() {
    long wakeAt = poll();
    for (int i = 0; store.open == null; i++) {
      assertThat(i).isLessThan(10_000);
      time.advanceTo(wakeAt);
      wakeAt = poll();
    }
  }

  private Claim leaseNow() {
    poll();
    Claim claim = store.theClaim();
    grant(claim);
    return claim;
  }

  private void grant(Claim claim) {
    store.answer(granted(claim));
    poll();
    time.advance(1);
  }

  private void renewNow() {
    store.answer(new Renewed(storeNow(), until(), 2));
    poll();
  }

  private Granted granted(Claim claim) {
    return new Granted(storeNow(), slot(claim), until(), 1, false);
  }

  private static Slot slot(Claim claim) {
    return claim.candidates().get(0);
  }

  private long storeNow() {
    return time.real + store.offset;
  }

  /** A fresh end of window, as the store grants it now. */
  private long until() {
    lastUntil = storeNow() + WINDOW;
    return lastUntil;
  }

  /** Starts close to the wrap of nanoTime, so that every test crosses it. */
  private static final class HandTime implements TimeSource {
    long nano = Long.MAX_VALUE - 3_000 * NANOS;
    long wall = EPOCH + 1_000_000;

    /** The time that the store's clock follows, whatever happens to the wall clock. */
    long real = wall;

    private long belowMilli;

    @Override
    public long nanoTime() {
      return nano;
    }

    @Override
    public long wallMillis() {
      return wall;
    }

    void advance(long millis) {
      nano += millis * NANOS;
      wall += millis;
      real += millis;
    }

    void advanceTo(long nanoTime) {
      long nanos = Math.max(0, nanoTime - nano);
      nano += nanos;
      belowMilli += nanos;
      wall += belowMilli / NANOS;
      real += belowMilli / NANOS;
      belowMilli %= NANOS;
    }
  }

  private static final class HandStore implements LeaseStore {
    final List<Claim> claims = new ArrayList<>();
    final List<Renewal> renewals = new ArrayList<>();
    final List<Release> releases = new ArrayList<>();
    final List<LeaseTerms> ledgerReads = new ArrayList<>();
    final List<CompletableFuture<?>> all = new ArrayList<>();
    int questions;
    long offset;
    @Nullable Object open;
    @Nullable CompletableFuture<?> openFuture;
    @Nullable CompletableFuture<Map<Slot, LedgerEntry>> openLedger;
    @Nullable CompletableFuture<Long> openTime;
    @Nullable Throwable throwOnce;

    private <T> CompletableFuture<T> ask(Object question) {
      Throwable fault = throwOnce;
      if (fault != null) {
        throwOnce = null;
        if (fault instanceof Error error) {
          throw error;
        }
        throw (RuntimeException) fault;
      }
      questions++;
      CompletableFuture<T> future = new CompletableFuture<>();
      open = question;
      openFuture = future;
      all.add(future);
      return future;
    }

    @Override
    public CompletionStage<ClaimReply> claim(LeaseTerms terms, Claim claim) {
      CompletableFuture<ClaimReply> future = ask(claim);
      claims.add(claim);
      return future;
    }

    @Override
    public CompletionStage<RenewReply> renew(LeaseTerms terms, Renewal renewal) {
      CompletableFuture<RenewReply> future = ask(renewal);
      renewals.add(renewal);
      return future;
    }

    @Override
    public CompletionStage<Boolean> release(LeaseTerms terms, Release release) {
      CompletableFuture<Boolean> future = ask(release);
      releases.add(release);
      return future;
    }

    @Override
    public CompletionStage<Map<Slot, LedgerEntry>> readLedger(LeaseTerms terms) {
      ledgerReads.add(terms);
      CompletableFuture<Map<Slot, LedgerEntry>> future = ask(terms);
      openLedger = future;
      return future;
    }

    @Override
    public CompletionStage<Long> time(LeaseTerms terms) {
      CompletableFuture<Long> future = ask("time");
      openTime = future;
      return future;
    }

    @Override
    public CompletionStage<Boolean> createNamespace(LeaseTerms terms) {
      throw new AssertionError("the manager creates no namespace");
    }

    @Override
    public CompletionStage<List<String>> warnings(LeaseTerms terms) {
      throw new AssertionError("the manager asks for no warnings");
    }

    @Override
    public void close() {}

    Claim theClaim() {
      assertThat(open).isInstanceOf(Claim.class);
      return claims.get(claims.size() - 1);
    }

    Renewal theRenewal() {
      assertThat(open).isInstanceOf(Renewal.class);
      return renewals.get(renewals.size() - 1);
    }

    Release theRelease() {
      assertThat(open).isInstanceOf(Release.class);
      return releases.get(releases.size() - 1);
    }

    @SuppressWarnings("unchecked") // the test answers what was asked
    void answer(Object answer) {
      CompletableFuture<Object> future = (CompletableFuture<Object>) openFuture;
      open = null;
      openFuture = null;
      assertThat(future).isNotNull();
      future.complete(answer);
    }

    @SuppressWarnings("unchecked") // as above
    void answerOldest(Object answer) {
      ((CompletableFuture<Object>) all.get(0)).complete(answer);
    }

    void answerLedger(Map<Slot, LedgerEntry> ledger) {
      openLedger = null;
      answer(ledger);
    }

    void answerTime(long millis) {
      assertThat(openTime).isNotNull();
      answer(millis);
    }

    void leaveUnanswered() {
      open = null;
      openFuture = null;
    }

    void fail(Throwable cause) {
      CompletableFuture<?> future = openFuture;
      open = null;
      openFuture = null;
      assertThat(future).isNotNull();
      future.completeExceptionally(cause);
    }
  }
}
