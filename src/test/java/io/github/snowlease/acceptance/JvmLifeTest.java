package io.github.snowlease.acceptance;

import static io.github.snowlease.acceptance.Figures.secondsSince;
import static io.github.snowlease.acceptance.Leases.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.snowlease.LeaseStore;
import io.github.snowlease.NoLeaseException;
import io.github.snowlease.Snowflake;
import io.github.snowlease.redis.RedisLeaseStore;
import io.github.snowlease.testing.JavaProcess;
import io.github.snowlease.testing.RedisExtension;
import io.github.snowlease.testing.RedisServer;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** What a good guest in a JVM does, and what it outlives there. */
@ExtendWith(RedisExtension.class)
@Timeout(value = 3, unit = TimeUnit.MINUTES)
class JvmLifeTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  private final RedisServer redis;

  JvmLifeTest(RedisServer redis) {
    this.redis = redis;
  }

  // ---- Its end

  /** Leases, mints, and does not close. */
  static final class Forgetful {
    public static void main(String[] arguments) {
      System.out.println("minted " + Snowflake.start().nextId());
    }
  }

  @Test
  void a_JVM_whose_main_ends_without_close_exits() {
    Leases leases = Leases.create(redis, 30);
    try (JavaProcess forgetful =
        JavaProcess.of(Forgetful.class)
            .environment("SNOWFLAKE_STORE", leases.uri())
            .environment("SNOWFLAKE_NAMESPACE", leases.namespace())
            .start()) {
      forgetful.awaitLine("minted ", LIMIT);
      long minted = System.nanoTime();
      assertThat(forgetful.awaitExit(Duration.ofSeconds(20))).isZero();
      Figures.say("a JVM exits %.2f s after a main that does not close", secondsSince(minted));
    }
  }

  @Test
  void close_returns_within_2_s_even_if_Redis_hangs_and_leaves_no_thread() {
    Leases leases = Leases.create(redis, 30);
    Set<Thread> before = Thread.getAllStackTraces().keySet();
    try (Quiet quiet = Quiet.begin()) {
      assertThat(quiet).isNotNull();
      Snowflake ids = leases.builder().start();
      ids.nextId();
      assertThat(ours(before)).isNotEmpty();
      redis.pause();
      long begin = System.nanoTime();
      ids.close();
      double seconds = secondsSince(begin);
      awaitTrue("the end of all threads", Duration.ofSeconds(3), () -> ours(before).isEmpty());
      Figures.say(
          "close() with a hung Redis returned after %.2f s, and its last thread ended %.2f s after"
              + " the call",
          seconds, secondsSince(begin));
      assertThat(seconds).isLessThan(2);
    }
  }

  @Test
  void three_seconds_after_an_ordinary_close_no_thread_is_left() {
    Leases leases = Leases.create(redis, 30);
    Set<Thread> before = Thread.getAllStackTraces().keySet();
    Snowflake ids = leases.builder().start();
    ids.nextId();
    long begin = System.nanoTime();
    ids.close();
    double seconds = secondsSince(begin);
    awaitTrue("the end of all threads", Duration.ofSeconds(3), () -> ours(before).isEmpty());
    Figures.say(
        "close() returned after %.3f s, and its last thread ended %.2f s after the call",
        seconds, secondsSince(begin));
  }

  /** Threads that were started since, but those of the JVM and of the test itself. */
  private static List<String> ours(Set<Thread> before) {
    Set<Thread> now = new HashSet<>(Thread.getAllStackTraces().keySet());
    now.removeAll(before);
    return now.stream()
        .filter(Thread::isAlive)
        .map(Thread::getName)
        .filter(name -> !name.matches("process reaper.*|awaitility.*|reader-of-.*|junit-.*"))
        .toList();
  }

  @Test
  void closing_twice_and_from_two_threads_is_closing_once_and_then_nextId_says_so()
      throws InterruptedException {
    Leases leases = Leases.create(redis, 30);
    try (RedisLeaseStore store = leases.openStore()) {
      Snowflake ids = leases.builder(store).start();
      CountDownLatch together = new CountDownLatch(1);
      AtomicReference<Throwable> thrown = new AtomicReference<>();
      List<Thread> closers = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        Thread closer =
            new Thread(
                () -> {
                  try {
                    together.await();
                    ids.close();
                  } catch (Throwable t) {
                    thrown.set(t);
                  }
                });
        closer.start();
        closers.add(closer);
      }
      together.countDown();
      for (Thread closer : closers) {
        closer.join();
      }
      ids.close();

      assertThat(thrown).hasValue(null);
      assertThat(leases.held(store)).as("a closed store would not tell").isZero();
      NoLeaseException refused = catchThrowableOfType(NoLeaseException.class, ids::nextId);
      assertThat(refused.reason()).isEqualTo(NoLeaseException.Reason.CLOSED);
    }
  }

  @Test
  void starting_twice_in_a_namespace_warns() {
    Leases leases = Leases.create(redis, 30);
    Logger logger = (Logger) LoggerFactory.getLogger(Snowflake.class);
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    logger.addAppender(lines);
    logger.setAdditive(false);
    try (Snowflake one = leases.builder().start()) {
      assertThat(lines.list).isEmpty();
      try (Snowflake two = leases.builder().start()) {
        assertThat(lines.list)
            .extracting(ILoggingEvent::getFormattedMessage)
            .singleElement()
            .asString()
            .contains("One Snowflake a process is meant", leases.namespace(), "open=2");
        assertThat(one.status().slot()).isNotEqualTo(two.status().slot());
      }
    } finally {
      logger.detachAppender(lines);
      logger.setAdditive(true);
    }
  }

  @Test
  void the_class_loader_can_be_collected_after_close() {
    Leases leases = Leases.create(redis, 30);
    try (JavaProcess server =
        JavaProcess.of(ApplicationServer.class)
            .arguments(leases.uri(), leases.namespace())
            .jvmOptions("-Dio.lettuce.core.epoll=true")
            .start()) {
      String said = server.awaitLine("collected ", Duration.ofMinutes(2));
      Figures.say("the class loader was collected %s ms after close()", said.split(" ", -1)[1]);
    }
  }

  // ---- What it outlives

  /** Throws at one renewal, as a JVM that is out of memory or of stack does anywhere. */
  private static final class FailingStore extends ForwardingStore {
    private final AtomicReference<Error> fault;

    FailingStore(LeaseStore store, Error fault) {
      super(store);
      this.fault = new AtomicReference<>(fault);
    }

    boolean hasFailed() {
      return fault.get() == null;
    }

    @Override
    <T> CompletionStage<T> ask(String question, Supplier<CompletionStage<T>> send) {
      if (question.equals("renew")) {
        Error thrown = fault.getAndSet(null);
        if (thrown != null) {
          throw thrown;
        }
      }
      return send.get();
    }
  }

  @ParameterizedTest
  @ValueSource(classes = {OutOfMemoryError.class, StackOverflowError.class})
  void renewals_go_on_after_an_error_inside_a_heartbeat(Class<? extends Error> type)
      throws Exception {
    Leases leases = Leases.create(redis, 10);
    // The stack of that error is the only thing to see in the log, and is long.
    Logger logger = (Logger) LoggerFactory.getLogger("io.github.snowlease.LeaseThread");
    logger.setAdditive(false);
    try (Quiet quiet = Quiet.begin();
        RedisLeaseStore store = leases.openStore()) {
      assertThat(quiet).isNotNull();
      FailingStore failing =
          new FailingStore(store, type.getConstructor(String.class).newInstance("on purpose"));
      try (Snowflake ids = leases.builder(failing).start();
          Load load = Load.on(ids)) {
        awaitTrue("the failure", failing::hasFailed);
        Instant windowEnd = ids.status().windowEnd().orElseThrow();
        awaitTrue(
            "a renewal after it",
            () -> ids.status().windowEnd().filter(end -> end.isAfter(windowEnd)).isPresent());
        load.end();
        assertThat(load.failures()).isEmpty();
      }
    } finally {
      logger.setAdditive(true);
    }
  }

  @Test
  void interrupted_callers_mint_what_is_there_wait_for_nothing_and_keep_their_flag() {
    Leases leases = Leases.create(redis, 10);
    try (Quiet quiet = Quiet.begin();
        Snowflake ids = leases.builder().maxWait(Duration.ofSeconds(30)).start()) {
      assertThat(quiet).isNotNull();
      Thread.currentThread().interrupt();
      ids.nextId();
      assertThat(Thread.currentThread().isInterrupted()).isTrue();
      assertThat(Thread.interrupted()).isTrue();

      redis.pause();
      awaitTrue("the end of the window", () -> !ids.status().isReady());
      Thread.currentThread().interrupt();
      long begin = System.nanoTime();
      NoLeaseException refused = catchThrowableOfType(NoLeaseException.class, ids::nextId);
      double seconds = secondsSince(begin);
      boolean kept = Thread.interrupted();
      redis.resume();

      assertThat(refused.reason()).isEqualTo(NoLeaseException.Reason.INTERRUPTED);
      assertThat(kept).isTrue();
      assertThat(seconds).isLessThan(5);
    } finally {
      Thread.interrupted();
    }
  }

  // ---- Virtual threads

  @Test
  void ten_thousand_virtual_threads_outlive_a_Redis_that_hangs() throws IOException {
    Path java = newerJava();
    if (java == null) {
      Figures.say("no JDK of 21 or newer beside this one: virtual threads were not tried");
      return;
    }
    Leases leases = Leases.create(redis, 10);
    try (JavaProcess process =
        JavaProcess.of(VirtualThreads.class)
            .jvmOptions("-Xmx512m", "-XX:TieredStopAtLevel=4")
            .environment("SNOWFLAKE_STORE", leases.uri())
            .environment("SNOWFLAKE_NAMESPACE", leases.namespace())
            .environment("SNOWFLAKE_LEASE_TTL", "10s")
            // In place of the java that runs this test.
            .start(List.of("sh", "-c", "shift; exec \"$0\" \"$@\"", java.toString()))) {
      String version = process.awaitLine("version ", LIMIT);
      process.awaitLine("all mint", LIMIT);
      redis.pause();
      process.writeLine("stalled");
      process.awaitLine("none mints", LIMIT);
      redis.resume();
      process.writeLine("resumed");
      String again = process.awaitLine("all mint again ", LIMIT);
      process.closeInput();
      String summary = process.awaitLine("summary ", LIMIT);
      assertThat(process.awaitExit(LIMIT)).isZero();
      String[] words = summary.split(" ", -1);
      Figures.say(
          "10,000 virtual threads on Java %s: Redis hung until no window was left; all minted again"
              + " %s ms after its return; longest gap of a virtual thread that only ticks: %s ms; %s"
              + " ids, %s duplicates",
          version.substring("version ".length()),
          again.substring("all mint again ".length()),
          words[1],
          words[2],
          words[3]);
      assertThat(words[3]).isEqualTo("0");
      assertThat(Long.parseLong(again.substring("all mint again ".length()))).isLessThan(10_000);
    }
  }

  private static Path newerJava() throws IOException {
    Path own = Path.of(System.getProperty("java.home")).toRealPath();
    if (Runtime.version().feature() >= 21) {
      return own.resolve("bin/java");
    }
    try (DirectoryStream<Path> homes = Files.newDirectoryStream(own.getParent())) {
      for (Path home : homes) {
        Path release = home.resolve("release");
        if (!Files.isExecutable(home.resolve("bin/java")) || !Files.isReadable(release)) {
          continue;
        }
        for (String line : Files.readAllLines(release)) {
          if (line.matches("JAVA_VERSION=\"(2[1-9]|[3-9]\\d).*")) {
            return home.resolve("bin/java");
          }
        }
      }
    }
    return null;
  }
}
