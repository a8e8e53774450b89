package io.github.snowlease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.PrimitiveIterator;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.stream.LongStream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class IdSpliteratorTest {
  private static final long EPOCH = 1_704_067_200_000L;
  private static final long START = EPOCH + 1_000_000;

  /** 4,096 ids a tick: four batches. */
  private static final BitLayout LAYOUT =
      new BitLayout(Instant.ofEpochMilli(EPOCH), Duration.ofMillis(1), 41, 5, 5, 12);

  private final ManualTime time = new ManualTime(0);
  private final IdClock clock = new IdClock(time, EPOCH, 1);
  private final SnowflakeGenerator generator =
      new SnowflakeGenerator(
          LAYOUT,
          clock,
          time,
          0,
          (reason, waited) -> new NoLeaseException(reason, reason.name(), null));

  @BeforeEach
  void open() {
    clock.observe(0, 0, START);
    generator.open(LeaseWindow.of(LAYOUT, new Slot(3, 17), START - 10, START + 25_000));
  }

  private LongStream stream(long count) {
    return StreamSupport.longStream(new IdSpliterator(generator, count), false);
  }

  /** How many words of this tick are minted. */
  private long minted() {
    return (generator.word() & 4_095) + 1;
  }

  @Test
  void mints_as_many_as_asked_for_and_each_word_of_a_tick() {
    assertThat(stream(4_096).toArray())
        .isEqualTo(
            LongStream.range(0, 4_096).map(i -> LAYOUT.compose(1_000_000, 3, 17, i)).toArray());
    assertThat(minted()).isEqualTo(4_096);
  }

  @Test
  void goes_on_from_tick_to_tick() {
    time.tickAtEachRead(300_000); // a tick is over after four batches
    long[] ids = stream(10_000).toArray();
    assertThat(ids).hasSize(10_000).isSorted().doesNotHaveDuplicates();
    assertThat(ids[9_999] >>> LAYOUT.timestampShift()).isLessThanOrEqualTo(clock.tick());
  }

  @Test
  void mints_nothing_before_it_is_read_and_a_batch_at_a_time_then() {
    PrimitiveIterator.OfLong ids = stream(Long.MAX_VALUE).iterator();
    assertThat(generator.nextId()).isEqualTo(LAYOUT.compose(1_000_000, 3, 17, 0));
    ids.nextLong();
    assertThat(minted()).isEqualTo(1 + 1_024);
    for (int i = 1; i < 1_024; i++) {
      ids.nextLong();
    }
    assertThat(minted()).isEqualTo(1 + 1_024);
    ids.nextLong();
    assertThat(minted()).isEqualTo(1 + 2_048);
  }

  @Test
  void mints_no_more_than_are_asked_for() {
    assertThat(stream(1_025).sum()).isPositive();
    assertThat(minted()).isEqualTo(1_025);
  }

  @Test
  void none_need_no_lease() {
    generator.seal();
    assertThat(stream(0).toArray()).isEmpty();
  }

  @Test
  void gives_the_ids_of_its_batch_when_the_lease_is_lost_and_then_throws() {
    PrimitiveIterator.OfLong ids = stream(2_000).iterator();
    List<Long> got = new ArrayList<>();
    got.add(ids.nextLong());
    generator.seal();
    long fence = generator.lastTick();
    assertThatThrownBy(
            () -> {
              while (true) {
                got.add(ids.nextLong());
              }
            })
        .isInstanceOf(NoLeaseException.class)
        .hasMessage("LOST");
    assertThat(got).hasSize(1_024).isSorted();
    assertThat(got.get(1_023) >>> LAYOUT.timestampShift())
        .as("what was reserved lies below the fence")
        .isLessThanOrEqualTo(fence);
  }

  @Test
  void goes_on_where_it_stopped_after_it_threw() {
    PrimitiveIterator.OfLong ids = stream(5_000).iterator();
    for (int i = 0; i < 4_096; i++) {
      ids.nextLong();
    }
    assertThatThrownBy(ids::nextLong).isInstanceOf(NoLeaseException.class).hasMessage("SATURATED");
    time.advanceMillis(1);
    for (int i = 0; i < 904; i++) {
      assertThat(ids.nextLong()).isEqualTo(LAYOUT.compose(1_000_001, 3, 17, i));
    }
    assertThat(ids.hasNext()).isFalse();
  }

  @Test
  void keeps_the_order_of_a_thread_with_its_other_ids() {
    StripedGenerator striped = new StripedGenerator(generator, clock, LAYOUT);
    for (int i = 0; i < 20; i++) { // so that a block with free words is left
      striped.nextId();
    }
    PrimitiveIterator.OfLong ids = Spliterators.iterator(new IdSpliterator(striped, 10));
    long ofStream = ids.nextLong();
    assertThat(striped.nextId()).isGreaterThan(ofStream + 9);
  }

  @Test
  void gives_no_id_twice_to_a_reader_that_reads_on_while_it_reads() {
    IdSpliterator ids = new IdSpliterator(generator, 3_000);
    List<Long> got = new ArrayList<>();
    ids.forEachRemaining(
        (long id) -> {
          got.add(id);
          ids.tryAdvance((long another) -> got.add(another));
        });
    assertThat(got).hasSize(3_000).doesNotHaveDuplicates();
  }

  @Test
  void is_sorted_and_of_a_known_size_and_does_not_split() {
    IdSpliterator ids = new IdSpliterator(generator, 3_000);
    assertThat(ids.getExactSizeIfKnown()).isEqualTo(3_000);
    assertThat(ids.hasCharacteristics(Spliterator.SORTED | Spliterator.DISTINCT)).isTrue();
    assertThat(ids.getComparator()).isNull();
    ids.tryAdvance((long id) -> assertThat(id).isPositive());
    assertThat(ids.getExactSizeIfKnown()).isEqualTo(2_999);
    assertThat(ids.trySplit()).isNull();
    assertThat(stream(2_000).parallel().distinct().count()).isEqualTo(2_000);
  }

  @Test
  void refuses_a_negative_count() {
    try (Snowflake snowflake =
        Snowflake.builder().store("none").namespace("stream").clusterId(1).nodeId(1).start()) {
      assertThatThrownBy(() -> snowflake.ids(-1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("count must not be negative: count=-1");
      assertThat(snowflake.ids(20_000).toArray()).hasSize(20_000).isSorted();
    }
  }
}
