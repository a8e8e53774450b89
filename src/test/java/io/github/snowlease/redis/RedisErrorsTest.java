package io.github.snowlease.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseStore.Granted;
import io.github.snowlease.LeaseStore.Renewed;
import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.LeaseStoreException.Reason;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.Slot;
import io.github.snowlease.testing.RedisExtension;
import io.github.snowlease.testing.RedisServer;
import io.github.snowlease.testing.RespClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.api.StatefulRedisConnection;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.DisplayNameGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each way in which a Redis can refuse, brought about for real: what the error says. */
@ExtendWith(RedisExtension.class)
@DisplayNameGeneration(DisplayNameGenerator.ReplaceUnderscores.class)
class RedisErrorsTest {
  private static final String SECRET = "sesame-9f3c";

  private final LeaseTerms terms = Leasing.terms();
  private LeaseStore store;

  @AfterEach
  void close() {
    if (store != null) {
      store.close();
    }
  }

  @Test
  void A_port_where_nobody_listens() throws Exception {
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }

    LeaseStoreException failure = claimFails("redis://127.0.0.1:" + port);

    assertThat(failure.reason()).isEqualTo(Reason.UNREACHABLE);
    assertThat(failure.mayHaveRun()).isFalse();
    assertThat(failure)
        .hasMessageContainingAll(
            "Redis at redis://127.0.0.1:" + port, "Connection refused", "check that it runs");
  }

  @Test
  void A_host_that_does_not_exist() {
    LeaseStoreException failure = claimFails("redis://no-such-host.invalid");

    assertThat(failure.reason()).isEqualTo(Reason.UNREACHABLE);
    assertThat(failure).hasMessageContaining("redis://no-such-host.invalid:6379");
  }

  @Test
  void A_password_is_demanded() {
    try (RedisServer redis = RedisServer.launch("requirepass " + SECRET)) {
      LeaseStoreException failure = claimFails(redis.uri());

      assertThat(failure.reason()).isEqualTo(Reason.UNAUTHENTICATED);
      assertThat(failure.needsOperator()).isTrue();
      assertThat(failure).hasMessageContainingAll("NOAUTH", "put user and password");
    }
  }

  /** Seen about once in two thousand attempts on a busy machine. */
  @Test
  void A_refusal_that_came_too_fast_for_Lettuce_is_known_by_what_Lettuce_says() throws IOException {
    String text = "RedisHandshakeHandler not registered";
    Exception hidden = new IllegalStateException(text);

    assertThat(RedisErrors.hidesItsCause(new RedisConnectionException("no", hidden))).isTrue();
    assertThat(RedisErrors.hidesItsCause(new IllegalStateException("no epoll"))).isFalse();
    try (InputStream code = RedisClient.class.getResourceAsStream("AbstractRedisClient.class")) {
      assertThat(new String(code.readAllBytes(), StandardCharsets.ISO_8859_1))
          .as("another Lettuce may say it otherwise")
          .contains(text);
    }
  }

  @Test
  void A_password_is_wrong() {
    try (RedisServer redis = RedisServer.launch("requirepass right")) {
      LeaseStoreException failure =
          claimIsRefused(redis.uri().replace("//", "//someone:" + SECRET + "@"));

      assertThat(failure.reason()).isEqualTo(Reason.UNAUTHENTICATED);
      assertThat(failure).hasMessageContainingAll("WRONGPASS", "store's URI");
    }
  }

  @Test
  void A_password_is_given_where_none_is_set(RedisServer redis) {
    LeaseStoreException failure = claimIsRefused(redis.uri().replace("//", "//:" + SECRET + "@"));

    assertThat(failure.reason()).isEqualTo(Reason.UNAUTHENTICATED);
    assertThat(failure).hasMessageContaining("it has no password");
  }

  @Test
  void A_key_holds_something_else(RedisServer redis) {
    String ledger = "{" + terms.namespace() + "}:ledger";
    redis.command("SET", ledger, "mine");

    LeaseStoreException failure = claimFails(redis.uri());

    assertThat(failure.reason()).isEqualTo(Reason.WRONG_TYPE);
    assertThat(failure).hasMessageContainingAll("WRONGTYPE", ledger, "choose another namespace");
    assertThat(fails(() -> Leasing.get(store.readLedger(terms))).reason())
        .isEqualTo(Reason.WRONG_TYPE);
  }

  @Test
  void A_replica_is_no_master(RedisServer redis) {
    try (RedisServer replica = RedisServer.launch("replicaof 127.0.0.1 " + redis.port())) {
      await().until(() -> replica.command("INFO", "replication").contains("link_status:up"));

      LeaseStoreException failure = claimFails(replica.uri());

      assertThat(failure.reason()).isEqualTo(Reason.UNAVAILABLE);
      assertThat(failure).hasMessageContainingAll("READONLY", "point the store at the master");
    }
  }

  @Test
  void A_replica_lost_its_master(RedisServer redis) {
    String deadMaster = "replicaof 127.0.0.1 1";
    try (RedisServer replica = RedisServer.launch()) {
      Leasing leasing = new Leasing(open(replica.uri()), terms);
      leasing.claim();
      replica.command("CONFIG", "SET", "replica-serve-stale-data", "no");
      replica.command(deadMaster.split(" "));

      LeaseStoreException failure = fails(leasing::renew);

      assertThat(failure.reason()).isEqualTo(Reason.UNAVAILABLE);
      assertThat(failure).hasMessageContainingAll("MASTERDOWN", "replica without its master");
    }
  }

  @Test
  void Too_few_replicas_for_Redis_itself(RedisServer redis) {
    Leasing leasing = new Leasing(open(redis.uri()), terms);
    redis.command("CONFIG", "SET", "min-replicas-to-write", "1");
    try {
      LeaseStoreException failure = fails(leasing::claim);

      assertThat(failure.reason()).isEqualTo(Reason.UNAVAILABLE);
      assertThat(failure).hasMessageContainingAll("NOREPLICAS", "min-replicas-to-write");
    } finally {
      redis.command("CONFIG", "SET", "min-replicas-to-write", "0");
    }
  }

  @Test
  void Too_few_replicas_for_the_namespace(RedisServer redis) {
    LeaseTerms demanding = Leasing.terms(1, 1_000);
    store = open(redis.uri());

    // At first, or on a busy machine, even the short count may come too late.
    LeaseStoreException failure =
        await()
            .until(
                () -> fails(new Leasing(store, demanding)::claim),
                last -> last.reason() == Reason.TOO_FEW_REPLICAS);

    assertThat(failure.mayHaveRun()).isTrue();
    assertThat(failure).hasMessageContainingAll("0 replicas", "minReplicas=1");
  }

  @Test
  void Out_of_memory_holders_renew_and_release_and_nobody_claims(RedisServer redis) {
    store = open(redis.uri());
    Leasing holder = new Leasing(store, terms);
    assertThat(holder.claim()).isInstanceOf(Granted.class);
    redis.command("CONFIG", "SET", "maxmemory", "1");
    try {
      LeaseStoreException failure = fails(() -> new Leasing(store, terms).claim(new Slot(0, 0)));
      assertThat(failure.reason()).isEqualTo(Reason.UNAVAILABLE);
      assertThat(failure).hasMessageContainingAll("OOM", "raise maxmemory");

      assertThat(holder.renew()).isInstanceOf(Renewed.class);
      assertThat(holder.release()).isTrue();
    } finally {
      redis.command("CONFIG", "SET", "maxmemory", "0");
    }
    assertThat(redis.command("KEYS", "{" + terms.namespace() + "}:nodes:*")).isEmpty();
  }

  @Test
  void The_disk_cannot_be_written() throws Exception {
    try (RedisServer redis = RedisServer.launch("appendonly no", "save 3600 100000")) {
      Leasing leasing = new Leasing(open(redis.uri()), terms);
      leasing.claim();
      // A folder in the place of the file fails a snapshot even for root.
      String folder = redis.command("CONFIG", "GET", "dir").lines().skip(1).findFirst().get();
      Path blocked = Files.createDirectories(Path.of(folder, "dump.rdb", "x"));
      redis.command("BGSAVE");
      await().until(() -> redis.command("INFO", "persistence").contains("bgsave_status:err"));

      LeaseStoreException failure = fails(leasing::renew);

      assertThat(failure.reason()).isEqualTo(Reason.UNAVAILABLE);
      assertThat(failure).hasMessageContainingAll("MISCONF", "cannot save to disk");
      Files.delete(blocked);
    }
  }

  @Test
  void Redis_reads_its_data() throws Exception {
    // Half a millisecond a key; it looks at its clients once in 1,024 keys.
    try (RedisServer redis = RedisServer.launch("key-load-delay 500")) {
      redis.command("EVAL", "for i = 1, 6000 do redis.call('SET', 'key' .. i, '') end", "0");
      Leasing leasing = new Leasing(open(redis.uri()), terms);
      leasing.claim();
      Thread restart = new Thread(redis::restart);
      restart.start();

      await()
          .pollInterval(Duration.ofMillis(50))
          .untilAsserted(
              () -> {
                LeaseStoreException failure = fails(leasing::renew);
                assertThat(failure).hasMessageContainingAll("LOADING", "loading its data");
                assertThat(failure.reason()).isEqualTo(Reason.UNAVAILABLE);
              });
      restart.join();
      assertThat(leasing.renew()).isInstanceOf(Renewed.class);
    }
  }

  private static boolean isBusy(RedisServer redis) {
    try {
      redis.command("GET", "anything");
      return false;
    } catch (RespClient.RedisErrorException e) {
      return e.getMessage().startsWith("BUSY");
    }
  }

  @Test
  void A_script_keeps_Redis_busy() throws Exception {
    try (RedisServer redis = RedisServer.launch("lua-time-limit 10")) {
      Leasing leasing = new Leasing(open(redis.uri()), terms);
      leasing.claim();
      Thread script =
          new Thread(
              () -> {
                try (RespClient client = redis.connect()) {
                  client.call("EVAL", "while true do end", "0");
                } catch (Exception e) {
                  // Killed below.
                }
              });
      script.start();
      await().until(() -> isBusy(redis));

      LeaseStoreException failure = fails(leasing::renew);

      redis.command("SCRIPT", "KILL");
      script.join();
      assertThat(failure.reason()).isEqualTo(Reason.UNAVAILABLE);
      assertThat(failure).hasMessageContainingAll("BUSY", "SCRIPT KILL");
      assertThat(leasing.renew()).isInstanceOf(Renewed.class);
    }
  }

  @Test
  void Too_many_clients() throws Exception {
    try (RedisServer redis = RedisServer.launch("maxclients 1");
        RespClient only = redis.connect()) {
      only.call("PING");

      LeaseStoreException failure = claimFails(redis.uri());

      assertThat(failure.reason()).isEqualTo(Reason.UNAVAILABLE);
      assertThat(failure).hasMessageContaining("raise maxclients");
    }
  }

  @Test
  void A_command_was_renamed_away() {
    try (RedisServer redis = RedisServer.launch("rename-command PEXPIREAT \"\"")) {
      LeaseStoreException failure = claimFails(redis.uri());

      assertThat(failure.reason()).isEqualTo(Reason.UNSUPPORTED);
      assertThat(failure).hasMessageContaining("does not know the command PEXPIREAT");
    }
  }

  @Test
  void Redis_is_too_old() throws Exception {
    try (FakeRedis fake = new FakeRedis("$32\r\n# Server\r\nredis_version:4.0.14\r\n\r\n")) {
      LeaseStoreException failure = claimFails("redis://127.0.0.1:" + fake.port());

      assertThat(failure.reason()).isEqualTo(Reason.UNSUPPORTED);
      assertThat(failure.needsOperator()).isTrue();
      assertThat(failure).hasMessageContainingAll("is Redis 4.0.14", "Redis 5 or newer");
    }
  }

  @Test
  void What_answers_is_no_Redis() throws Exception {
    try (FakeRedis fake = new FakeRedis("HTTP/1.1 400 Bad Request\r\n\r\n")) {
      LeaseStoreException failure = claimFails("redis://127.0.0.1:" + fake.port());

      assertThat(failure).hasMessageContaining("Redis at redis://127.0.0.1:" + fake.port());
    }
  }

  @Test
  void An_unknown_command_does_not_give_its_arguments_away() throws Exception {
    String reply =
        "-ERR unknown command 'AUTH', with args beginning with: 'someone' '" + SECRET + "' \r\n";
    try (FakeRedis fake = new FakeRedis(reply)) {
      LeaseStoreException failure =
          claimFails("redis://someone:" + SECRET + "@127.0.0.1:" + fake.port());

      assertThat(failure.reason()).isEqualTo(Reason.UNSUPPORTED);
      assertThat(failure).hasMessageContaining("does not know the command AUTH");
    }
  }

  @Test
  void TLS_where_there_is_none(RedisServer redis) {
    LeaseStoreException failure = claimFails(redis.uri().replace("redis:", "rediss:"));

    assertThat(failure.reason()).isIn(Reason.UNREACHABLE, Reason.UNSUPPORTED);
    assertThat(failure).hasMessageContaining("Redis at rediss://127.0.0.1:" + redis.port());
  }

  @Test
  void A_connection_to_a_node_of_a_cluster() {
    try (RedisServer node = RedisServer.launch("cluster-enabled yes")) {
      RedisClient client = RedisClient.create(node.uri());
      try (StatefulRedisConnection<String, String> connection = client.connect()) {
        store = RedisLeaseStore.using(connection);
        LeaseStoreException failure = fails(new Leasing(store, terms)::claim);

        // It has no slots at all; with some, it would say MOVED.
        assertThat(failure.reason()).isIn(Reason.UNAVAILABLE, Reason.UNSUPPORTED);
        assertThat(failure).hasMessageContaining("CLUSTERDOWN");
      } finally {
        client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://someone:" + SECRET + "@host:notaport",
        "redis://someone:" + SECRET + "@/0",
        "redis://someone:" + SECRET + "^@host",
        "redis://someone:" + SECRET + "@host/notanumber",
        "redis-sentinel://" + SECRET + "@host",
        "mongodb://someone:" + SECRET + "@host",
        SECRET
      })
  void A_URI_that_cannot_be_read_is_not_repeated(String uri) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RedisLeaseStore.builder().uri(uri).build())
        .withMessageContaining("redis://")
        .satisfies(RedisErrorsTest::assertKeepsSecret);
  }

  private LeaseStore open(String uri) {
    store = RedisLeaseStore.builder().uri(uri).build();
    return store;
  }

  /** Claims at a store that cannot grant; its error, and the store's own text, keep the secret. */
  private LeaseStoreException claimFails(String uri) {
    return fails(new Leasing(open(uri), terms)::claim);
  }

  /** The word of Redis, also if the connection breaks before it has come, and is made again. */
  private LeaseStoreException claimIsRefused(String uri) {
    Leasing leasing = new Leasing(open(uri), terms);
    return await()
        .until(() -> fails(leasing::claim), failure -> failure.reason() != Reason.UNREACHABLE);
  }

  private LeaseStoreException fails(ThrowingCallable question) {
    LeaseStoreException failure = catchThrowableOfType(LeaseStoreException.class, question);
    assertThat(failure).isNotNull();
    assertThat(failure.getMessage()).doesNotContain("\n").hasSizeLessThan(400);
    assertKeepsSecret(failure);
    if (store != null) {
      assertThat(store.toString()).doesNotContain(SECRET);
    }
    return failure;
  }

  private static void assertKeepsSecret(Throwable failure) {
    StringWriter text = new StringWriter();
    failure.printStackTrace(new PrintWriter(text));
    assertThat(text.toString()).doesNotContain(SECRET);
  }

  /** Says the same to everything. */
  private static final class FakeRedis implements AutoCloseable {
    private final ServerSocket listening;

    FakeRedis(String reply) throws IOException {
      listening = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
      Thread thread = new Thread(() -> serve(reply), "fake-redis");
      thread.setDaemon(true);
      thread.start();
    }

    int port() {
      return listening.getLocalPort();
    }

    private void serve(String reply) {
      while (!listening.isClosed()) {
        try (Socket socket = listening.accept()) {
          BufferedReader in =
              new BufferedReader(
                  new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
          for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.startsWith("*")) {
              // Not before the command is whole: a client does not expect that.
              for (int left = 2 * Integer.parseInt(line.substring(1)); left > 0; left--) {
                in.readLine();
              }
              String answer = line.equals("*1") ? "+PONG\r\n" : reply;
              socket.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
            }
          }
        } catch (IOException e) {
          // The client went away.
        }
      }
    }

    @Override
    public void close() throws IOException {
      listening.close();
    }
  }
}
