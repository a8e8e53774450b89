package io.github.snowlease.acceptance;

import static io.github.snowlease.acceptance.Figures.list;
import static io.github.snowlease.acceptance.Figures.seconds;
import static io.github.snowlease.acceptance.Figures.secondsSince;
import static io.github.snowlease.acceptance.Leases.answer;
import static io.github.snowlease.acceptance.Leases.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.snowlease.BitLayout;
import io.github.snowlease.LeaseEvent;
import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseStore.Claim;
import io.github.snowlease.LeaseStore.Granted;
import io.github.snowlease.LeaseStore.Holder;
import io.github.snowlease.NoLeaseException;
import io.github.snowlease.Slot;
import io.github.snowlease.Snowflake;
import io.github.snowlease.demo.IdFile;
import io.github.snowlease.testing.JavaProcess;
import io.github.snowlease.testing.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * How long it takes until all is well again. Each test has a Redis of its own and waits most of its
 * time, so they wait together: all begin before the first, when each has set up its processes.
 */
@Timeout(value = 4, unit = TimeUnit.MINUTES)
class LivenessTest {
  private static final Duration START_LIMIT = Duration.ofMinutes(2);
  private static final long RESULT_LIMIT_SECONDS = 200;
  private static final BitLayout LAYOUT = BitLayout.standard();

  /** Lease of those tests that wait for its end: H is 20 s then, and the window 5 s. */
  private static final int SHORT_LEASE = 10;

  private static final int DEFAULT_LEASE = 30;

  private static final Slot NO_SLOT = new Slot(9_999, 0);

  private static final ExecutorService THREADS =
      Executors.newCachedThreadPool(
          task -> {
            Thread thread = new Thread(task, "scenario");
            thread.setDaemon(true);
            return thread;
          });

  private static final List<RedisServer> SERVERS = new CopyOnWriteArrayList<>();
  private static final List<AutoCloseable> OPEN = new CopyOnWriteArrayList<>();
  private static final int SCENARIOS = 7;

  /** Counts those that have set up, so that no JVM starts while another scenario measures. */
  private static final CountDownLatch READY = new CountDownLatch(SCENARIOS);

  @TempDir private static Path directory;

  private static Future<Outage> hanging;
  private static Future<Outage> restarted;
  private static Future<Loss> gone;
  private static Future<List<Double>> returned;
  private static Future<Reuse> killed;
  private static Future<Flush> flushed;
  private static Future<Sleep> stopped;

  private static Quiet quiet;

  @BeforeAll
  static void beginAll() {
    quiet = Quiet.begin();
    hanging = begin(redis -> outage(redis, RedisServer::pause, RedisServer::resume));
    restarted = begin(redis -> outage(redis, RedisServer::kill, RedisServer::restart));
    gone = begin(redis -> loss(redis, SHORT_LEASE, 25, LivenessTest::awaitAllReady));
    returned = begin(LivenessTest::restartAfterTheWindows);
    killed = begin(LivenessTest::reuse);
    flushed = begin(LivenessTest::flush);
    stopped = begin(LivenessTest::sleep);
  }

  @AfterAll
  static void endAll() {
    THREADS.shutdownNow();
    for (AutoCloseable open : OPEN) {
      closeQuietly(open);
    }
    SERVERS.forEach(RedisServer::close);
    quiet.close();
  }

  private static void closeQuietly(AutoCloseable open) {
    try {
      open.close();
    } catch (Exception e) {
      System.err.println("left open: " + e);
    }
  }

  /** What one test waits for, on a Redis of its own. */
  private interface Scenario<T> {
    T play(RedisServer redis) throws Exception;
  }

  private static <T> Future<T> begin(Scenario<T> scenario) {
    RedisServer redis = RedisServer.launch();
    SERVERS.add(redis);
    return THREADS.submit(() -> scenario.play(redis));
  }

  private static void awaitAllReady() throws InterruptedException {
    READY.countDown();
    if (!READY.await(2, TimeUnit.MINUTES)) {
      throw new IllegalStateException("scenarios that have not set up: " + READY.getCount());
    }
  }

