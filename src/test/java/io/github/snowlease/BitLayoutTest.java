package io.github.snowlease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.time.Duration;
import java.time.Instant;
import java.util.Random;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BitLayoutTest {
  private static final Instant EPOCH = Instant.parse("2024-01-01T00:00:00Z");
  private static final Duration MILLISECOND = Duration.ofMillis(1);
  private static final Instant YEAR_ONE_MILLION = Instant.parse("+1000000-01-01T00:00:00Z");

  /** An id of a layout, by its parts. */
  private record Case(BitLayout layout, long timestamp, int cluster, int node, long sequence) {
    long id() {
      return layout.compose(timestamp, cluster, node, sequence);
    }
  }

  @Provide
  Arbitrary<BitLayout> layouts() {
    return BitLayouts.legal();
  }

  @Provide
  Arbitrary<Case> cases() {
    return BitLayouts.drawn(random -> draw(BitLayouts.draw(random), random));
  }

  /** Two ids of one layout, of which the first parts are often equal. */
  @Provide
  Arbitrary<Case[]> pairs() {
    return BitLayouts.drawn(
        random -> {
          BitLayout layout = BitLayouts.draw(random);
          Case a = draw(layout, random);
          Case b = draw(layout, random);
          int equalParts = random.nextInt(5);
          return new Case[] {
            a,
            new Case(
                layout,
                equalParts > 0 ? a.timestamp : b.timestamp,
                equalParts > 1 ? a.cluster : b.cluster,
                equalParts > 2 ? a.node : b.node,
                equalParts > 3 ? a.sequence : b.sequence)
          };
        });
  }

  private static Case draw(BitLayout layout, Random random) {
    return new Case(
        layout,
        BitLayouts.drawBits(layout.timestampBits(), random),
        (int) BitLayouts.drawBits(layout.clusterBits(), random),
        (int) BitLayouts.drawBits(layout.nodeBits(), random),
        BitLayouts.drawBits(layout.sequenceBits(), random));
  }

  // ---- compose and parse

  @Property
  void takesApartWhatItPutTogether(@ForAll("cases") Case c) {
    long id = c.id();
    assertThat(id).isBetween(0L, c.layout.maxId());
    SnowflakeId parts = c.layout.parse(id);
    assertThat(parts.value()).isEqualTo(id);
    assertThat(parts.cluster()).isEqualTo(c.cluster);
    assertThat(parts.node()).isEqualTo(c.node);
    assertThat(parts.slot()).isEqualTo(new Slot(c.cluster, c.node));
    assertThat(parts.sequence()).isEqualTo(c.sequence);
    Instant horizon = c.layout.horizon();
    if (parts.timestamp().isBefore(horizon)) {
      long millis = c.timestamp * c.layout.tick().toMillis();
      assertThat(parts.timestamp()).isEqualTo(c.layout.epoch().plusMillis(millis));
    } else {
      assertThat(parts.timestamp()).isEqualTo(horizon);
    }
  }

  @Property
  void ordersIdsByTimestampThenClusterThenNodeThenSequence(@ForAll("pairs") Case[] pair) {
    Case a = pair[0];
    Case b = pair[1];
    int expected = Long.compare(a.timestamp, b.timestamp);
    expected = expected != 0 ? expected : Integer.compare(a.cluster, b.cluster);
    expected = expected != 0 ? expected : Integer.compare(a.node, b.node);
    expected = expected != 0 ? expected : Long.compare(a.sequence, b.sequence);
    assertThat(Long.compare(a.id(), b.id())).isEqualTo(expected);
  }

  @Property
  void takesEveryIdOfItsWidthApart(@ForAll("layouts") BitLayout layout, @ForAll long random) {
    long id = random & layout.maxId();
    SnowflakeId parts = layout.parse(id);
    assertThat(parts.value()).isEqualTo(id);
    assertThat(parts.timestamp()).isBetween(layout.epoch(), layout.horizon());
  }

  @Property
  void takesItsLargestIdApart(@ForAll("layouts") BitLayout layout) {
    SnowflakeId parts = layout.parse(layout.maxId());
    assertThat(parts.cluster()).isEqualTo((1 << layout.clusterBits()) - 1);
    assertThat(parts.node()).isEqualTo((1 << layout.nodeBits()) - 1);
    assertThat(parts.sequence()).isEqualTo((1L << layout.sequenceBits()) - 1);
    assertThat(parts.timestamp()).isBeforeOrEqualTo(layout.horizon());
  }

  @Test
  void clipsTheTimestampOfAnIdBeyondTheYearOneMillion() {
    BitLayout layout = new BitLayout(EPOCH, Duration.ofSeconds(1), 62, 0, 0, 1);
    assertThat(layout.parse(Long.MAX_VALUE).timestamp()).isEqualTo(YEAR_ONE_MILLION);
    assertThat(layout.horizon()).isEqualTo(YEAR_ONE_MILLION);
  }

  @Property
  void refusesAnIdOfMoreBits(@ForAll("layouts") BitLayout layout, @ForAll long random) {
    if (random >= 0 && random <= layout.maxId()) {
      assertThat(layout.parse(random).value()).isEqualTo(random);
      return;
    }
    assertThatIllegalArgumentException()
        .isThrownBy(() -> layout.parse(random))
        .withMessage(
            "id must be 0 to " + layout.maxId() + " in the layout " + layout + ": id=" + random);
  }

  @ParameterizedTest
  @CsvSource({
    "timestamp, 2199023255551, 2199023255552, 0, 0, 0",
    "timestamp, 2199023255551, -1, 0, 0, 0",
    "cluster, 31, 0, 32, 0, 0",
    "cluster, 31, 0, -1, 0, 0",
    "node, 31, 0, 0, 32, 0",
    "node, 31, 0, 0, -1, 0",
    "sequence, 4095, 0, 0, 0, 4096",
    "sequence, 4095, 0, 0, 0, -1",
  })
  void refusesAPartThatDoesNotFitItsBits(
      String name, long max, long timestamp, int cluster, int node, long sequence) {
    long value =
        switch (name) {
          case "timestamp" -> timestamp;
          case "cluster" -> cluster;
          case "node" -> node;
          default -> sequence;
        };
    assertThatIllegalArgumentException()
        .isThrownBy(() -> BitLayout.standard().compose(timestamp, cluster, node, sequence))
        .withMessage(name + " must be 0 to " + max + ": " + name + "=" + value);
  }

  @Test
  void hasOneClusterIfItHasNoBitsForThem() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> BitLayout.javaScriptSafe().compose(1, 1, 0, 0))
        .withMessage("cluster must be 0 to 0: cluster=1");
  }

  // ---- ranges by time

  @Property
  void boundsTheIdsOfATickByItsFirstAndItsLast(@ForAll("cases") Case c) {
    Instant start = c.layout.parse(c.id()).timestamp();
    if (start.equals(YEAR_ONE_MILLION)) {
      return; // clipped: no instant names the tick any more
    }
    Instant end = start.plus(c.layout.tick()).minusNanos(1);
    for (Instant instant : new Instant[] {start, end}) {
      if (instant.isAfter(c.layout.horizon())) {
        continue; // the tick in which the year one million begins
      }
      assertThat(c.layout.firstIdAt(instant)).isLessThanOrEqualTo(c.id());
      assertThat(c.layout.lastIdAt(instant)).isGreaterThanOrEqualTo(c.id());
      assertThat(c.layout.parse(c.layout.firstIdAt(instant)).timestamp()).isEqualTo(start);
      assertThat(c.layout.parse(c.layout.lastIdAt(instant)).timestamp()).isEqualTo(start);
    }
    if (c.timestamp > 0) {
      assertThat(c.layout.lastIdAt(start.minusNanos(1))).isEqualTo(c.layout.firstIdAt(start) - 1);
    }
  }

  @Test
  void findsTheIdsOfADay() {
    BitLayout layout = BitLayout.standard();
    Instant from = Instant.parse("2026-11-30T00:00:00Z");
    Instant to = Instant.parse("2026-12-01T00:00:00Z");
    long millis = Duration.between(EPOCH, from).toMillis();
    assertThat(layout.firstIdAt(from)).isEqualTo(millis << 22);
    assertThat(layout.lastIdAt(to.minusNanos(1))).isEqualTo(layout.firstIdAt(to) - 1);
  }

  @Property
  void refusesAnInstantOutsideItsTime(@ForAll("layouts") BitLayout layout) {
    Instant before = layout.epoch().minusNanos(1);
    Instant after = layout.horizon().plusNanos(1);
    String rule =
        "instant must lie in " + layout.epoch() + " to " + layout.horizon() + ": instant=";
    for (Instant instant : new Instant[] {before, after, Instant.MIN, Instant.MAX}) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> layout.firstIdAt(instant))
          .withMessage(rule + instant);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> layout.lastIdAt(instant))
          .withMessage(rule + instant);
    }
  }

  @Property
  void endsAtItsHorizon(@ForAll("layouts") BitLayout layout) {
    Instant horizon = layout.horizon();
    assertThat(horizon).isAfter(layout.epoch()).isBeforeOrEqualTo(YEAR_ONE_MILLION);
    assertThat(layout.firstIdAt(layout.epoch())).isZero();
    if (horizon.isBefore(YEAR_ONE_MILLION)) {
      assertThat(layout.lastIdAt(horizon)).isEqualTo(layout.maxId());
    } else {
      assertThat(layout.lastIdAt(horizon)).isBetween(0L, layout.maxId());
    }
  }

  @Test
  void saysWhenThePresetsEnd() {
    assertThat(BitLayout.standard().horizon()).isEqualTo("2093-09-06T15:47:35.551999999Z");
    assertThat(BitLayout.twitter().horizon()).isEqualTo("2080-07-10T17:30:30.208999999Z");
    assertThat(BitLayout.javaScriptSafe().horizon()).isEqualTo("2093-09-06T15:47:35.551999999Z");
    assertThat(BitLayout.fastApiBestArchitecture().horizon())
        .isEqualTo("2079-09-07T07:47:35.551999999Z");
  }

  // ---- presets

  @Test
  void pinsThePresetsForEver() {
    assertThat(BitLayout.standard())
        .hasToString("epoch=1704067200000,tick=1,bits=41/5/5/12")
        .isEqualTo(new BitLayout(EPOCH, MILLISECOND, 41, 5, 5, 12));
    assertThat(BitLayout.twitter()).hasToString("epoch=1288834974657,tick=1,bits=41/5/5/12");
    assertThat(BitLayout.javaScriptSafe()).hasToString("epoch=1704067200000,tick=1,bits=41/0/6/6");
    assertThat(BitLayout.fastApiBestArchitecture())
        .hasToString("epoch=1262275200000,tick=1,bits=41/5/5/12");
  }

  @Test
  void mintsIdsThatJavaScriptHoldsExactly() {
    BitLayout layout = BitLayout.javaScriptSafe();
    assertThat(layout.totalBits()).isEqualTo(53);
    assertThat(layout.maxId()).isEqualTo(9_007_199_254_740_991L); // Number.MAX_SAFE_INTEGER
    assertThat((long) (double) layout.maxId()).isEqualTo(layout.maxId());
    assertThat(layout.lastIdAt(layout.horizon())).isEqualTo(9_007_199_254_740_991L);
  }

  @Test
  void agreesWithFastApiBestArchitecture() {
    // (timestamp - epoch) << 22 | cluster << 17 | node << 12 | sequence, worked out by hand for
    // 2024-06-01T12:34:56.789Z: (1717245296789 - 1262275200000) = 454970096789.
    long byHand = 454_970_096_789L * 4_194_304 + 3 * 131_072 + 17 * 4_096 + 42;
    assertThat(byHand).isEqualTo(1_908_282_896_842_952_746L);
    BitLayout layout = BitLayout.fastApiBestArchitecture();
    assertThat(layout.compose(454_970_096_789L, 3, 17, 42)).isEqualTo(byHand);
    SnowflakeId parts = layout.parse(byHand);
    assertThat(parts)
        .isEqualTo(new SnowflakeId(byHand, Instant.parse("2024-06-01T12:34:56.789Z"), 3, 17, 42));
  }

  @Test
  void takesATweetApart() {
    // A tweet of 2015-09-28, whose id and time are public.
    SnowflakeId parts = BitLayout.twitter().parse(648_617_201_586_245_632L);
    assertThat(parts.timestamp()).isBetween("2015-09-28T21:00:00Z", "2015-09-28T23:00:00Z");
  }

  @ParameterizedTest
  @CsvSource({
    "standard, 4096000, 63",
    "twitter, 4096000, 63",
    "javascript-safe, 64000, 53",
    "fastapi-best-architecture, 4096000, 63",
    "'epoch=0,tick=10,bits=39/0/16/8', 25600, 63",
    "'epoch=0,tick=1000,bits=1/0/0/1', 2, 2",
    "'epoch=0,tick=1,bits=33/0/0/30', 1073741824000, 63",
  })
  void saysHowManyIdsASecondItAllowsAndHowManyBitsItTakes(String text, long rate, int bits) {
    assertThat(BitLayout.of(text).idsPerSecond()).isEqualTo(rate);
    assertThat(BitLayout.of(text).totalBits()).isEqualTo(bits);
  }

  // ---- text

  @Property
  void readsBackWhatItWrites(@ForAll("layouts") BitLayout layout) {
    assertThat(BitLayout.of(layout.toString())).isEqualTo(layout).hasToString(layout.toString());
  }

  @Test
  void readsThePresetsByName() {
    assertThat(BitLayout.of("standard")).isEqualTo(BitLayout.standard());
    assertThat(BitLayout.of("twitter")).isEqualTo(BitLayout.twitter());
    assertThat(BitLayout.of("javascript-safe")).isEqualTo(BitLayout.javaScriptSafe());
    assertThat(BitLayout.of("fastapi-best-architecture"))
        .isEqualTo(BitLayout.fastApiBestArchitecture());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "Standard",
        "epoch=1704067200000,tick=1,bits=41/5/5",
        "epoch=1704067200000,tick=1,bits=41/5/5/12 ",
        "epoch=1704067200000, tick=1,bits=41/5/5/12",
        "epoch=17040672000000000,tick=1,bits=41/5/5/12",
        "epoch=1704067200000,tick=1.5,bits=41/5/5/12",
        "epoch=1704067200000,tick=1,bits=-1/5/5/12",
        "epoch=٠,tick=1,bits=41/5/5/12",
      })
  void refusesATextThatIsNoLayout(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> BitLayout.of(text))
        .withMessage(
            "layout must be standard, twitter, javascript-safe, fastapi-best-architecture or like"
                + " epoch=1704067200000,tick=1,bits=41/5/5/12: layout="
                + text);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "epoch=-1,tick=1,bits=41/5/5/12"
            + "| epoch must lie in 1970 to 2200: epoch=1969-12-31T23:59:59.999Z",
        "epoch=7258118400001,tick=1,bits=41/5/5/12"
            + "| epoch must lie in 1970 to 2200: epoch=2200-01-01T00:00:00.001Z",
        "epoch=0,tick=0,bits=41/5/5/12| tick must be whole milliseconds, 1ms to 1s: tick=PT0S",
        "epoch=0,tick=1001,bits=41/5/5/12"
            + "| tick must be whole milliseconds, 1ms to 1s: tick=PT1.001S",
        "epoch=0,tick=1,bits=0/5/5/12| timestampBits must be 1 to 62: timestampBits=0",
        "epoch=0,tick=1,bits=63/0/0/1| timestampBits must be 1 to 62: timestampBits=63",
        "epoch=0,tick=1,bits=20/31/5/5| clusterBits must be 0 to 30: clusterBits=31",
        "epoch=0,tick=1,bits=20/5/31/5| nodeBits must be 0 to 30: nodeBits=31",
        "epoch=0,tick=1,bits=41/5/5/0| sequenceBits must be 1 to 30: sequenceBits=0",
        "epoch=0,tick=1,bits=20/5/5/31| sequenceBits must be 1 to 30: sequenceBits=31",
        "epoch=0,tick=1,bits=41/5/5/13"
            + "| timestampBits + clusterBits + nodeBits + sequenceBits must be <= 63:"
            + " 41 + 5 + 5 + 13 = 64",
      })
  void refusesALayoutThatBreaksARule(String text, String message) {
    assertThatIllegalArgumentException().isThrownBy(() -> BitLayout.of(text)).withMessage(message);
  }

  @Test
  void refusesAnEpochOrATickOfFractionsOfAMillisecond() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new BitLayout(EPOCH.plusNanos(1), MILLISECOND, 41, 5, 5, 12))
        .withMessage("epoch must be whole milliseconds: epoch=2024-01-01T00:00:00.000000001Z");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new BitLayout(EPOCH, Duration.ofNanos(1_500_000), 41, 5, 5, 12))
        .withMessage("tick must be whole milliseconds, 1ms to 1s: tick=PT0.0015S");
  }

  @Test
  void refusesAMissingEpochOrTick() {
    assertThatNullPointerException()
        .isThrownBy(() -> new BitLayout(null, MILLISECOND, 41, 5, 5, 12))
        .withMessage("epoch");
    assertThatNullPointerException()
        .isThrownBy(() -> new BitLayout(EPOCH, null, 41, 5, 5, 12))
        .withMessage("tick");
  }

  @Property
  void refusesOrTakesAnyWidths(
      @ForAll int timestamp, @ForAll int cluster, @ForAll int node, @ForAll int sequence) {
    int t = Math.floorMod(timestamp, 66);
    int c = Math.floorMod(cluster, 33);
    int n = Math.floorMod(node, 33);
    int s = Math.floorMod(sequence, 33);
    boolean legal =
        t >= 1 && t <= 62 && c <= 30 && n <= 30 && s >= 1 && s <= 30 && t + c + n + s <= 63;
    if (legal) {
      assertThat(new BitLayout(EPOCH, MILLISECOND, t, c, n, s).totalBits())
          .isEqualTo(t + c + n + s);
    } else {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> new BitLayout(EPOCH, MILLISECOND, t, c, n, s))
          .withMessageContaining("Bits");
    }
  }
}
