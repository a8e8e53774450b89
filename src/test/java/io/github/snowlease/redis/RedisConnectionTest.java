package io.github.snowlease.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseStore.Granted;
import io.github.snowlease.LeaseStore.RenewReply;
import io.github.snowlease.LeaseStore.Renewed;
import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.LeaseStoreException.Reason;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.testing.RedisServer;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.DisplayNameGenerator;
import org.junit.jupiter.api.Test;

/** Connections that are made late, break, hang or are cut off, and what close() leaves behind. */
@DisplayNameGeneration(DisplayNameGenerator.ReplaceUnderscores.class)
class RedisConnectionTest {
  private static final long TIMEOUT = 500;

  private final LeaseTerms terms = Leasing.terms(0, TIMEOUT);
  private RedisServer redis;
  private LeaseStore store;
  private Leasing leasing;

  @BeforeEach
  void connect() {
    redis = RedisServer.launch();
    store = RedisLeaseStore.builder().uri(redis.uri()).build();
    leasing = new Leasing(store, terms);
    // The first connection of a cold client may take longer than a question may.
    await().ignoreExceptions().until(() -> leasing.claim() instanceof Granted);
  }

  @AfterEach
  void disconnect() {
    store.close();
    redis.close();
  }

  @Test
  void A_Redis_that_is_not_there_fails_the_question_and_the_next_one_finds_it() {
    redis.stop();
    try (LeaseStore early = RedisLeaseStore.builder().uri(redis.uri()).build()) {
      Leasing newcomer = new Leasing(early, Leasing.terms(0, TIMEOUT));
      LeaseStoreException failure =
          catchThrowableOfType(LeaseStoreException.class, newcomer::claim);
      assertThat(failure.reason()).isEqualTo(Reason.UNREACHABLE);
      assertThat(failure.mayHaveRun()).isFalse();

      redis.restart();

      await()
          .atMost(Duration.ofSeconds(3))
          .ignoreExceptions()
          .until(() -> newcomer.claim() instanceof Granted);
    }
  }

  @Test
  void A_Redis_that_was_restarted_is_found_again() {
    redis.restart();

    await()
        .atMost(Duration.ofSeconds(3))
        .ignoreExceptions()
        .until(() -> leasing.renew() instanceof Renewed);
  }

  @Test
  void A_Redis_that_is_away_is_not_asked_more_than_ten_times_a_second() throws Exception {
    AtomicInteger attempts = new AtomicInteger();
    try (ServerSocket listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Thread thread =
          new Thread(
              () -> {
                while (!listening.isClosed()) {
                  try {
                    listening.accept().close();
                    attempts.incrementAndGet();
                  } catch (IOException e) {
                    // Closed at the end.
                  }
                }
              });
      thread.start();
      try (LeaseStore nowhere =
          RedisLeaseStore.builder().uri("redis://127.0.0.1:" + listening.getLocalPort()).build()) {
        long end = System.nanoTime() + Duration.ofSeconds(1).toNanos();
        while (System.nanoTime() < end) {
          assertThat(
                  catchThrowableOfType(
                      LeaseStoreException.class, () -> new Leasing(nowhere, terms).claim()))
              .isNotNull();
        }
      }
      assertThat(attempts.get()).isBetween(2, 12);
    }
  }

  @Test
  void A_Redis_that_hangs_is_waited_for_no_longer_than_a_command_may_take() {
    redis.pause();
    long asked = System.nanoTime();

    LeaseStoreException failure = catchThrowableOfType(LeaseStoreException.class, leasing::renew);

    assertThat(Duration.ofNanos(System.nanoTime() - asked))
        .isBetween(Duration.ofMillis(TIMEOUT - 50), Duration.ofMillis(TIMEOUT + 400));
    assertThat(failure.reason()).isEqualTo(Reason.NO_REPLY);
    assertThat(failure.mayHaveRun()).isTrue();
    assertThat(failure).hasMessageContaining("did not answer within 500ms");
  }

