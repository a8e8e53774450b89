package io.github.snowlease.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.github.snowlease.Snowflake;
import io.github.snowlease.SnowflakeException;
import io.github.snowlease.testing.Certificates;
import io.github.snowlease.testing.FakeTime;
import io.github.snowlease.testing.JavaProcess;
import io.github.snowlease.testing.RedisServer;
import io.github.snowlease.testing.RespClient;
import io.lettuce.core.cluster.SlotHash;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.LoggerFactory;

/**
 * Each way to set up a Redis wrongly, brought about for real, and asserted twice: a service that
 * starts says in one line what is wrong and what to do, and so does the doctor, with its exit code.
 *
 * <p>Three failures of this kind are no state of a Redis, so there is nothing to examine: a
 * thousand processes that start at once ({@code FleetTest}), a command that is replayed late (the
 * protocol's claims and renewals are void by then: {@code LeaseStoreContract}), and one secret in a
 * log (asserted here in each case).
 */
class MisconfiguredRedisTest {
  private static final String SECRET = "sesame-4d1b";
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final List<String> FINE = List.of();

  @TempDir private static Path directory;
  private static RedisServer redis;
  private static Certificates certificates;

  private final String namespace = "wrong-" + UUID.randomUUID();
  private final Deque<AutoCloseable> undo = new ArrayDeque<>();
  private final Lines log = new Lines();

  /** Brings the misconfiguration about, and says where the store is. */
  private interface Setup {
    String uri(MisconfiguredRedisTest test) throws Exception;
  }

  /** Lines of this library's log. */
  private static final class Lines extends AppenderBase<ILoggingEvent> {
    final List<String> messages = new CopyOnWriteArrayList<>();

    @Override
    protected void append(ILoggingEvent event) {
      messages.add(event.getFormattedMessage());
    }
  }

  @BeforeAll
  static void launch() throws Exception {
    redis = RedisServer.launchProcess("save \"\"");
    certificates = Certificates.make(directory);
  }

  @AfterAll
  static void end() {
    redis.close();
  }

  @BeforeEach
  void listen() {
    log.start();
    logger().addAppender(log);
  }

  @AfterEach
  void mend() throws Exception {
    logger().detachAppender(log);
    while (!undo.isEmpty()) {
      undo.pop().close();
    }
  }

  private static Logger logger() {
    return (Logger) LoggerFactory.getLogger("io.github.snowlease");
  }

