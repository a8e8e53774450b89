package io.github.snowlease.testing;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;

/** A real master, two replicas, and three Sentinels, which give a dead master up after a second. */
public final class RedisSentinels implements AutoCloseable {
  private static final String NAME = "leases";
  private static final int REPLICAS = 2;
  private static final int SENTINELS = 3;

  private final List<RedisServer> servers = new ArrayList<>();
  private final List<RedisServer> sentinels = new ArrayList<>();

  private RedisSentinels() {}

  /** Starts all of them; returns when each Sentinel knows all others, and all replicas follow. */
  public static RedisSentinels launch() {
    RedisSentinels all = new RedisSentinels();
    try {
      all.start();
    } catch (RuntimeException | Error e) {
      all.close();
      throw e;
    }
    return all;
  }

  private void start() {
    RedisServer master = RedisServer.launchProcess();
    servers.add(master);
    for (int i = 0; i < REPLICAS; i++) {
      servers.add(RedisServer.launchProcess("replicaof 127.0.0.1 " + master.port()));
    }
    // A Sentinel asks its master for replicas at once, and then not again for ten seconds.
    awaitTrue(
        () -> master.command("INFO", "replication").split("state=online", -1).length > REPLICAS);
    for (int i = 0; i < SENTINELS; i++) {
      sentinels.add(
          RedisServer.launchProcess(
              "sentinel monitor " + NAME + " 127.0.0.1 " + master.port() + " 2",
              "sentinel down-after-milliseconds " + NAME + " 1000",
              "sentinel failover-timeout " + NAME + " 6000",
              "sentinel parallel-syncs " + NAME + " 2"));
    }
    awaitTrue(() -> sentinels.stream().allMatch(RedisSentinels::knowsAll));
  }

  private static boolean knowsAll(RedisServer sentinel) {
    String state = sentinel.command("SENTINEL", "MASTER", NAME);
    return state.contains("num-slaves\n" + REPLICAS + "\n")
        && state.contains("num-other-sentinels\n" + (SENTINELS - 1) + "\n");
  }

  /** What a client connects to: the Sentinels alone. */
  public String uri() {
    return sentinels.stream()
        .map(sentinel -> "127.0.0.1:" + sentinel.port())
        .collect(Collectors.joining(",", "redis-sentinel://", "#" + NAME));
  }

  /** The Sentinels, in the order of the URI. */
  public List<RedisServer> sentinels() {
    return List.copyOf(sentinels);
  }

  /** The server that is the master, as the last Sentinel says. */
  public RedisServer master() {
    String port =
        sentinels
            .get(SENTINELS - 1)
            .command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME)
            .lines()
            .skip(1)
            .findFirst()
            .orElseThrow();
    return servers.stream()
        .filter(server -> Integer.toString(server.port()).equals(port))
        .findFirst()
        .orElseThrow();
  }

  /** Kills the master, and waits until another one takes its place. */
  public RedisServer failOver() {
    RedisServer old = master();
    old.kill();
    awaitTrue(() -> master() != old && master().command("ROLE").startsWith("master"));
    return master();
  }

  private static void awaitTrue(Callable<Boolean> condition) {
    await()
        .atMost(Duration.ofSeconds(60))
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(20))
        .until(condition);
  }

  @Override
  public void close() {
    sentinels.forEach(RedisServer::close);
    servers.forEach(RedisServer::close);
  }
}
