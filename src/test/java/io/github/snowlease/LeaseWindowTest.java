package io.github.snowlease;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class LeaseWindowTest {
  private static final long EPOCH = 1_704_067_200_000L;
  private static final Slot SLOT = new Slot(3, 17);

  private static BitLayout layout(long tickMillis) {
    return new BitLayout(Instant.ofEpochMilli(EPOCH), Duration.ofMillis(tickMillis), 41, 5, 5, 12);
  }

  @Property
  void aTickIsUsableIfAndOnlyIfItLiesWhollyInside(
      @ForAll @LongRange(min = 1, max = 1_000) long tick,
      @ForAll @LongRange(min = -3_000, max = 100_000) long offset,
      @ForAll @LongRange(min = -1, max = 30_000) long length,
      @ForAll @LongRange(min = 0, max = 200_000) long probe) {
    long lo = EPOCH + offset;
    long until = lo + length;
    LeaseWindow window = LeaseWindow.of(layout(tick), SLOT, lo, until);
    long firstWord = probe << 12;
    long lastWord = firstWord + 4_095;
    boolean whollyInside = EPOCH + probe * tick >= lo && EPOCH + (probe + 1) * tick - 1 <= until;
    assertThat(firstWord >= window.firstWord && firstWord <= window.lastWord)
        .isEqualTo(whollyInside);
    assertThat(lastWord >= window.firstWord && lastWord <= window.lastWord).isEqualTo(whollyInside);
  }

  @Test
  void twoWindowsOfWhichOneEndsBeforeTheOtherBeginsShareNoWordForAnyTick() {
    for (long tick = 1; tick <= 1_000; tick++) {
      BitLayout layout = layout(tick);
      // The seam wanders through a whole tick and beyond.
      for (long seam = 0; seam <= 2 * tick; seam += Math.max(1, tick / 50)) {
        long until = EPOCH + 10 * tick + seam;
        LeaseWindow before = LeaseWindow.of(layout, SLOT, EPOCH, until);
        LeaseWindow after = LeaseWindow.of(layout, SLOT, until + 1, until + 20 * tick);
        assertThat(before.lastWord).isLessThan(after.firstWord);
        // At most the one tick that the seam cuts is lost.
        assertThat((after.firstWord >>> 12) - (before.lastWord >>> 12)).isBetween(1L, 2L);
      }
    }
  }

  @Property
  void twoDisjointWindowsShareNoWordInAnyLayout(
      @ForAll("layouts") BitLayout layout,
      @ForAll @LongRange(min = 0, max = 200_000) long lo,
      @ForAll @LongRange(min = 0, max = 100_000) long length,
      @ForAll @LongRange(min = 1, max = 100_000) long gap,
      @ForAll @LongRange(min = 0, max = 100_000) long nextLength,
      @ForAll boolean atTheHorizon) {
    long shift = atTheHorizon ? layout.horizon().toEpochMilli() - 200_000 : layout.epochMillis();
    long until = shift + lo + length;
    Slot slot = new Slot(0, 0);
    LeaseWindow before = LeaseWindow.of(layout, slot, shift + lo, until);
    LeaseWindow after = LeaseWindow.of(layout, slot, until + gap, until + gap + nextLength);
    if (!before.isEmpty() && !after.isEmpty()) {
      assertThat(before.lastWord).isLessThan(after.firstWord);
    }
  }

  @Property
  void givesEveryWordTheIdThatTheLayoutComposes(
      @ForAll("layouts") BitLayout layout,
      @ForAll @IntRange(min = 0) int cluster,
      @ForAll @IntRange(min = 0) int node,
      @ForAll @LongRange(min = 0) long random) {
    Slot slot =
        new Slot(
            cluster & ((1 << layout.clusterBits()) - 1), node & ((1 << layout.nodeBits()) - 1));
    LeaseWindow window =
        LeaseWindow.of(layout, slot, layout.epochMillis(), layout.epochMillis() + 10_000);
    if (window.isEmpty()) {
      return;
    }
    long word = window.firstWord + random % (window.lastWord - window.firstWord + 1);
    long sequenceMask = (1L << layout.sequenceBits()) - 1;
    assertThat(window.idOf(word))
        .isEqualTo(
            layout.compose(
                word >>> layout.sequenceBits(), slot.cluster(), slot.node(), word & sequenceMask));
  }

  @Provide
  Arbitrary<BitLayout> layouts() {
    return BitLayouts.legal();
  }

  @Property
  void neverPermitsAWordThatTheGeneratorGivesAMeaning(
      @ForAll("tightLayouts") BitLayout layout, @ForAll boolean longBefore) {
    // 63 bits of word: its largest would be the closed word, had it the sealing bit.
    long horizon = layout.horizon().toEpochMilli();
    LeaseWindow window =
        LeaseWindow.of(
            layout, new Slot(0, 0), longBefore ? layout.epochMillis() : horizon - 5_000, horizon);
    assertThat(window.firstWord).isNotNegative();
    assertThat(window.lastWord).isEqualTo(Long.MAX_VALUE - 1);
  }

  @Provide
  Arbitrary<BitLayout> tightLayouts() {
    return Arbitraries.integers()
        .between(20, 30)
        .map(
            sequence ->
                new BitLayout(
                    Instant.ofEpochMilli(EPOCH),
                    Duration.ofMillis(1),
                    63 - sequence,
                    0,
                    0,
                    sequence));
  }

  @Test
  void permitsNothingBeforeTheEpochBeyondTheHorizonOrBackwards() {
    BitLayout layout = layout(1);
    long horizon = layout.horizon().toEpochMilli();
    assertThat(LeaseWindow.of(layout, SLOT, EPOCH - 100, EPOCH - 1).isEmpty()).isTrue();
    assertThat(LeaseWindow.of(layout, SLOT, horizon + 1, horizon + 100).isEmpty()).isTrue();
    assertThat(LeaseWindow.of(layout, SLOT, EPOCH + 100, EPOCH + 99).isEmpty()).isTrue();
    assertThat(LeaseWindow.NONE.isEmpty()).isTrue();
  }

  @Test
  void permitsTheTicksFromTheEpochOnAndUpToTheHorizon() {
    BitLayout layout = layout(1);
    long horizon = layout.horizon().toEpochMilli();
    LeaseWindow first = LeaseWindow.of(layout, SLOT, EPOCH - 100, EPOCH);
    assertThat(first.firstWord).isZero();
    assertThat(first.lastWord).isEqualTo(4_095);
    LeaseWindow last = LeaseWindow.of(layout, SLOT, horizon, horizon + 100);
    assertThat(last.firstWord).isEqualTo(((1L << 41) - 1) << 12);
    assertThat(last.lastWord).isEqualTo((1L << 53) - 1);
  }

  @Test
  void permitsOneTickOfAWindowOfOneMillisecond() {
    LeaseWindow window = LeaseWindow.of(layout(1), SLOT, EPOCH + 7, EPOCH + 7);
    assertThat(window.firstWord).isEqualTo(7L << 12);
    assertThat(window.lastWord).isEqualTo((7L << 12) + 4_095);
  }
}
