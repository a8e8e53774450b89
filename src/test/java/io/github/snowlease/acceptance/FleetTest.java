package io.github.snowlease.acceptance;

import static io.github.snowlease.acceptance.Figures.list;
import static io.github.snowlease.acceptance.Figures.secondsSince;
import static io.github.snowlease.acceptance.Leases.answer;
import static io.github.snowlease.acceptance.Leases.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.snowlease.LeaseEvent;
import io.github.snowlease.LeaseStore.LedgerEntry;
import io.github.snowlease.NoFreeNodeException;
import io.github.snowlease.Slot;
import io.github.snowlease.Snowflake;
import io.github.snowlease.demo.IdFile;
import io.github.snowlease.redis.RedisLeaseStore;
import io.github.snowlease.testing.JavaProcess;
import io.github.snowlease.testing.RedisExtension;
import io.github.snowlease.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Many who lease at once. */
@ExtendWith(RedisExtension.class)
@Timeout(value = 4, unit = TimeUnit.MINUTES)
class FleetTest {
  private static final Duration START_LIMIT = Duration.ofMinutes(3);

  private final Quiet quiet = Quiet.begin();
  private final List<AutoCloseable> open = new ArrayList<>();
  private final RedisServer redis;

  FleetTest(RedisServer redis) {
    this.redis = redis;
  }

