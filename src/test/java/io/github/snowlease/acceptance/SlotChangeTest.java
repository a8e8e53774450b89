package io.github.snowlease.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.snowlease.LeaseEvent;
import io.github.snowlease.LeaseState;
import io.github.snowlease.NoLeaseException;
import io.github.snowlease.Slot;
import io.github.snowlease.Snowflake;
import io.github.snowlease.testing.RedisExtension;
import io.github.snowlease.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Many ids at full speed while the slot is taken away from the process again and again. */
@ExtendWith(RedisExtension.class)
class SlotChangeTest {
  private static final int THREADS = 8;

  @Test
  @Timeout(value = 3, unit = TimeUnit.MINUTES)
  void ten_million_ids_over_8_threads_and_several_slots_are_unique_and_increase_per_thread(
      RedisServer redis) throws Exception {
    mintWhileSlotsChange(redis, 10_000_000, 300);
  }

  /** Takes 800 MB of heap, and as much again to sort. */
  @Test
  @Tag("soak")
  @Timeout(value = 20, unit = TimeUnit.MINUTES)
  void a_hundred_million_ids_over_8_threads_and_several_slots_are_unique_and_increase_per_thread(
      RedisServer redis) throws Exception {
    mintWhileSlotsChange(redis, 100_000_000, 1_000);
  }

  private static void mintWhileSlotsChange(RedisServer redis, int count, long stealEveryMillis)
      throws Exception {
    Leases leases = Leases.create(redis, 10);
    List<LeaseEvent> events = new CopyOnWriteArrayList<>();
    long[] ids = new long[count];
    AtomicLong refused = new AtomicLong();
    int thefts = 0;
    long took;
    try (Quiet quiet = Quiet.begin();
        Snowflake snowflake =
            leases
                .builder()
                .heartbeatInterval(Duration.ofMillis(100))
                .listener(events::add)
                .start()) {
      long begin = System.nanoTime();
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        int share = count / THREADS;
        int from = i * share;
        Thread thread = new Thread(() -> fill(snowflake, ids, from, from + share, refused), "mint");
        thread.start();
        threads.add(thread);
      }
      while (threads.stream().anyMatch(Thread::isAlive)) {
        threads.get(0).join(stealEveryMillis);
        // An operator blocks the slot in use: the next renewal finds the lease key in other hands.
        for (Slot slot : snowflake.status().slot().stream().toList()) {
          redis.command(
              "SET", leases.keyPrefix() + ":nodes:" + slot, "blocked by an operator", "EX", "60");
          thefts++;
        }
        if (!threads.get(0).isAlive()) {
          for (Thread thread : threads) {
            thread.join();
          }
        }
      }
      took = System.nanoTime() - begin;
      assertThat(quiet).isNotNull();
    }
    for (int i = 0; i < THREADS; i++) {
      int share = count / THREADS;
      for (int at = i * share + 1; at < (i + 1) * share; at++) {
        if (ids[at] <= ids[at - 1]) {
          throw new AssertionError("ids of a thread must increase: " + ids[at - 1] + " " + ids[at]);
        }
      }
    }
    Arrays.sort(ids);
    long duplicates = 0;
    for (int at = 1; at < count; at++) {
      if (ids[at] == ids[at - 1]) {
        duplicates++;
      }
    }
    List<Slot> slots =
        events.stream()
            .filter(event -> event.to() == LeaseState.HELD)
            .flatMap(event -> event.slot().stream())
            .toList();
    Figures.say(
        "%,d ids over %d threads in %.1f s on %d slots, one after the other (%d taken away, %d calls"
            + " refused and asked again): %d duplicates",
        count, THREADS, Figures.seconds(took), slots.size(), thefts, refused.get(), duplicates);
    assertThat(duplicates).isZero();
    assertThat(slots).hasSizeGreaterThan(2);
  }

  private static void fill(Snowflake snowflake, long[] ids, int from, int to, AtomicLong refused) {
    int at = from;
    while (at < to) {
      try {
        ids[at] = snowflake.nextId();
        at++;
      } catch (NoLeaseException e) {
        refused.incrementAndGet();
      }
    }
  }
}