  @Test
  void A_Redis_that_hung_is_used_again_when_it_goes_on() {
    redis.pause();
    for (int i = 0; i < 4; i++) {
      assertThat(catchThrowableOfType(LeaseStoreException.class, leasing::renew)).isNotNull();
    }
    redis.resume();

    await()
        .atMost(Duration.ofSeconds(3))
        .ignoreExceptions()
        .until(() -> leasing.renew() instanceof Renewed);
  }

  @Test
  void A_connection_that_was_cut_off_without_a_sign_is_replaced() throws Exception {
    try (SilentProxy proxy = new SilentProxy(redis.port());
        LeaseStore far =
            RedisLeaseStore.builder().uri("redis://127.0.0.1:" + proxy.port()).build()) {
      Leasing cutOff = new Leasing(far, Leasing.terms(0, TIMEOUT));
      await().ignoreExceptions().until(() -> cutOff.claim() instanceof Granted);
      proxy.swallowOpenConnections();

      for (int i = 0; i < 2; i++) {
        LeaseStoreException failure =
            catchThrowableOfType(LeaseStoreException.class, cutOff::renew);
        assertThat(failure.reason()).isEqualTo(Reason.NO_REPLY);
      }
      assertThat(cutOff.renew()).isInstanceOf(Renewed.class);
    }
  }

  @Test
  void A_question_that_was_given_up_is_never_sent_later_by_a_client_that_buffers() {
    RedisClient client = RedisClient.create(redis.uri());
    try (StatefulRedisConnection<String, String> connection = client.connect();
        LeaseStore shared = RedisLeaseStore.using(connection)) {
      Leasing sharing = new Leasing(shared, Leasing.terms(0, TIMEOUT));
      await().ignoreExceptions().until(() -> sharing.claim() instanceof Granted);
      redis.pause();
      LeaseStoreException hung = catchThrowableOfType(LeaseStoreException.class, sharing::renew);
      assertThat(hung.reason()).isEqualTo(Reason.NO_REPLY);
      redis.kill();
      await().until(() -> !connection.isOpen());

      LeaseStoreException down = catchThrowableOfType(LeaseStoreException.class, sharing::renew);
      assertThat(down.reason()).isEqualTo(Reason.UNREACHABLE);
      assertThat(down.mayHaveRun()).isFalse();
      redis.restart();
      await().until(connection::isOpen);

      connection.sync().ping();
      assertThat(redis.command("INFO", "commandstats")).doesNotContain("evalsha");
      assertThat(sharing.renew()).isInstanceOf(Renewed.class);
    } finally {
      client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
    }
  }

  @Test
  void Scripts_that_Redis_has_forgotten_are_sent_again() {
    redis.command("SCRIPT", "FLUSH");

    assertThat(leasing.renew()).isInstanceOf(Renewed.class);
    redis.command("SCRIPT", "FLUSH");
    assertThat(leasing.release()).isTrue();
  }

  @Test
  void Closing_fails_what_is_asked_now_and_later_and_may_be_repeated() {
    redis.pause();
    CompletionStage<RenewReply> open = leasing.renewLater();

    store.close();
    store.close();

    CompletableFuture<RenewReply> answer = open.toCompletableFuture();
    assertThat(answer).isCompletedExceptionally();
    LeaseStoreException later =
        catchThrowableOfType(LeaseStoreException.class, () -> Leasing.get(store.time(terms)));
    assertThat(later.reason()).isEqualTo(Reason.UNREACHABLE);
    assertThat(later).hasMessageContaining("closed");
  }