  private static <T> T result(Future<T> scenario) throws Exception {
    try {
      return scenario.get(RESULT_LIMIT_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw (Exception) e.getCause();
    }
  }

  private static Snowflake open(Snowflake ids) {
    OPEN.add(ids);
    return ids;
  }

  // ---- Redis is away for 20 s

  record Outage(
      double seconds,
      int snowflakes,
      List<Load.Failure> failures,
      List<Long> phasesMillis,
      List<LeaseEvent> losses,
      List<long[]> ids) {}

  private static Outage outage(
      RedisServer redis, Consumer<RedisServer> begin, Consumer<RedisServer> end)
      throws InterruptedException {
    Leases leases = Leases.create(redis, DEFAULT_LEASE);
    List<LeaseEvent> losses = new CopyOnWriteArrayList<>();
    List<Snowflake> snowflakes = new ArrayList<>();
    List<Load> loads = new ArrayList<>();
    int count = 5;
    for (int i = 0; i < count; i++) {
      Snowflake ids = open(leases.builder().listener(losses::add).start());
      snowflakes.add(ids);
      loads.add(Load.on(ids));
    }
    awaitAllReady();
    // Each renewal is due 2.4 s to 3.6 s after the one before: by now they have drifted apart.
    TimeUnit.SECONDS.sleep(4);
    losses.clear();
    List<Long> phases =
        snowflakes.stream()
            .map(
                ids ->
                    leases.terms().window()
                        - Duration.between(Instant.now(), ids.status().windowEnd().orElseThrow())
                            .toMillis())
            .toList();
    begin.accept(redis);
    long began = System.nanoTime();
    TimeUnit.SECONDS.sleep(20);
    end.accept(redis);
    double seconds = secondsSince(began);
    long ended = System.nanoTime();
    awaitTrue(
        "a renewal of each lease",
        () ->
            snowflakes.stream()
                .allMatch(
                    ids ->
                        ids.status().sinceRenewal().orElseThrow().toNanos()
                            < System.nanoTime() - ended));
    List<long[]> ids = loads.stream().map(Load::end).toList();
    return new Outage(
        seconds,
        count,
        loads.stream().flatMap(load -> load.failures().stream()).toList(),
        phases,
        List.copyOf(losses),
        ids);
  }

  @Test
  void while_Redis_hangs_for_20_s_no_call_fails() throws Exception {
    requireUnharmed("hung", result(hanging));
  }

  @Test
  void while_Redis_is_dead_for_20_s_and_restarted_with_its_data_no_call_fails() throws Exception {
    requireUnharmed("was dead and restarted", result(restarted));
  }

  private static void requireUnharmed(String what, Outage outage) {
    Figures.say(
        "Redis %s for %.1f s: %d failed calls of %,d ids on %d leases, last renewed %s ms before, %d"
            + " leases lost",
        what,
        outage.seconds,
        outage.failures.size(),
        count(outage.ids),
        outage.snowflakes,
        outage.phasesMillis,
        outage.losses.size());
    assertThat(outage.failures).isEmpty();
    assertThat(outage.losses).isEmpty();
    requireUnique(outage.ids);
  }

  private static int count(List<long[]> ids) {
    return ids.stream().mapToInt(some -> some.length).sum();
  }

  private static void requireUnique(List<long[]> ids) {
    assertThat(ids).allMatch(some -> some.length > 0).allMatch(IdFile::isIncreasing);
    assertThat(IdFile.duplicates(ids)).isZero();
  }

  // ---- Redis is away for longer than the window

  /** What three leases went through. */
  record Loss(
      double seconds,
      List<Double> firstFailureAfterWindow,
      List<Double> backAfterReturn,
      List<Load.Failure> failures,
      long idsOutsideWindow,
      List<long[]> ids) {}

  /** Sets up before the others are ready, and measures afterwards. */
  interface Barrier {
    void await() throws InterruptedException;
  }

  static Loss loss(RedisServer redis, int leaseSeconds, int awaySeconds, Barrier ready)
      throws InterruptedException {
    Leases leases = Leases.create(redis, leaseSeconds);
    List<Snowflake> snowflakes = new ArrayList<>();
    List<Load> loads = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      Snowflake ids = open(leases.builder().start());
      snowflakes.add(ids);
    }
    ready.await();
    snowflakes.forEach(ids -> loads.add(Load.on(ids)));
    loads.forEach(load -> load.awaitNext(Duration.ofSeconds(30)));
    int failuresBefore = loads.stream().mapToInt(load -> load.failures().size()).sum();
    redis.pause();
    long began = System.nanoTime();
    // No answer comes any more, so what the status says after one more beat is the last window.
    TimeUnit.MILLISECONDS.sleep(2_500);
    List<Instant> windowEnds =
        snowflakes.stream().map(ids -> ids.status().windowEnd().orElseThrow()).toList();
    TimeUnit.MILLISECONDS.sleep(awaySeconds * 1_000L - 2_500);
    redis.resume();
    long returned = System.nanoTime();
    Instant returnedAt = Instant.now();
    double seconds = (returned - began) / 1e9;
    List<Double> back = new ArrayList<>();
    for (Load load : loads) {
      awaitTrue("ids again", () -> load.lastSuccess() - returned > 0);
      back.add(secondsSince(returned));
    }
    List<Load.Failure> failures = new ArrayList<>();
    List<Double> first = new ArrayList<>();
    List<long[]> ids = new ArrayList<>();
    long outside = 0;
    long wallOffset = System.currentTimeMillis() * 1_000_000 - System.nanoTime();
    for (int i = 0; i < loads.size(); i++) {
      Load load = loads.get(i);
      long[] minted = load.end();
      ids.add(minted);
      failures.addAll(load.failures());
      long windowEnd = windowEnds.get(i).toEpochMilli();
      first.add((load.failures().get(0).at() + wallOffset - windowEnd * 1_000_000) / 1e9);
      for (long id : minted) {
        long at = LAYOUT.parse(id).timestamp().toEpochMilli();
        if (at > windowEnd && at < returnedAt.toEpochMilli() - 50) {
          outside++;
        }
      }
    }
    assertThat(failuresBefore).as("calls that failed before Redis was gone").isZero();
    return new Loss(seconds, first, back, failures, outside, ids);
  }

