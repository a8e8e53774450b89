package io.github.snowlease;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.snowlease.LeaseStore.Full;
import io.github.snowlease.LeaseStore.LedgerEntry;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Predicate;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class SlotSearchTest {
  private static final long NOW = 1_800_000_000_000L;
  private static final BitLayout LAYOUT = BitLayout.standard();
  private static final SlotRange ALL = SlotRange.of(LAYOUT, null, null);
  private static final SlotRange CLUSTER = SlotRange.of(LAYOUT, 3, null);
  private static final SlotRange PINNED = SlotRange.of(LAYOUT, 3, 7);

  private static SlotSearch search(SlotRange range) {
    return new SlotSearch(range, new Random(42));
  }

  private static Full full(long waitMillis) {
    return new Full(NOW, waitMillis, 1, "");
  }

  private static LedgerEntry held(long until) {
    return new LedgerEntry(until, true, true);
  }

  private static LedgerEntry released(long until) {
    return new LedgerEntry(until, false, true);
  }

  private static LedgerEntry damaged() {
    return new LedgerEntry(0, false, false);
  }

  /** A ledger of the slots of a range that a test accepts, all with the same entry. */
  private static Map<Slot, LedgerEntry> ledger(
      SlotRange range, Predicate<Slot> taken, LedgerEntry entry) {
    Map<Slot, LedgerEntry> ledger = new HashMap<>();
    range.all().stream().filter(taken).forEach(slot -> ledger.put(slot, entry));
    return ledger;
  }

  // ---- blind, then informed

  @Property(tries = 100)
  void guessesSixteenDifferentSlotsWithoutReadingAnything(@ForAll long seed) {
    List<Slot> guess = new SlotSearch(ALL, new Random(seed)).candidates();
    assertThat(guess).hasSize(16).doesNotHaveDuplicates().allMatch(ALL::contains);
  }

  @Test
  void guessesOtherSlotsThanAnotherProcess() {
    Set<Slot> first = new HashSet<>();
    for (int i = 0; i < 100; i++) {
      first.add(new SlotSearch(ALL, new Random(i * 0x9E3779B97F4A7C15L)).candidates().get(0));
    }
    assertThat(first).hasSizeGreaterThan(80);
  }

  @Test
  void guessesAgainWhenAClaimHadNoAnswer() {
    SlotSearch search = search(ALL);
    assertThat(search.candidates()).hasSize(16);
    assertThat(search.candidates()).hasSize(16);
  }

  @Test
  void readsTheLedgerAtOnceWhenTheGuessFailed() {
    SlotSearch search = search(ALL);
    search.onFull(full(3_000));
    assertThat(search.candidates()).isNull();
    assertThat(search.delayMillis()).isZero();
  }

  @Test
  void claimsUpToThirtyTwoSlotsThatTheLedgerCallsFree() {
    SlotSearch search = search(ALL);
    search.onFull(full(-1));
    search.onLedger(ledger(ALL, slot -> slot.cluster() < 30, held(NOW + 20_000)), NOW);
    assertThat(search.candidates())
        .hasSize(32)
        .doesNotHaveDuplicates()
        .allMatch(slot -> slot.cluster() >= 30);
    assertThat(search.delayMillis()).isZero();
  }

  @Test
  void findsTheOneFreeSlotOfAThousand() {
    Slot last = new Slot(17, 5);
    SlotSearch search = search(ALL);
    search.onFull(full(-1));
    search.onLedger(ledger(ALL, slot -> !slot.equals(last), held(NOW + 20_000)), NOW);
    assertThat(search.candidates()).containsExactly(last);
  }

  @Test
  void drawsFreeSlotsInRandomOrder() {
    Map<Slot, LedgerEntry> ledger = ledger(ALL, slot -> slot.cluster() < 30, held(NOW));
    Set<List<Slot>> draws = new HashSet<>();
    for (int i = 0; i < 20; i++) {
      SlotSearch search = new SlotSearch(ALL, new Random(i));
      search.onFull(full(-1));
      search.onLedger(ledger, NOW);
      draws.add(List.copyOf(search.candidates()));
    }
    assertThat(draws).hasSize(20);
  }

  @Test
  void takesASlotForFreeOnceItsFenceLiesInThePast() {
    long grace = LeaseTerms.GRACE;
    Map<Slot, LedgerEntry> ledger = ledger(CLUSTER, slot -> true, damaged());
    ledger.put(new Slot(3, 0), released(NOW - 1)); // free
    ledger.put(new Slot(3, 1), released(NOW));
    ledger.put(new Slot(3, 2), held(NOW - grace - 1)); // free: it was not renewed
    ledger.put(new Slot(3, 3), held(NOW - grace));
    ledger.remove(new Slot(3, 4)); // free: never granted
    SlotSearch search = search(CLUSTER);
    search.onFull(full(-1));
    search.onLedger(ledger, NOW);
    assertThat(search.candidates())
        .containsExactlyInAnyOrder(new Slot(3, 0), new Slot(3, 2), new Slot(3, 4));
  }

  @Test
  void readsTheLedgerAgainAfterALostRace() {
    SlotSearch search = search(ALL);
    search.onFull(full(-1));
    search.onLedger(Map.of(), NOW);
    assertThat(search.candidates()).isNotNull();
    search.onFull(full(1));
    assertThat(search.candidates()).isNull();
    assertThat(search.delayMillis()).isBetween(10L, 20L);
  }

  // ---- full

  @Test
  void countsWhatStandsInTheWayAndSaysWhenASlotMayComeFree() {
    Map<Slot, LedgerEntry> ledger = ledger(CLUSTER, slot -> true, held(NOW + 20_000));
    ledger.put(new Slot(3, 5), damaged());
    ledger.put(new Slot(3, 6), held(NOW + 1_000));
    ledger.put(new Slot(3, 7), released(NOW + 9_000));
    ledger.put(new Slot(4, 0), released(NOW + 1)); // not in this cluster
    ledger.put(new Slot(2, 40), released(NOW + 1)); // not in this layout
    SlotSearch search = search(CLUSTER);
    assertThat(search.exhausted()).isNull();
    search.onFull(full(-1));
    search.onLedger(ledger, NOW);
    assertThat(search.candidates()).isNull();
    assertThat(search.exhausted())
        .isInstanceOf(NoFreeNodeException.class)
        .hasMessage(
            "every process needs a free slot: range=3:0..3:31 (clusterId=3) slots=32 held=31"
                + " unusable=1 nextFreeIn=6001ms; stop processes that are not needed, or use a"
                + " layout with more node bits for a new table");
    NoFreeNodeException exception = (NoFreeNodeException) search.exhausted();
    assertThat(exception.slots()).isEqualTo(32);
    assertThat(exception.held()).isEqualTo(31);
    // Held until NOW + 1 s, free after the grace: from NOW + 6,001 ms on.
    assertThat(exception.retryAfter()).contains(Duration.ofMillis(6_001));
  }

  @Test
  void waitsLongerFromReadToReadWhileAllSlotsAreTaken() {
    SlotSearch search = search(CLUSTER);
    search.onFull(full(-1));
    long[] longest = {250, 500, 1_000, 2_000, 2_000, 2_000};
    for (long most : longest) {
      search.onLedger(ledger(CLUSTER, slot -> true, held(NOW + 20_000)), NOW);
      assertThat(search.candidates()).isNull();
      assertThat(search.delayMillis()).isBetween(most / 2, most);
    }
  }

  @Test
  void waitsNoLongerThanUntilTheFirstSlotMayComeFree() {
    SlotSearch search = search(CLUSTER);
    search.onFull(full(-1));
    Map<Slot, LedgerEntry> ledger = ledger(CLUSTER, slot -> true, held(NOW + 20_000));
    ledger.put(new Slot(3, 5), released(NOW + 99));
    search.onLedger(ledger, NOW);
    assertThat(search.delayMillis()).isBetween(50L, 100L);
    ledger.put(new Slot(3, 5), released(NOW));
    search.onLedger(ledger, NOW);
    assertThat(search.delayMillis()).isEqualTo(1);
  }

  @Test
  void doesNotHurryWhenOnlyDamagedEntriesStandInTheWay() {
    SlotSearch search = search(CLUSTER);
    search.onFull(full(-1));
    for (int i = 0; i < 8; i++) {
      search.onLedger(ledger(CLUSTER, slot -> true, damaged()), NOW);
    }
    assertThat(search.delayMillis()).isBetween(1_000L, 2_000L);
    assertThat(search.exhausted())
        .hasMessageContaining("slots=32 held=0 unusable=32 nextFreeIn=unknown;");
  }

  // ---- slots that an operator has blocked

  @Test
  void doesNotSpinOnSlotsThatTheLedgerCallsFreeAndAnOperatorHasBlocked() {
    SlotSearch search = search(CLUSTER);
    long waited = 0;
    int steps = 0;
    while (waited < 60_000) { // a minute of a start
      if (search.candidates() == null) {
        search.onLedger(Map.of(), NOW + waited);
      } else {
        search.onFull(full(-1));
      }
      waited += search.delayMillis();
      steps++;
    }
    assertThat(steps).isLessThan(200);
  }

  @Test
  void saysThatNoSlotIsFreeWhenAnOperatorHasBlockedThemAll() {
    SlotSearch search = search(SlotRange.of(BitLayout.of("epoch=0,tick=1,bits=41/0/2/4"), 0, null));
    search.onFull(full(-1));
    search.onLedger(Map.of(), NOW);
    assertThat(search.candidates()).hasSize(4);
    search.onFull(full(-1));
    assertThat(search.exhausted())
        .isInstanceOf(NoFreeNodeException.class)
        .hasMessageContaining("slots=4 held=0 unusable=4 nextFreeIn=unknown;");
    search.onLedger(Map.of(), NOW);
    assertThat(search.exhausted())
        .isInstanceOf(NoFreeNodeException.class)
        .hasMessageContaining("slots=4 held=0 unusable=4 nextFreeIn=unknown;");
  }

  // ---- one pinned slot

  private static Full heldBy(String app, long atMillis, long freeInMillis) {
    return new Full(
        NOW + atMillis,
        freeInMillis,
        1,
        "{\"token\":\"0123456789abcdef0123456789abcdef\",\"host\":\"h\",\"app\":\"" + app + "\"}");
  }

  @Test
  void claimsThePinnedSlotAloneAndReadsNothing() {
    SlotSearch search = search(PINNED);
    assertThat(search.candidates()).containsExactly(new Slot(3, 7));
    search.onFull(heldBy("a", 0, 30_000));
    assertThat(search.candidates()).containsExactly(new Slot(3, 7));
    assertThat(search.delayMillis()).isBetween(500L, 1_000L);
  }

  @Test
  void waitsForADeadHoldersLeaseToRunOut() {
    SlotSearch search = search(PINNED);
    for (long at = 0; at < 30_000; at += 700) {
      search.onFull(heldBy("a", at, 30_000 - at));
      assertThat(search.isTaken()).isFalse();
      assertThat(search.delayMillis()).isBetween(1L, Math.min(1_000, 30_000 - at));
    }
  }

  @Test
  void doesNotTakeARoundedTimeForARenewal() {
    SlotSearch search = search(PINNED);
    for (int at = 0; at < 10_000; at += 700) {
      // Remaining lives are told in whole milliseconds: the end seems to move by one or two.
      search.onFull(heldBy("a", at, 30_000 - at + (at / 700)));
      assertThat(search.isTaken()).isFalse();
    }
  }

  @Test
  void givesUpOnceTheHolderHasRenewedTwice() {
    SlotSearch search = search(PINNED);
    search.onFull(heldBy("a", 0, 28_000));
    search.onFull(heldBy("a", 900, 29_500));
    assertThat(search.isTaken()).isFalse();
    search.onFull(heldBy("a", 1_800, 28_600)); // no renewal in between
    assertThat(search.isTaken()).isFalse();
    search.onFull(heldBy("a", 4_500, 29_900));
    assertThat(search.isTaken()).isTrue();
    assertThat(search.exhausted())
        .isInstanceOf(SlotTakenException.class)
        .hasMessage(
            "a slot has one holder at a time: slot=3:7 holder={\"host\":\"h\",\"app\":\"a\"}; give"
                + " this process another node id, leave the node id out to lease any free slot, or"
                + " stop the holder");
    SlotTakenException taken = (SlotTakenException) search.exhausted();
    assertThat(taken.slot()).isEqualTo(new Slot(3, 7));
    assertThat(taken.holder()).isEqualTo("{\"host\":\"h\",\"app\":\"a\"}");
  }

  @Test
  void countsRenewalsOfOneHolderOnly() {
    SlotSearch search = search(PINNED);
    search.onFull(heldBy("a", 0, 28_000));
    search.onFull(heldBy("a", 3_000, 28_000));
    search.onFull(heldBy("b", 6_000, 28_000)); // another one has won the slot
    search.onFull(heldBy("b", 9_000, 28_000));
    assertThat(search.isTaken()).isFalse();
    search.onFull(heldBy("b", 12_000, 28_000));
    assertThat(search.isTaken()).isTrue();
  }

  @Test
  void waitsASecondForASlotThatAnOperatorHasBlocked() {
    SlotSearch search = search(PINNED);
    for (int i = 0; i < 10; i++) {
      search.onFull(new Full(NOW + i * 1_000L, -1, 1, "blocked by ops"));
      assertThat(search.delayMillis()).isBetween(500L, 1_000L);
      assertThat(search.isTaken()).isFalse();
    }
    assertThat(search.exhausted())
        .hasMessageContaining("slot=3:7 holder=blocked by ops; give this process");
  }

  @Test
  void namesNoHolderItDoesNotKnow() {
    SlotSearch search = search(PINNED);
    assertThat(search.exhausted()).isNull();
    search.onFull(full(5_000));
    assertThat(search.exhausted()).hasMessageContaining("slot=3:7 holder=unknown;");
  }
}