  @Test
  void Closing_takes_less_than_a_second_even_if_Redis_hangs_and_leaves_no_thread() {
    assertThat(ownThreads()).isNotEmpty().hasSizeLessThanOrEqualTo(5);
    redis.pause();
    CompletionStage<RenewReply> open = leasing.renewLater();
    long began = System.nanoTime();

    store.close();

    assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(1));
    assertThat(open.toCompletableFuture()).isDone();
    await().atMost(Duration.ofSeconds(3)).until(() -> ownThreads().isEmpty());
  }

  @Test
  void All_threads_are_daemons() {
    assertThat(ownThreads()).allMatch(Thread::isDaemon);
  }

  @Test
  void A_client_of_the_applications_is_left_open() {
    RedisClient client = RedisClient.create();
    try {
      LeaseStore borrowed = RedisLeaseStore.using(client, RedisURI.create(redis.uri()));
      await()
          .ignoreExceptions()
          .until(() -> new Leasing(borrowed, Leasing.terms()).claim() instanceof Granted);
      String clients = redis.command("CLIENT", "LIST");
      borrowed.close();

      await()
          .until(() -> redis.command("CLIENT", "LIST").lines().count() < clients.lines().count());
      try (StatefulRedisConnection<String, String> other =
          client.connect(RedisURI.create(redis.uri()))) {
        assertThat(other.sync().ping()).isEqualTo("PONG");
      }
    } finally {
      client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
    }
  }

  @Test
  void A_connection_of_the_applications_is_left_open() {
    RedisClient client = RedisClient.create(redis.uri());
    try (StatefulRedisConnection<String, String> connection = client.connect()) {
      LeaseStore shared = RedisLeaseStore.using(connection);
      assertThat(new Leasing(shared, Leasing.terms()).claim()).isInstanceOf(Granted.class);

      shared.close();

      assertThat(connection.sync().ping()).isEqualTo("PONG");
    } finally {
      client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
    }
  }

  @Test
  void A_client_that_the_application_has_shut_down_breaks_neither_questions_nor_close() {
    RedisClient client = RedisClient.create();
    client.setOptions(ClientOptions.create());
    LeaseStore borrowed = RedisLeaseStore.using(client, RedisURI.create(redis.uri()));
    Leasing sharing = new Leasing(borrowed, Leasing.terms());
    assertThat(sharing.claim()).isInstanceOf(Granted.class);
    client.shutdown(Duration.ZERO, Duration.ofSeconds(1));

    LeaseStoreException failure = catchThrowableOfType(LeaseStoreException.class, sharing::renew);
    assertThat(failure.reason()).isEqualTo(Reason.UNREACHABLE);
    borrowed.close();
  }

  private static List<Thread> ownThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("snowlease-redis"))
        .toList();
  }

  /** Carries bytes, until it is told to swallow those of the connections that are open then. */
  private static final class SilentProxy implements AutoCloseable {
    private final ServerSocket listening;
    private final int target;
    private final AtomicInteger generation = new AtomicInteger();

    SilentProxy(int target) throws IOException {
      this.target = target;
      listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
      start(this::accept);
    }

    int port() {
      return listening.getLocalPort();
    }

    void swallowOpenConnections() {
      generation.incrementAndGet();
    }

    private void accept() {
      while (!listening.isClosed()) {
        try {
          Socket near = listening.accept();
          Socket far = new Socket(InetAddress.getLoopbackAddress(), target);
          int born = generation.get();
          start(() -> carry(near, far, born));
          start(() -> carry(far, near, born));
        } catch (IOException e) {
          // Closed at the end.
        }
      }
    }

    private void carry(Socket from, Socket to, int born) {
      try (from;
          to) {
        InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream();
        byte[] buffer = new byte[8_192];
        for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
          if (generation.get() == born) {
            out.write(buffer, 0, n);
          }
        }
      } catch (IOException e) {
        // One side went away.
      }
    }

    private static void start(Runnable task) {
      Thread thread = new Thread(task, "silent-proxy");
      thread.setDaemon(true);
      thread.start();
    }

    @Override
    public void close() throws IOException {
      listening.close();
    }
  }
}
