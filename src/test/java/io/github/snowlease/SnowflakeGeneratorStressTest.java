package io.github.snowlease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Eight threads mint while leases come, grow, end and go. */
class SnowflakeGeneratorStressTest {
  private static final int THREADS = 8;
  private static final int IDS_PER_ROUND = 4_000_000;

  /** 65,536 ids a millisecond: the threads race each other rather than wait for ticks. */
  private static final BitLayout LAYOUT =
      new BitLayout(Instant.parse("2024-01-01T00:00:00Z"), Duration.ofMillis(1), 41, 3, 3, 16);

  /** A grant as a store would keep it; until grows with each extension. */
  private static final class Grant {
    final Slot slot;
    final long lo;
    long until;

    Grant(Slot slot, long lo, long until) {
      this.slot = slot;
      this.lo = lo;
      this.until = until;
    }
  }

  private final TimeSource time = TimeSource.SYSTEM;
  private final IdClock clock = new IdClock(time, LAYOUT.epochMillis(), LAYOUT.tickMillis());
  private final SnowflakeGenerator generator =
      new SnowflakeGenerator(
          LAYOUT,
          clock,
          time,
          TimeUnit.SECONDS.toNanos(30),
          (reason, waited) -> new NoLeaseException(reason, "waited=" + waited, null));
  private final List<Grant> grants = new ArrayList<>();

  @Test
  @Timeout(120)
  void mintsTwentyMillionIdsOnChangingSlotsWithoutADuplicate() throws Exception {
    mint(20_000_000, generator, 0);
  }

  /** Four threads a stripe, so that they meet. */
  @Test
  @Timeout(120)
  void mintsTwentyMillionIdsInStripesOnChangingSlotsWithoutADuplicate() throws Exception {
    mint(
        20_000_000,
        new StripedGenerator(generator, clock, LAYOUT, 2, 256),
        LAYOUT.timestampShift());
  }

  @Test
  @Tag("soak")
  @Timeout(600)
  void mintsAHundredMillionIdsOnChangingSlotsWithoutADuplicate() throws Exception {
    mint(100_000_000, generator, 0);
  }

  @Test
  void findsADuplicateThatWasPlanted() {
    assertThatThrownBy(() -> requireStrictlyIncreasing(new long[] {1, 2, 3, 3, 4}))
        .isInstanceOf(AssertionError.class)
        .hasMessage("id 3 follows 3 at 3");
    grants.add(new Grant(new Slot(1, 2), LAYOUT.epochMillis() + 5, LAYOUT.epochMillis() + 7));
    requireInsideGrants(new long[] {LAYOUT.compose(5, 1, 2, 0), LAYOUT.compose(7, 1, 2, 9)});
    assertThatThrownBy(() -> requireInsideGrants(new long[] {LAYOUT.compose(8, 1, 2, 0)}))
        .isInstanceOf(AssertionError.class)
        .hasMessageStartingWith("id outside all grants: SnowflakeId");
    assertThatThrownBy(() -> requireInsideGrants(new long[] {LAYOUT.compose(6, 1, 3, 0)}))
        .isInstanceOf(AssertionError.class)
        .hasMessageStartingWith("id outside all grants: SnowflakeId");
  }

  /** Rounds follow each other in what is left of an id when the unordered bits are cut off. */
  private void mint(int total, IdSource source, int unorderedBits) throws Exception {
    long now = time.nanoTime();
    clock.observe(now, now, time.wallMillis());
    ExecutorService threads = Executors.newFixedThreadPool(THREADS + 1);
    CountDownLatch enough = new CountDownLatch(1);
    try {
      Future<?> leasing = threads.submit(() -> leaseUntil(enough));
      long lastOfRound = 0;
      int minted = 0;
      for (int round = 0; round < total / IDS_PER_ROUND; round++) {
        List<Future<long[]>> results = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
          boolean batches = i % 4 == 3;
          results.add(threads.submit(() -> batches ? mintInBatches(source) : mintOneByOne(source)));
        }
        long[] ids = new long[IDS_PER_ROUND];
        int filled = 0;
        for (Future<long[]> result : results) {
          long[] ofThread = result.get(100, TimeUnit.SECONDS);
          requireStrictlyIncreasing(ofThread);
          System.arraycopy(ofThread, 0, ids, filled, ofThread.length);
          filled += ofThread.length;
        }
        assertThat(filled).isEqualTo(IDS_PER_ROUND);
        Arrays.sort(ids);
        requireStrictlyIncreasing(ids); // sorted: equal ones would stand side by side
        assertThat(ids[0] >>> unorderedBits)
            .as("rounds follow each other")
            .isGreaterThanOrEqualTo(lastOfRound >>> unorderedBits)
            .isNotEqualTo(lastOfRound);
        lastOfRound = ids[ids.length - 1];
        minted += filled;
        requireInsideGrants(ids);
      }
      assertThat(minted).isEqualTo(total);
      enough.countDown();
      leasing.get(30, TimeUnit.SECONDS);
      assertThat(grants).as("the slot has changed").hasSizeGreaterThan(10);
    } finally {
      enough.countDown();
      threads.shutdownNow();
      assertThat(threads.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
    }
  }