  static Stream<Arguments> cases() {
    return Stream.of(
        of("a healthy Redis", FINE, "OK   lease", MisconfiguredRedisTest::healthy),
        of(
            "18 SCRIPT FLUSH: NOSCRIPT is no failure",
            FINE,
            "OK   lease",
            test -> {
              test.healthy();
              redis.command("SCRIPT", "FLUSH");
              return redis.uri();
            }),
        of(
            "19 a node of a cluster, given as one server: the cluster is found",
            FINE,
            "OK   cluster",
            test -> {
              RedisServer node = test.server("cluster-enabled yes");
              addSlots(node, IntStream.range(0, SlotHash.SLOT_COUNT));
              await().until(() -> node.command("CLUSTER", "INFO").contains("cluster_state:ok"));
              return test.created(node.uri());
            }),
        of(
            "19 a cluster that does not serve the slot",
            List.of("CLUSTERDOWN|no node of the cluster", "CLUSTER INFO"),
            "FAIL connection|FAIL cluster",
            test -> test.server("cluster-enabled yes").uri()),
        of(
            "19 MOVED, as the user may not ask whether it is a cluster",
            List.of("MOVED", "+info"),
            "FAIL version",
            MisconfiguredRedisTest::movedWithoutInfo),
        of(
            "20 READONLY: a replica",
            List.of("READONLY", "point the store at the master"),
            "FAIL role",
            test -> test.replicaOf(redis).uri()),
        of(
            "20 MASTERDOWN: a replica without its master",
            List.of("MASTERDOWN|READONLY", "master"),
            "FAIL connection|FAIL role",
            test -> {
              RedisServer lost = test.server();
              lost.command("CONFIG", "SET", "replica-serve-stale-data", "no");
              lost.command("REPLICAOF", "127.0.0.1", "1");
              return lost.uri();
            }),
        of(
            "20 LOADING",
            List.of("LOADING", "serves once that is done"),
            "FAIL connection",
            MisconfiguredRedisTest::loading),
        of(
            "20 MISCONF: it cannot save to disk",
            List.of("MISCONF", "free disk space"),
            "FAIL connection|FAIL disk",
            MisconfiguredRedisTest::unsaved),
        of(
            "20 OOM",
            List.of("OOM", "raise maxmemory"),
            "FAIL lease",
            test -> {
              test.healthy();
              return test.setting("maxmemory", "1", "0");
            }),
        of(
            "20 NOAUTH",
            List.of("NOAUTH", "put user and password"),
            "FAIL connection",
            test -> test.server("requirepass " + SECRET).uri()),
        of(
            "20 WRONGPASS",
            List.of("WRONGPASS", "store's URI"),
            "FAIL connection",
            test -> with("someone:" + SECRET, test.server("requirepass right").uri())),
        of(
            "20 a password where none is set",
            List.of("it has no password"),
            "FAIL connection",
            test -> with(":" + SECRET, test.server().uri())),
        of(
            "20 WRONGTYPE: the ledger is something else",
            List.of("WRONGTYPE", "choose another namespace"),
            "FAIL keys",
            test -> {
              redis.command("SET", test.key("ledger"), "mine");
              return redis.uri();
            }),
        of(
            "20 WRONGTYPE: a lease key is something else",
            List.of("slot=3:7", "another node id"),
            "WARN blocked",
            test -> {
              test.healthy();
              redis.command("LPUSH", test.key("nodes:3:7"), "mine");
              test.set("snowflake.cluster-id", "3");
              test.set("snowflake.node-id", "7");
              return redis.uri();
            }),
        of(
            "20 BUSY: a script of somebody else's",
            List.of("BUSY", "SCRIPT KILL"),
            "FAIL connection",
            MisconfiguredRedisTest::busy),
        of(
            "20 NOREPLICAS: Redis itself demands some",
            List.of("NOREPLICAS", "bring them back"),
            "FAIL lease",
            test -> test.server("min-replicas-to-write 1").uri()),
        of(
            "20 max number of clients",
            List.of("raise maxclients"),
            "FAIL connection",
            test -> {
              RedisServer full = test.server("maxclients 1");
              RespClient only = full.connect();
              test.undo.push(only);
              only.call("PING");
              return full.uri();
            }),
        of(
            "20 a command that was renamed away",
            List.of("does not know the command PEXPIREAT"),
            "FAIL version",
            test -> {
              test.set("snowflake.trust-empty-redis", "true");
              return test.server("rename-command PEXPIREAT \"\"").uri();
            }),
        of(
            "20 INFO denied",
            FINE,
            "WARN identity",
            test -> with(test.user("+@all", "-info"), test.healthy())),
        of(
            "20 a database that does not exist",
            List.of("database", "/99"),
            "FAIL version",
            test -> redis.uri() + "/99"),
        of(
            "21 an eviction policy",
            List.of("maxmemory-policy=allkeys-lru", "set it to noeviction"),
            "WARN eviction",
            test ->
                test.created(test.server("maxmemory 100mb", "maxmemory-policy allkeys-lru").uri())),
        of(
            "persistence off",
            List.of("keeps nothing on disk", "set appendonly yes"),
            "WARN persistence",
            test -> test.created(test.server("appendonly no").uri())),
        of(
            "replicas, and minReplicas is 0",
            List.of("1 replicas", "set minReplicas to 1"),
            "WARN replicas",
            test -> {
              RedisServer master = test.server();
              test.replicaOf(master);
              return test.created(master.uri());
            }),
        of(
            "minReplicas is 1, and there are none",
            List.of("0 replicas hold the lease", "lower minReplicas"),
            "FAIL replicas",
            test -> {
              test.healthy();
              test.set("snowflake.min-replicas", "1");
              return redis.uri();
            }),
        of(
            "9 another layout",
            List.of("one layout", "stored=epoch=1704067200000", "own=epoch=1288834974657"),
            "FAIL layout",
            test -> {
              test.healthy();
              test.set("snowflake.layout", "twitter");
              return redis.uri();
            }),
        of(
            "22 a namespace with glob characters",
            List.of("namespace must", "a*b"),
            "",
            test -> {
              test.set("snowflake.namespace", "a*b");
              return redis.uri();
            }),
        of(
            "TLS: an authority that nobody trusts",
            List.of("not trusted", "trust store"),
            "FAIL connection",
            test -> "rediss://localhost:" + test.tls()),
        of(
            "TLS where there is none",
            List.of("not speak TLS on this port", "redis://"),
            "FAIL connection|FAIL version",
            test -> redis.uri().replace("redis:", "rediss:")),
        of(
            "no TLS where there is some",
            List.of("TLS", "rediss://"),
            "FAIL connection",
            test -> "redis://localhost:" + test.tls()),
        of(
            "protected mode",
            List.of("protected mode", "set a password or bind address"),
            "FAIL connection",
            MisconfiguredRedisTest::protectedMode),
        of(
            "a host that does not exist",
            List.of("no-such-host.invalid:6379", "check the name|check that it runs"),
            "FAIL connection",
            test -> with("someone:" + SECRET, "redis://no-such-host.invalid")),
        of(
            "a port where nobody listens",
            List.of("Connection refused", "check that it runs"),
            "FAIL connection",
            test -> with(":" + SECRET, "redis://127.0.0.1:1")),
        of(
            "a port where a web server listens",
            List.of("what answers there is no Redis", "check the host and the port"),
            "FAIL connection|FAIL version",
            test -> "redis://127.0.0.1:" + test.answering("HTTP/1.1 400 Bad Request\r\n\r\n")),
        of(
            "a port where somebody listens and says nothing",
            List.of("cannot be reached|did not answer", "check"),
            "FAIL connection",
            test -> "redis://127.0.0.1:" + test.answering("")),
        of(
            "a Redis that is too old",
            List.of("is Redis 4.0.14", "upgrade it"),
            "FAIL version",
            test ->
                "redis://127.0.0.1:"
                    + test.answering("$32\r\n# Server\r\nredis_version:4.0.14\r\n\r\n")),
        of(
            "a Sentinel, given as if it were a server",
            List.of("is a Sentinel", "redis-sentinel://"),
            "FAIL version",
            test -> test.sentinel(redis).uri()),
        of(
            "a Sentinel that does not know the master's name",
            List.of("Sentinels know no master", "#nobody", "check the name"),
            "FAIL connection",
            test -> "redis-sentinel://127.0.0.1:" + test.sentinel(redis).port() + "#nobody"),
        of(
            "a unix socket that does not exist",
            List.of("/no/such.sock", "check that it runs"),
            "FAIL connection",
            test -> "redis-socket:///no/such.sock"),
        of(
            "a slot that another process has",
            List.of("slot=3:7", "holder={", "another node id"),
            "FAIL slots",
            test -> {
              test.healthy();
              test.undo.push(
                  Snowflake.builder()
                      .store(redis.uri())
                      .namespace(test.namespace)
                      .clusterId(3)
                      .nodeId(7)
                      .start());
              test.set("snowflake.cluster-id", "3");
              test.set("snowflake.node-id", "7");
              return redis.uri();
            }),
        of(
            "a namespace without a free slot",
            List.of("slots=2", "held=2"),
            "FAIL slots",
            MisconfiguredRedisTest::full),
        of(
            "6 a quarantine that has begun",
            List.of("empty, restarted, failed over or lost data", "createNamespace()"),
            "WARN quarantine",
            test -> {
              String now = redis.command("TIME").lines().findFirst().orElseThrow() + "000";
              redis.command("HSET", test.key("ledger"), "birth", now, "quarantine", "40000");
              return redis.uri();
            }),
        of(
            "6 a quarantine that the next start will begin",
            List.of("empty, restarted, failed over or lost data", "createNamespace()"),
            "WARN quarantine",
            test -> {
              RedisServer server = test.server();
              String uri = test.created(server.uri());
              server.restart();
              return uri;
            }));
  }

