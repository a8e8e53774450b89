package io.github.snowlease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StripedGeneratorTest {
  private static final long EPOCH = 1_704_067_200_000L;
  private static final long START = EPOCH + 1_000_000; // tick 1,000,000
  private static final Slot SLOT = new Slot(3, 17);
  private static final Slot LOWER = new Slot(0, 0);

  /** 256 ids a tick, blocks of 16 at most. */
  private static final BitLayout LAYOUT =
      new BitLayout(Instant.ofEpochMilli(EPOCH), Duration.ofMillis(1), 41, 5, 5, 8);

  private final ManualTime time = new ManualTime(0);
  private final IdClock clock = new IdClock(time, EPOCH, 1);
  private final SnowflakeGenerator shared =
      new SnowflakeGenerator(
          LAYOUT,
          clock,
          time,
          0,
          (reason, waited) -> new NoLeaseException(reason, reason.name(), null));
  private final StripedGenerator ids = new StripedGenerator(shared, clock, LAYOUT);
  private final List<ExecutorService> threads = new ArrayList<>();

  StripedGeneratorTest() {
    clock.observe(0, 0, START);
  }

  @AfterEach
  void endThreads() {
    threads.forEach(ExecutorService::shutdownNow);
  }

  private LeaseWindow open(Slot slot) {
    LeaseWindow window = LeaseWindow.of(LAYOUT, slot, START - 10, START + 25_000);
    assertThat(shared.open(window)).isTrue();
    return window;
  }

  /** A thread of its own, of a stripe of its own unless there are many. */
  private LongSupplier otherThread() {
    ExecutorService thread = Executors.newSingleThreadExecutor();
    threads.add(thread);
    return () -> {
      try {
        return thread.submit(ids::nextId).get(30, TimeUnit.SECONDS);
      } catch (Exception e) {
        throw new AssertionError(e);
      }
    };
  }

  private static long tick(long id) {
    return id >>> LAYOUT.timestampShift();
  }

  private static long sequence(long id) {
    return LAYOUT.parse(id).sequence();
  }

  /** Two, four, eight: until a block is left in which so many words are free. */
  private void growBlock() {
    for (int i = 0; i < 8; i++) { // 1 + 2 + 4 are used up, and one of 8
      ids.nextId();
    }
  }

  @Test
  void aThreadAloneGetsEachWord() {
    open(SLOT);
    for (int i = 0; i < 256; i++) {
      assertThat(ids.nextId()).isEqualTo(LAYOUT.compose(1_000_000, 3, 17, i));
    }
    assertThatThrownBy(ids::nextId).hasMessage("SATURATED");
    time.advanceMillis(1);
    assertThat(ids.nextId()).isEqualTo(LAYOUT.compose(1_000_001, 3, 17, 0));
  }

  @Test
  void anotherThreadGetsABlockOfItsOwn() {
    open(SLOT);
    growBlock(); // words 0 to 7, and 8 to 14 are left
    LongSupplier other = otherThread();
    assertThat(sequence(other.getAsLong())).isEqualTo(15);
    assertThat(sequence(ids.nextId())).isEqualTo(8);
  }

  @Test
  void aBlockDiesWithItsTick() {
    open(SLOT);
    growBlock();
    time.advanceMillis(1);
    assertThat(tick(ids.nextId())).isEqualTo(1_000_001);
  }

  /** The clock alone does not see to it, as it may go back a little between two readers. */
  @Test
  void aBlockDiesOnceAnybodyHasAnIdOfALaterTick() {
    open(SLOT);
    growBlock();
    time.advanceMillis(1);
    LongSupplier other = otherThread();
    assertThat(tick(other.getAsLong())).isEqualTo(1_000_001);
    time.advanceNanos(-1_000_000);
    assertThatThrownBy(ids::nextId).hasMessage("SATURATED");
  }

  @Test
  void aSealedBlockMintsNothing() {
    open(SLOT);
    growBlock();
    shared.seal();
    assertThat(shared.lastTick()).isEqualTo(1_000_000);
    assertThatThrownBy(ids::nextId).hasMessage("LOST");
    shared.close();
    assertThatThrownBy(ids::nextId).hasMessage("CLOSED");
  }

  @Test
  void theWholeBlockLiesBelowTheFence() {
    open(SLOT);
    growBlock();
    shared.seal();
    assertThat(shared.word() & 0xff).isEqualTo(14);
  }

  @Test
  void aBlockOfALeaseThatWasGivenUpIsNotUsedOnceAnotherHasCome() {
    open(SLOT);
    growBlock();
    shared.seal();
    open(LOWER);
    assertThatThrownBy(ids::nextId).hasMessage("SATURATED"); // the new lease begins a tick later
    time.advanceMillis(1);
    assertThat(LAYOUT.parse(ids.nextId()).slot()).isEqualTo(LOWER);
  }

  @Test
  void aBatchEndsTheBlockOfItsThread() {
    open(SLOT);
    growBlock();
    long[] batch = new long[3];
    ids.nextIds(batch);
    assertThat(sequence(batch[0])).isEqualTo(15);
    assertThat(sequence(ids.nextId())).isGreaterThan(17);
  }

  @Test
  void blocksGrowWhereTheyAreUsedUpAndShrinkWhereTheyAreNot() {
    open(SLOT);
    for (int i = 0; i < 1 + 2 + 4 + 8 + 16 + 1; i++) {
      ids.nextId();
    }
    assertThat(shared.word() & 0xff).as("16 again, the most").isEqualTo(1 + 2 + 4 + 8 + 16 + 15);
    int[] reserved = new int[6];
    for (int i = 0; i < reserved.length; i++) {
      time.advanceMillis(1);
      ids.nextId();
      reserved[i] = (int) (shared.word() & 0xff) + 1;
    }
    assertThat(reserved).containsExactly(8, 4, 2, 1, 1, 1);
  }

  /** Each takes an id a tick: that must not cost more than a few words each. */
  @Test
  void manyThreadsAtLowRatesExhaustNoTick() throws InterruptedException {
    open(SLOT);
    List<Thread> waiting = new ArrayList<>();
    for (int t = 0; t < 10; t++) {
      Set<Long> minted = ConcurrentHashMap.newKeySet();
      for (int i = 0; i < 100; i++) {
        Thread thread = new Thread(() -> minted.add(ids.nextId()));
        waiting.add(thread);
        thread.start();
      }
      for (Thread thread : waiting) {
        thread.join();
      }
      waiting.clear();
      assertThat(minted).as("of 256 ids of a tick").hasSize(100);
      time.advanceMillis(1);
    }
  }

  /** Steps of three threads in any order, of which none runs into another. */
  @Property(tries = 200)
  void idsAreUniqueIncreasingForEachThreadAndByTickOverAll(@ForAll long seed) {
    StripedGeneratorTest f = new StripedGeneratorTest();
    assertThat(f.broken(seed, f.ids)).isEmpty();
  }

  @Test
  void findsAMissingLookAtTheClock() {
    assertThat(brokenWithout((block, tick, word) -> block.tick == word >>> 8)).contains("clock");
  }

  @Test
  void findsAMissingLookAtTheGeneratorsWord() {
    assertThat(brokenWithout((block, tick, word) -> block.tick == tick))
        .contains("sealed", "slot", "by tick");
  }

  @Test
  void findsABatchThatDoesNotEndTheBlockOfItsThread() {
    assertThat(
            brokenBy(
                f ->
                    new StripedGenerator(f.shared, f.clock, LAYOUT) {
                      @Override
                      public WordBlock reserve(int most) {
                        return f.shared.reserve(most);
                      }
                    }))
        .contains("per thread");
  }

  private interface Check {
    boolean mayTakeFrom(StripedGenerator.Block block, long tick, long word);
  }

  private static Set<String> brokenWithout(Check left) {
    return brokenBy(
        f ->
            new StripedGenerator(f.shared, f.clock, LAYOUT) {
              @Override
              boolean mayTakeFrom(Block block, long tick, long word) {
                return left.mayTakeFrom(block, tick, word);
              }
            });
  }

  private static Set<String> brokenBy(Function<StripedGeneratorTest, StripedGenerator> mutant) {
    Set<String> broken = new HashSet<>();
    for (long seed = 0; seed < 300; seed++) {
      StripedGeneratorTest f = new StripedGeneratorTest();
      broken.addAll(f.broken(seed, mutant.apply(f)));
    }
    return broken;
  }

  /** The rules that a run broke. */
  private Set<String> broken(long seed, StripedGenerator tried) {
    Set<String> broken = new HashSet<>();
    Random random = new Random(seed);
    Set<Long> all = new HashSet<>();
    Slot slot = SLOT;
    open(slot);
    boolean sealed = false;
    long last = -1;
    long lastTick = -1;
    for (int step = 0; step < 400; step++) {
      switch (random.nextInt(24)) {
        case 0 -> time.advanceNanos(random.nextInt(2_000_000));
        case 4 -> { // as a reader sees it who read the clock before another did
          time.advanceNanos(1_000_000);
          try {
            long id = shared.nextId();
            all.add(id);
            lastTick = Math.max(lastTick, tick(id));
          } catch (NoLeaseException e) {
            // no lease
          }
          time.advanceNanos(-1_000_000);
        }
        case 1 -> {
          shared.seal();
          sealed = true;
        }
        case 2, 3 -> {
          if (sealed) {
            slot = new Slot(random.nextInt(32), random.nextInt(32));
            open(slot);
            sealed = false;
          }
        }
        default -> {
          boolean otherStripe = random.nextInt(4) == 0;
          long[] got = new long[random.nextInt(6) == 0 ? 3 : 1];
          try {
            if (otherStripe) {
              shared.nextIds(got); // as good as a thread that has used up its block
            } else if (got.length > 1) {
              tried.nextIds(got);
            } else {
              got[0] = tried.nextId();
            }
          } catch (NoLeaseException e) {
            continue;
          }
          if (sealed) {
            broken.add("sealed");
          }
          for (long id : got) {
            if (!all.add(id)) {
              broken.add("unique");
            }
            if (!LAYOUT.parse(id).slot().equals(slot)) {
              broken.add("slot");
            }
            if (tick(id) != clock.tick()) {
              broken.add("clock");
            }
            if (tick(id) < lastTick) {
              broken.add("by tick");
            }
            lastTick = tick(id);
            if (!otherStripe) {
              if (id <= last) {
                broken.add("per thread");
              }
              last = id;
            }
          }
        }
      }
    }
    return broken;
  }
}
