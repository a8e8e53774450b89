package io.github.snowlease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class SlotRangeTest {
  private static final BitLayout STANDARD = BitLayout.standard();

  private static BitLayout layout(int clusterBits, int nodeBits) {
    return new BitLayout(Instant.EPOCH, Duration.ofMillis(1), 1, clusterBits, nodeBits, 2);
  }

  @Test
  void holdsAllSlotsOfALayout() {
    SlotRange range = SlotRange.of(STANDARD, null, null);
    assertThat(range.size()).isEqualTo(1_024);
    assertThat(range.isPinned()).isFalse();
    assertThat(range).hasToString("0:0..31:31");
    List<Slot> all = range.all();
    assertThat(all).hasSize(1_024).doesNotHaveDuplicates().startsWith(new Slot(0, 0));
    assertThat(all).endsWith(new Slot(31, 31)).allMatch(STANDARD::contains);
    assertThat(all).allMatch(range::contains);
  }

  @Test
  void holdsTheSlotsOfOneCluster() {
    SlotRange range = SlotRange.of(STANDARD, 3, null);
    assertThat(range.size()).isEqualTo(32);
    assertThat(range).hasToString("3:0..3:31 (clusterId=3)");
    assertThat(range.all()).hasSize(32).allMatch(slot -> slot.cluster() == 3);
    assertThat(range.contains(new Slot(3, 31))).isTrue();
    assertThat(range.contains(new Slot(2, 31))).isFalse();
    assertThat(range.contains(new Slot(4, 0))).isFalse();
  }

  @Test
  void holdsTheOneSlotThatBothIdsPin() {
    SlotRange range = SlotRange.of(STANDARD, 3, 7);
    assertThat(range.isPinned()).isTrue();
    assertThat(range).hasToString("3:7");
    assertThat(range.all()).containsExactly(new Slot(3, 7));
    assertThat(range.sample(16, new Random(1))).containsExactly(new Slot(3, 7));
    assertThat(range.contains(new Slot(3, 7))).isTrue();
    assertThat(range.contains(new Slot(3, 6))).isFalse();
  }

  @Test
  void doesNotTakeASlotOfAnotherLayoutForOneOfItsOwn() {
    // A ledger may hold such an entry after a mistake; 2:40 is not 3:8 of a layout with 32 nodes.
    assertThat(SlotRange.of(STANDARD, 3, null).contains(new Slot(2, 40))).isFalse();
    assertThat(SlotRange.of(STANDARD, 3, 8).contains(new Slot(2, 40))).isFalse();
    assertThat(SlotRange.of(STANDARD, null, null).contains(new Slot(0, 32))).isFalse();
    assertThat(SlotRange.of(STANDARD, null, null).contains(new Slot(32, 0))).isFalse();
    assertThat(SlotRange.of(STANDARD, null, null).contains(new Slot(1 << 27, 0))).isFalse();
  }

  @Property
  void pinsAnySlotOfAnyLayout(
      @ForAll("layouts") BitLayout layout,
      @ForAll @IntRange(min = 0) int cluster,
      @ForAll @IntRange(min = 0) int node) {
    Slot slot =
        new Slot(
            cluster & ((1 << layout.clusterBits()) - 1), node & ((1 << layout.nodeBits()) - 1));
    SlotRange range = SlotRange.of(layout, slot.cluster(), slot.node());
    assertThat(range.all()).containsExactly(slot);
    assertThat(range.contains(slot)).isTrue();
    assertThat(range).hasToString(slot.toString());
  }

  @Provide
  Arbitrary<BitLayout> layouts() {
    return BitLayouts.legal();
  }

  @Property
  void leasesWithinAnyClusterOfAWideLayout(
      @ForAll @IntRange(min = 0, max = (1 << 30) - 1) int cluster) {
    SlotRange range = SlotRange.of(layout(30, 16), cluster, null);
    assertThat(range.size()).isEqualTo(65_536);
    assertThat(range.contains(new Slot(cluster, 65_535))).isTrue();
    assertThat(range.sample(16, new Random(1)))
        .hasSize(16)
        .allMatch(slot -> slot.cluster() == cluster && slot.node() < 65_536);
  }

  @Property
  void samplesDifferentSlotsOfTheRange(
      @ForAll @IntRange(min = 0, max = 2_000) int count, @ForAll long seed) {
    SlotRange range = SlotRange.of(STANDARD, null, null);
    List<Slot> sample = range.sample(count, new Random(seed));
    assertThat(new HashSet<>(sample)).hasSize(Math.min(count, 1_024)).hasSize(sample.size());
    assertThat(sample).allMatch(range::contains);
  }

  @Test
  void samplesEachSlotAsOftenAsAnyOther() {
    SlotRange range = SlotRange.of(STANDARD, 3, null);
    Random random = new Random(42);
    Map<Slot, Integer> first = new HashMap<>();
    for (int i = 0; i < 32_000; i++) {
      first.merge(range.sample(16, random).get(0), 1, Integer::sum);
    }
    assertThat(first).hasSize(32);
    assertThat(first.values()).allMatch(n -> n > 850 && n < 1_150); // 1,000 each is meant
  }

  @Test
  void refusesMoreSlotsThanALedgerCanListInOneGo() {
    assertThat(SlotRange.of(layout(8, 8), null, null).size()).isEqualTo(65_536);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> SlotRange.of(layout(8, 9), null, null))
        .withMessage(
            "a lease chooses among at most 65536 slots: the layout and ids leave 2^17; set"
                + " clusterId, or use a layout with fewer cluster and node bits");
    assertThat(SlotRange.of(layout(8, 9), 255, null).size()).isEqualTo(512);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> SlotRange.of(layout(0, 17), 0, null))
        .withMessage(
            "a lease chooses among at most 65536 slots: the layout and ids leave 2^17; set"
                + " clusterId, or use a layout with fewer cluster and node bits");
  }

  @Test
  void refusesIdsThatDoNotFitTheLayout() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> SlotRange.of(STANDARD, 32, null))
        .withMessage("clusterId must be 0 to 31 in this layout: clusterId=32");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> SlotRange.of(STANDARD, -1, null))
        .withMessage("clusterId must be 0 to 31 in this layout: clusterId=-1");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> SlotRange.of(STANDARD, 3, 32))
        .withMessage("nodeId must be 0 to 31 in this layout: nodeId=32");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> SlotRange.of(layout(0, 6), 1, null))
        .withMessage("clusterId must be 0 to 0 in this layout: clusterId=1");
  }

  @Test
  void refusesANodeIdWithoutAClusterId() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> SlotRange.of(STANDARD, null, 7))
        .withMessage("nodeId needs a clusterId: nodeId=7");
  }

  @Test
  void hasOneSlotIfTheLayoutHasNoBitsForMore() {
    SlotRange range = SlotRange.of(layout(0, 0), null, null);
    assertThat(range.size()).isEqualTo(1);
    assertThat(range.all()).containsExactly(new Slot(0, 0));
  }
}