  private static Arguments of(String name, List<String> startSays, String doctor, Setup setup) {
    return arguments(name, startSays, doctor, setup);
  }

  /**
   * The doctor is asked first, as a start changes what it would see.
   *
   * @param startSays words of the one line that a start logs or throws; none if it succeeds
   * @param doctor how one of the doctor's lines begins, or several ways
   */
  @ParameterizedTest(name = "{0}")
  @MethodSource("cases")
  void is_found(String name, List<String> startSays, String doctor, Setup setup) throws Exception {
    String uri = setup.uri(this);

    assertDoctorFinds(uri, doctor, startSays);
    assertStartSays(uri, startSays);
  }

  /** Each right of docs/redis.md, taken away. */
  static Stream<String> rights() throws IOException {
    return Files.readAllLines(Path.of("docs/redis.md")).stream()
        .filter(line -> line.startsWith("ACL SETUSER orders on"))
        .flatMap(line -> Arrays.stream(line.split(" ")))
        .filter(word -> word.startsWith("+") && !word.equals("+info"));
  }

  @ParameterizedTest(name = "20 NOPERM {0}")
  @MethodSource("rights")
  void each_right_is_found(String right) throws Exception {
    String uri =
        with(
            user(
                Stream.concat(rights(), Stream.of("+info", "-" + right.substring(1)))
                    .toArray(String[]::new)),
            healthy());
    redis.command("SCRIPT", "FLUSH");

    CommandRun run = doctor(uri);
    assertThat(run.line("FAIL rights"))
        .as(run.out())
        .contains("denies the user " + right, "ACL SETUSER");
    assertThat(run.code()).isEqualTo(1);
    assertKeepsSecret(run.out() + run.err());

    redis.command("SCRIPT", "FLUSH");
    // Some rights are needed by the command line, at the end, or in rare cases only.
    if (!List.of("+hgetall", "+exists", "+pttl", "+del").contains(right)) {
      assertStartSays(uri, List.of("denies the user " + right, "ACL SETUSER", "docs/redis.md"));
    }
  }