  @Test
  void
      while_Redis_hangs_for_longer_calls_fail_from_the_windows_end_and_work_within_5_s_of_its_return()
          throws Exception {
    requireStopAndReturn(SHORT_LEASE, result(gone));
  }

  static void requireStopAndReturn(int leaseSeconds, Loss loss) {
    Figures.say(
        "Redis gone for %.1f s, lease %d s: first call failed %s s after the window's end (it waits 1"
            + " s), ids came again %s s after its return",
        loss.seconds, leaseSeconds, list(loss.firstFailureAfterWindow), list(loss.backAfterReturn));
    assertThat(loss.failures).allMatch(failure -> failure.cause() instanceof NoLeaseException);
    assertThat(loss.failures)
        .extracting(failure -> ((NoLeaseException) failure.cause()).reason())
        .containsOnly(NoLeaseException.Reason.LOST);
    assertThat(loss.firstFailureAfterWindow).allSatisfy(s -> assertThat(s).isBetween(0.0, 4.0));
    assertThat(loss.backAfterReturn).allSatisfy(s -> assertThat(s).isLessThan(5));
    assertThat(loss.idsOutsideWindow).isZero();
    requireUnique(loss.ids);
  }

  private static List<Double> restartAfterTheWindows(RedisServer redis)
      throws InterruptedException {
    Leases leases = Leases.create(redis, SHORT_LEASE);
    List<Snowflake> snowflakes = new ArrayList<>();
    List<Load> loads = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      snowflakes.add(open(leases.builder().start()));
    }
    awaitAllReady();
    snowflakes.forEach(ids -> loads.add(Load.on(ids)));
    redis.kill();
    awaitTrue(
        "the end of each window",
        () -> snowflakes.stream().noneMatch(ids -> ids.status().isReady()));
    redis.restart();
    long returned = System.nanoTime();
    List<Double> back = new ArrayList<>();
    for (Load load : loads) {
      awaitTrue("ids again", () -> load.lastSuccess() - returned > 0);
      back.add(seconds(load.lastSuccess() - returned));
    }
    requireUnique(loads.stream().map(Load::end).toList());
    return back;
  }

  @Test
  void after_a_restart_of_Redis_when_windows_have_ended_ids_come_within_H_and_5_s()
      throws Exception {
    List<Double> back = result(returned);
    Figures.say(
        "Redis restarted after the windows' end, lease 10 s, H 20 s: ids came again %s s later",
        list(back));
    assertThat(back).allSatisfy(s -> assertThat(s).isLessThan(25));
  }

  // ---- Slots come free

  record Reuse(double afterKill, List<Double> millisAfterClose) {}

  private static Reuse reuse(RedisServer redis) throws Exception {
    Leases leases = Leases.create(redis, DEFAULT_LEASE);
    try (LeaseStore store = leases.openStore();
        JavaProcess process = launch(leases, "0")) {
      process.awaitLine("started ", START_LIMIT);
      awaitAllReady();
      Slot slot = where(process);
      process.kill();
      long killedAt = System.nanoTime();
      List<Double> afterClose = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        Snowflake ids = leases.builder(store).start();
        ids.nextId();
        Slot left = ids.status().slot().orElseThrow();
        ids.close();
        long closed = System.nanoTime();
        awaitGrant(store, leases, left);
        afterClose.add((System.nanoTime() - closed) / 1e6);
      }
      awaitGrant(store, leases, slot);
      return new Reuse(secondsSince(killedAt), afterClose);
    }
  }

  /** Claims a slot by hand until it is granted. */
  private static void awaitGrant(LeaseStore store, Leases leases, Slot slot) {
    awaitTrue(
        "a grant of " + slot,
        () -> {
          Claim claim =
              new Claim(
                  UUID.randomUUID().toString().replace("-", ""),
                  UUID.randomUUID().toString().replace("-", "").substring(16),
                  System.currentTimeMillis(),
                  -1,
                  0,
                  List.of(slot),
                  new Holder("test", 1, "test", 0, "test"));
          return answer(store.claim(leases.terms(), claim)) instanceof Granted;
        });
  }

  private static JavaProcess launch(Leases leases, String... arguments) {
    return JavaProcess.of(MintingProcess.class)
        .arguments(arguments)
        .environment("SNOWFLAKE_STORE", leases.uri())
        .environment("SNOWFLAKE_NAMESPACE", leases.namespace())
        .environment("SNOWFLAKE_LEASE_TTL", leases.terms().leaseTtl() + "ms")
        .jvmOptions("-Xshare:auto")
        .start();
  }

  private static Slot where(JavaProcess process) {
    process.writeLine("where");
    String[] slot = process.awaitLine("where ", START_LIMIT).split("[ :]", -1);
    return slot[1].equals("none")
        ? NO_SLOT
        : new Slot(Integer.parseInt(slot[1]), Integer.parseInt(slot[2]));
  }

  private static long mintedBy(JavaProcess process) {
    process.writeLine("where");
    return Long.parseLong(process.awaitLine("where ", START_LIMIT).split(" ", -1)[2]);
  }

  @Test
  void a_slot_is_free_36_s_after_SIGKILL_at_the_latest_and_100_ms_after_close() throws Exception {
    Reuse reuse = result(killed);
    Figures.say(
        "slot granted anew %.1f s after SIGKILL (lease 30 s), %s ms after close()",
        reuse.afterKill, list(reuse.millisAfterClose));
    assertThat(reuse.afterKill).isBetween(20.0, 36.0);
    // One of several, as a busy machine may stop this very thread for longer.
    assertThat(reuse.millisAfterClose).anySatisfy(millis -> assertThat(millis).isLessThan(100));
  }

  // ---- Redis forgets

  record Flush(
      double newcomer, List<Load.Failure> failures, List<LeaseEvent> losses, List<long[]> ids) {}

  private static Flush flush(RedisServer redis) throws Exception {
    Leases leases = Leases.create(redis, SHORT_LEASE);
    List<LeaseEvent> losses = new CopyOnWriteArrayList<>();
    List<Snowflake> snowflakes = new ArrayList<>();
    List<Load> loads = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      snowflakes.add(open(leases.builder().listener(losses::add).start()));
    }
    awaitAllReady();
    snowflakes.forEach(ids -> loads.add(Load.on(ids)));
    losses.clear();
    redis.command("FLUSHALL");
    long flushed = System.nanoTime();
    Snowflake newcomer = open(leases.builder().start());
    long first = newcomer.nextId();
    double took = secondsSince(flushed);
    List<long[]> ids = new ArrayList<>(loads.stream().map(Load::end).toList());
    ids.add(new long[] {first});
    return new Flush(
        took,
        loads.stream().flatMap(load -> load.failures().stream()).toList(),
        List.copyOf(losses),
        ids);
  }

  @Test
  void after_FLUSHALL_a_newcomer_mints_within_H_and_5_s_and_no_call_of_the_others_fails()
      throws Exception {
    Flush flush = result(flushed);
    Figures.say(
        "FLUSHALL, lease 10 s, H 20 s: a newcomer minted %.1f s later; %d failed calls of %,d ids on 3"
            + " live leases",
        flush.newcomer, flush.failures.size(), count(flush.ids));
    assertThat(flush.failures).isEmpty();
    assertThat(flush.losses).isEmpty();
    assertThat(flush.newcomer).isBetween(15.0, 25.0);
    requireUnique(flush.ids);
  }

  // ---- A holder is stopped

  record Sleep(
      double stoppedSeconds,
      double backAfter,
      Slot before,
      Slot after,
      List<long[]> ofHolder,
      List<long[]> ofTaker) {}

  private static Sleep sleep(RedisServer redis) throws Exception {
    Leases leases = Leases.create(redis, SHORT_LEASE);
    Path files = Files.createDirectory(directory.resolve("stopped"));
    try (JavaProcess process = launch(leases, "4", files.toString())) {
      process.awaitLine("started ", START_LIMIT);
      awaitAllReady();
      Slot slot = where(process);
      long before = mintedBy(process);
      awaitTrue("ids of the holder", () -> mintedBy(process) > before + 1_000);
      process.pause();
      long stoppedAt = System.nanoTime();
      Snowflake taker =
          open(leases.builder().clusterId(slot.cluster()).nodeId(slot.node()).start());
      long[] atOnce = new long[100_000];
      taker.nextIds(atOnce);
      Load load = Load.on(taker);
      awaitTrue("the end of the lease", () -> secondsSince(stoppedAt) > SHORT_LEASE + 1);
      process.resume();
      long woken = System.nanoTime();
      long mintedThen = mintedBy(process);
      awaitTrue("another slot", () -> !List.of(slot, NO_SLOT).contains(where(process)));
      awaitTrue("ids on it", () -> mintedBy(process) > mintedThen + 256);
      double back = secondsSince(woken);
      Slot after = where(process);
      process.writeLine("halt");
      process.awaitLine("halt ", START_LIMIT);
      process.closeInput();
      process.awaitExit(START_LIMIT);
      return new Sleep(
          seconds(woken - stoppedAt),
          back,
          slot,
          after,
          readAll(files),
          List.of(atOnce, load.end()));
    }
  }

  private static List<long[]> readAll(Path files) throws IOException {
    try (Stream<Path> all = Files.list(files)) {
      return all.map(IdFile::read).toList();
    }
  }

  @Test
  void a_holder_that_was_stopped_while_its_slot_was_taken_and_used_mints_on_another_within_5_s()
      throws Exception {
    Sleep sleep = result(stopped);
    List<long[]> all = new ArrayList<>(sleep.ofHolder);
    all.addAll(sleep.ofTaker);
    List<Slot> slotsOfHolder =
        sleep.ofHolder.stream()
            .flatMap(ids -> IdFile.runs(LAYOUT, ids).stream())
            .map(IdFile.Run::slot)
            .distinct()
            .toList();
    Figures.say(
        "stopped for %.1f s with 4 threads in nextId(), slot %s taken and used: minting on %s %.2f s"
            + " after it woke; %,d ids, %d duplicates",
        sleep.stoppedSeconds,
        sleep.before,
        sleep.after,
        sleep.backAfter,
        count(all),
        IdFile.duplicates(all));
    assertThat(sleep.backAfter).isLessThan(5);
    assertThat(slotsOfHolder).contains(sleep.before, sleep.after).hasSizeGreaterThanOrEqualTo(2);
    assertThat(sleep.ofTaker)
        .allSatisfy(
            ids ->
                assertThat(IdFile.runs(LAYOUT, ids))
                    .extracting(IdFile.Run::slot)
                    .containsOnly(sleep.before));
    requireUnique(all);
  }
}