  private static long[] mintOneByOne(IdSource source) {
    long[] ids = new long[IDS_PER_ROUND / THREADS];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = source.nextId();
    }
    return ids;
  }

  private static long[] mintInBatches(IdSource source) {
    long[] ids = new long[IDS_PER_ROUND / THREADS];
    long[] batch = new long[1_000];
    for (int i = 0; i < ids.length; i += batch.length) {
      source.nextIds(batch);
      System.arraycopy(batch, 0, ids, i, batch.length);
    }
    return ids;
  }

  private static void requireStrictlyIncreasing(long[] ids) {
    for (int i = 1; i < ids.length; i++) {
      if (ids[i] <= ids[i - 1]) {
        throw new AssertionError("id " + ids[i] + " follows " + ids[i - 1] + " at " + i);
      }
    }
  }

  /** Each id lies in a grant of its slot; grants follow each other, as the ids do. */
  private void requireInsideGrants(long[] sorted) {
    List<Grant> all;
    synchronized (grants) {
      all = List.copyOf(grants);
    }
    int shift = LAYOUT.timestampShift();
    int slotMask = (1 << (LAYOUT.clusterBits() + LAYOUT.nodeBits())) - 1;
    int g = 0;
    for (long id : sorted) {
      long millis = LAYOUT.epochMillis() + (id >>> shift);
      int slot = (int) (id >>> LAYOUT.sequenceBits()) & slotMask;
      while (g < all.size() && !permits(all.get(g), millis, slot)) {
        g++;
      }
      if (g == all.size()) {
        throw new AssertionError("id outside all grants: " + LAYOUT.parse(id));
      }
    }
  }

  private boolean permits(Grant grant, long millis, int slot) {
    synchronized (grants) {
      return ((grant.slot.cluster() << LAYOUT.nodeBits()) | grant.slot.node()) == slot
          && millis >= grant.lo
          && millis <= grant.until;
    }
  }

  /** Grants windows of some milliseconds as a store would, above the fence of each slot. */
  private void leaseUntil(CountDownLatch enough) {
    Random random = new Random(42);
    long[] fences = new long[1 << (LAYOUT.clusterBits() + LAYOUT.nodeBits())];
    while (enough.getCount() > 0) {
      int index = random.nextInt(fences.length);
      Slot slot = new Slot(index >>> LAYOUT.nodeBits(), index & 7);
      long now = clock.estimateAt(time.nanoTime());
      if (now <= fences[index]) {
        continue;
      }
      Grant grant = new Grant(slot, now, now + 1 + random.nextInt(20));
      LeaseWindow window = LeaseWindow.of(LAYOUT, slot, grant.lo, grant.until);
      synchronized (grants) {
        grants.add(grant);
      }
      generator.open(window);
      int renewals = random.nextInt(6);
      for (int i = 0; i < renewals; i++) {
        LockSupport.parkNanos(1_000_000L * random.nextInt(10));
        LeaseWindow longer;
        synchronized (grants) {
          grant.until =
              Math.max(grant.until, clock.estimateAt(time.nanoTime()) + random.nextInt(20));
          longer = LeaseWindow.of(LAYOUT, slot, grant.lo, grant.until);
        }
        if (generator.extend(window, longer)) {
          window = longer;
        }
      }
      generator.seal();
      fences[index] = LAYOUT.epochMillis() + generator.lastTick();
    }
  }
}