  @Test
  void with_all_of_them_nothing_is_found() throws Exception {
    String uri =
        with(user(Stream.concat(rights(), Stream.of("+info")).toArray(String[]::new)), healthy());
    CommandRun run = doctor(uri);
    assertThat(run.code()).as(run.out()).isZero();
  }

  /** Redis's clock cannot be set, so it is that of another process, which starts and says so. */
  @Test
  void a_host_whose_clock_is_wrong_says_so_at_its_start() throws IOException {
    healthy();
    try (JavaProcess service =
        JavaProcess.of(SnowleaseCommand.class)
            .arguments("next", "--store", redis.uri(), "--namespace", namespace)
            .environment(FakeTime.off("+60s"))
            .start()) {
      String line = service.readLine(Duration.ofSeconds(60));
      assertOneLine(List.of(line), List.of("No lease yet", "clock", "maxClockSkew=5000ms"));
    }
  }

  // ---- What is asserted

  private void assertDoctorFinds(String uri, String begins, List<String> startSays) {
    CommandRun run = doctor(uri);

    String said = run.out() + run.err();
    assertKeepsSecret(said);
    assertThat(said).doesNotContain("\tat ");
    if (begins.isEmpty()) {
      assertThat(run.code()).as(said).isEqualTo(2);
      assertThat(run.err()).contains(startSays);
      return;
    }
    assertThat(run.out().lines())
        .as(said)
        .anyMatch(line -> Arrays.stream(begins.split("\\|")).anyMatch(line::startsWith));
    boolean isBad = !begins.startsWith("OK");
    assertThat(run.code()).as(said).isEqualTo(isBad ? 1 : 0);
    assertThat(run.out().lines()).as("one line a finding").allMatch(line -> line.length() < 500);
  }

  private CommandRun doctor(String uri) {
    return CommandRun.of(
        System.getProperty("snowflake.namespace") == null
            ? new String[] {"doctor", "--store", uri, "--namespace", namespace}
            : new String[] {"doctor", "--store", uri});
  }