  @AfterEach
  void closeAll() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
    quiet.close();
  }

  private <T extends AutoCloseable> T opened(T resource) {
    open.add(resource);
    return resource;
  }

  // ---- Processes that start together

  /** Fewer than {@link #fifty_processes_that_start_together} to keep the ordinary build short. */
  @Test
  void twelve_processes_that_start_together_lease_twelve_slots() {
    startTogether(12);
  }

  @Test
  @Tag("soak")
  void fifty_processes_that_start_together() {
    startTogether(50);
  }

  private void startTogether(int count) {
    // A lease so long that no renewal, which is an EVALSHA too, is among those counted.
    Leases leases = Leases.create(redis, 600);
    redis.command("CONFIG", "RESETSTAT");
    long begin = System.nanoTime();
    List<JavaProcess> processes = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      processes.add(
          opened(
              JavaProcess.of(MintingProcess.class)
                  .arguments("0")
                  .jvmOptions("-Xmx64m", "-Xshare:auto")
                  .environment("SNOWFLAKE_STORE", leases.uri())
                  .environment("SNOWFLAKE_NAMESPACE", leases.namespace())
                  .environment("SNOWFLAKE_LEASE_TTL", "600s")
                  .environment("SNOWFLAKE_ACQUIRE_TIMEOUT", "620s")
                  .environment("SNOWFLAKE_HEARTBEAT_INTERVAL", "200s")
                  .start()));
    }
    Set<String> slots = new HashSet<>();
    for (JavaProcess process : processes) {
      slots.add(process.awaitLine("started ", START_LIMIT).split(" ", -1)[1]);
    }
    double seconds = secondsSince(begin);
    int asked = calls("eval") + calls("evalsha") + calls("hgetall");
    Figures.say(
        "%d processes started together: %d slots in %.1f s, %.2f of EVAL, EVALSHA and HGETALL a start",
        count, slots.size(), seconds, (double) asked / count);
    assertThat(slots).hasSize(count).doesNotContain("none");
    assertThat((double) asked / count).isLessThanOrEqualTo(3);
  }

  private int calls(String command) {
    Matcher found =
        Pattern.compile("(?m)^cmdstat_" + command + ":calls=(\\d+)")
            .matcher(redis.command("INFO", "commandstats"));
    return found.find() ? Integer.parseInt(found.group(1)) : 0;
  }

  // ---- A full namespace

  @Test
  void all_1024_slots_are_leased_the_1025th_fails_with_counts_and_a_release_lets_it_in()
      throws Exception {
    Leases leases = Leases.create(redis, 30);
    RedisLeaseStore store = opened(leases.openStore());
    long begin = System.nanoTime();
    List<CompletableFuture<Snowflake>> starts = new ArrayList<>();
    for (int i = 0; i < 1_024; i++) {
      starts.add(leases.builder(store).startAsync());
    }
    List<Snowflake> all = new ArrayList<>();
    Set<Slot> slots = new HashSet<>();
    for (CompletableFuture<Snowflake> start : starts) {
      Snowflake ids = start.get(90, TimeUnit.SECONDS);
      all.add(ids);
      slots.add(ids.parse(ids.nextId()).slot());
    }
    double seconds = secondsSince(begin);
    assertThat(slots).hasSize(1_024);

    NoFreeNodeException full =
        catchThrowableOfType(
            NoFreeNodeException.class,
            // An impatient start is allowed only so; the namespace exists, so nothing is trusted.
            () ->
                leases
                    .builder(store)
                    .trustEmptyRedis(true)
                    .acquireTimeout(Duration.ofSeconds(3))
                    .start());
    assertThat(full.slots()).isEqualTo(1_024);
    assertThat(full.held()).isEqualTo(1_024);
    assertThat(full.retryAfter())
        .hasValueSatisfying(
            wait -> assertThat(wait).isBetween(Duration.ZERO, Duration.ofSeconds(31)));

    List<Double> millis = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      TimedStore timed = new TimedStore(store);
      CompletableFuture<Snowflake> late = leases.builder(timed).startAsync();
      awaitTrue("a first look at the ledger", () -> timed.reads() > 0);
      all.remove(all.size() - 1).close();
      timed.mark();
      Snowflake in = late.get(20, TimeUnit.SECONDS);
      millis.add(timed.millisFromNextTryToGrant());
      all.add(0, in);
      in.nextId();
    }
    Figures.say(
        "1,024 leases of 1,024 slots in %.1f s; the next one failed with: held %d, free in %d ms; after"
            + " a release it was in %s ms after its next try",
        seconds, full.held(), full.retryAfter().orElseThrow().toMillis(), list(millis));
    assertThat(millis).anySatisfy(took -> assertThat(took).isLessThan(100));

    long beginClose = System.nanoTime();
    all.parallelStream().forEach(Snowflake::close);
    Figures.say("1,024 leases handed back in %.1f s", secondsSince(beginClose));
    assertThat(answer(store.readLedger(leases.terms())).values()).noneMatch(LedgerEntry::held);
  }

  // ---- Lost replies

  @Test
  void with_one_reply_in_three_lost_no_slot_is_lost_and_no_call_fails() throws Exception {
    loseReplies(10, Duration.ofSeconds(12));
  }

  @Test
  @Tag("soak")
  void with_one_reply_in_three_lost_for_five_minutes_no_slot_is_lost_and_no_call_fails()
      throws Exception {
    loseReplies(10, Duration.ofMinutes(3));
  }

  private void loseReplies(int count, Duration length) throws Exception {
    Leases leases = Leases.create(redis, 30);
    RedisLeaseStore store = opened(leases.openStore());
    List<LeaseEvent> events = new CopyOnWriteArrayList<>();
    List<DroppingStore> stores = new ArrayList<>();
    List<CompletableFuture<Snowflake>> starts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      DroppingStore dropping = new DroppingStore(store, i);
      stores.add(dropping);
      starts.add(leases.builder(dropping).listener(events::add).startAsync());
    }
    List<Load> loads = new ArrayList<>();
    for (CompletableFuture<Snowflake> start : starts) {
      Snowflake ids = opened(start.get(60, TimeUnit.SECONDS));
      loads.add(Load.on(ids));
    }
    events.clear();
    TimeUnit.NANOSECONDS.sleep(length.toNanos());
    List<LeaseEvent> losses = List.copyOf(events);
    List<long[]> ids = loads.stream().map(Load::end).toList();
    List<Load.Failure> failures = loads.stream().flatMap(load -> load.failures().stream()).toList();
    awaitTrue("claims without an answer are undone", () -> leases.held(store) == count);
    Figures.say(
        "%d of %d replies lost in %d s: %d slots lost, %d failed calls of %,d ids",
        stores.stream().mapToInt(DroppingStore::dropped).sum(),
        stores.stream().mapToInt(DroppingStore::questions).sum(),
        length.toSeconds(),
        losses.size(),
        failures.size(),
        ids.stream().mapToInt(some -> some.length).sum());
    assertThat(losses).isEmpty();
    assertThat(failures).isEmpty();
    assertThat(IdFile.duplicates(ids)).isZero();
  }
}