  private void assertStartSays(String uri, List<String> words) {
    var builder = Snowflake.builder().store(uri);
    if (System.getProperty("snowflake.namespace") == null) {
      builder.namespace(namespace);
    }
    CompletableFuture<Snowflake> start;
    try {
      start = builder.startAsync();
    } catch (IllegalArgumentException e) {
      assertOneLine(List.of(e.getMessage()), words);
      return;
    }
    try {
      await()
          .atMost(PATIENCE)
          .untilAsserted(
              () -> {
                List<String> said = new ArrayList<>(log.messages);
                said.addAll(failureOf(start));
                if (words.isEmpty()) {
                  assertThat(start).as("%s", said).isCompleted();
                } else {
                  assertOneLine(said, words);
                }
              });
      log.messages.forEach(MisconfiguredRedisTest::assertKeepsSecret);
    } finally {
      start.cancel(true);
      if (start.isDone() && !start.isCompletedExceptionally()) {
        start.join().close();
      }
    }
  }

  private static List<String> failureOf(CompletableFuture<Snowflake> start) {
    if (!start.isCompletedExceptionally()) {
      return List.of();
    }
    Throwable failure = start.handle((started, error) -> error).join();
    while (failure.getCause() != null && !(failure instanceof SnowflakeException)) {
      failure = failure.getCause();
    }
    return List.of(String.valueOf(failure.getMessage()));
  }

  private static void assertOneLine(List<String> lines, List<String> words) {
    lines.forEach(MisconfiguredRedisTest::assertKeepsSecret);
    assertThat(lines)
        .anySatisfy(
            line -> {
              assertThat(line).doesNotContain("\n").hasSizeLessThan(700);
              for (String word : words) {
                assertThat(Arrays.stream(word.split("\\|"))).as(line).anyMatch(line::contains);
              }
            });
  }

  private static void assertKeepsSecret(String text) {
    assertThat(text).doesNotContain(SECRET);
  }

  // ---- How it is brought about

  private String key(String rest) {
    return "{" + namespace + "}:" + rest;
  }

  private RedisServer server(String... lines) {
    RedisServer server = RedisServer.launchProcess(lines);
    undo.push(server);
    return server;
  }

  private String healthy() {
    return created(redis.uri());
  }

  private String created(String uri) {
    assertThat(CommandRun.of("init", "--store", uri, "--namespace", namespace).code()).isZero();
    return uri;
  }

  private void set(String property, String value) {
    System.setProperty(property, value);
    undo.push(() -> System.clearProperty(property));
  }

  private String setting(String name, String wrong, String right) {
    redis.command("CONFIG", "SET", name, wrong);
    undo.push(() -> redis.command("CONFIG", "SET", name, right));
    return redis.uri();
  }

  /** Makes a user with these rights to everything; returns user and password. */
  private String user(String... rights) {
    List<String> command = new ArrayList<>(List.of("ACL", "SETUSER", "app", "reset", "on"));
    command.addAll(List.of(">" + SECRET, "~" + key("*")));
    command.addAll(List.of(rights));
    redis.command(command.toArray(String[]::new));
    return "app:" + SECRET;
  }

  private static String with(String userAndPassword, String uri) {
    return uri.replace("//", "//" + userAndPassword + "@");
  }

  private RedisServer replicaOf(RedisServer master) {
    RedisServer replica = server("replicaof 127.0.0.1 " + master.port());
    await().until(() -> replica.command("INFO", "replication").contains("link_status:up"));
    return replica;
  }

  private RedisServer sentinel(RedisServer master) {
    return server("sentinel monitor leases 127.0.0.1 " + master.port() + " 1");
  }

  private int tls() {
    int port = RedisServer.freePort();
    server(certificates.configLines(port, "server", false).toArray(String[]::new));
    return port;
  }

  private String movedWithoutInfo() {
    RedisServer one = server("cluster-enabled yes");
    RedisServer other = server("cluster-enabled yes");
    int slot = SlotHash.getSlot(key("ledger"));
    // All hash slots but that of the namespace are here, and that one is there.
    addSlots(one, IntStream.range(0, SlotHash.SLOT_COUNT).filter(each -> each != slot));
    other.command("CLUSTER", "ADDSLOTS", Integer.toString(slot));
    other.command("CLUSTER", "SET-CONFIG-EPOCH", "2");
    one.command("CLUSTER", "MEET", "127.0.0.1", Integer.toString(other.port()));
    await()
        .atMost(PATIENCE)
        .until(() -> one.command("CLUSTER", "INFO").contains("cluster_state:ok"));
    one.command("ACL", "SETUSER", "app", "reset", "on", ">" + SECRET, "~*", "+@all", "-info");
    return with("app:" + SECRET, one.uri());
  }

  private static void addSlots(RedisServer node, IntStream slots) {
    node.command(
        Stream.concat(Stream.of("CLUSTER", "ADDSLOTS"), slots.mapToObj(Integer::toString))
            .toArray(String[]::new));
  }

  private String loading() {
    RedisServer slow = server("key-load-delay 500");
    String fill = "for i = 1, 20000 do redis.call('SET', 'key' .. i, '') end";
    slow.command("EVAL", fill, "0");
    Thread restart = new Thread(slow::restart);
    restart.start();
    undo.push(
        () -> {
          slow.kill();
          restart.join();
        });
    await()
        .ignoreExceptions()
        .until(() -> slow.command("INFO", "persistence").contains("loading:1"));
    return slow.uri();
  }

  private String unsaved() throws IOException {
    RedisServer full = server("appendonly no", "save 3600 100000");
    String folder = full.command("CONFIG", "GET", "dir").lines().skip(1).findFirst().orElseThrow();
    // A folder in the place of the file fails a snapshot even for root.
    Files.createDirectories(Path.of(folder, "dump.rdb", "x"));
    full.command("BGSAVE");
    await().until(() -> full.command("INFO", "persistence").contains("bgsave_status:err"));
    return full.uri();
  }

  private String busy() {
    RedisServer server = server("lua-time-limit 10");
    Thread script =
        new Thread(
            () -> {
              try (RespClient client = server.connect()) {
                client.call("EVAL", "while true do end", "0");
              } catch (IOException | RespClient.RedisErrorException e) {
                // Killed below.
              }
            });
    script.start();
    undo.push(
        () -> {
          server.kill();
          script.join();
        });
    await()
        .until(
            () -> {
              try {
                server.command("PING");
                return false;
              } catch (RespClient.RedisErrorException e) {
                return true;
              }
            });
    return server.uri();
  }

  private String protectedMode() throws IOException {
    RedisServer open = server("bind 0.0.0.0", "protected-mode yes");
    for (NetworkInterface network : Collections.list(NetworkInterface.getNetworkInterfaces())) {
      for (InetAddress address : Collections.list(network.getInetAddresses())) {
        if (address instanceof Inet4Address && !address.isLoopbackAddress()) {
          return "redis://" + address.getHostAddress() + ":" + open.port();
        }
      }
    }
    // A machine without a network: what Redis says then.
    return "redis://127.0.0.1:"
        + answering(
            "-DENIED Redis is running in protected mode because protected mode is enabled\r\n");
  }

  /** Two slots, and somebody has both. */
  private String full() {
    set("snowflake.layout", "epoch=1704067200000,tick=1,bits=41/0/1/21");
    set("snowflake.lease-ttl", "10s");
    set("snowflake.max-clock-skew", "1100ms");
    set("snowflake.acquire-timeout", "13300ms");
    String uri = healthy();
    for (int i = 0; i < 2; i++) {
      undo.push(Snowflake.builder().store(uri).namespace(namespace).start());
    }
    return uri;
  }

  /** A server that says the same to everything, and closes nothing. */
  private int answering(String reply) throws IOException {
    ServerSocket listening = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
    undo.push(listening);
    Thread accepting =
        new Thread(
            () -> {
              while (!listening.isClosed()) {
                try {
                  Socket socket = listening.accept();
                  Thread answering = new Thread(() -> answer(socket, reply));
                  answering.setDaemon(true);
                  answering.start();
                } catch (IOException e) {
                  // Closed at the end of the test.
                }
              }
            });
    accepting.setDaemon(true);
    accepting.start();
    return listening.getLocalPort();
  }

  private static void answer(Socket socket, String reply) {
    try (socket) {
      BufferedReader in =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.startsWith("*") && !reply.isEmpty()) {
          // Not before the command is whole: a client does not expect that.
          for (int left = 2 * Integer.parseInt(line.substring(1)); left > 0; left--) {
            in.readLine();
          }
          // One word alone is PING.
          String answer = line.equals("*1") && reply.startsWith("$") ? "+PONG\r\n" : reply;
          socket.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
        }
      }
    } catch (IOException e) {
      // The client went away.
    }
  }
}
