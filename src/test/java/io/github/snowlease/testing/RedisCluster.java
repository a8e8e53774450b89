package io.github.snowlease.testing;

import static org.awaitility.Awaitility.await;

import io.lettuce.core.cluster.SlotHash;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A real cluster of three masters, with a replica each if that is wanted. */
public final class RedisCluster implements AutoCloseable {
  private static final int MASTERS = 3;

  private final List<RedisServer> nodes = new ArrayList<>();

  private RedisCluster() {}

  /** Starts three masters; returns when they serve all slots. */
  public static RedisCluster launch() {
    return launch(false);
  }

  /** Starts three masters with a replica each; returns when all of them follow. */
  public static RedisCluster launchWithReplicas() {
    return launch(true);
  }

  private static RedisCluster launch(boolean replicated) {
    RedisCluster cluster = new RedisCluster();
    try {
      cluster.start(replicated ? 2 * MASTERS : MASTERS);
      return cluster;
    } catch (RuntimeException | Error e) {
      cluster.close();
      throw e;
    }
  }

  private void start(int count) {
    for (int i = 0; i < count; i++) {
      RedisServer node =
          RedisServer.launchProcess(
              "cluster-enabled yes",
              "cluster-node-timeout 2000",
              "cluster-config-file nodes-" + i + ".conf");
      nodes.add(node);
      node.command("CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1));
      if (i < MASTERS) {
        addSlots(node, i * SlotHash.SLOT_COUNT / MASTERS, (i + 1) * SlotHash.SLOT_COUNT / MASTERS);
      }
      node.command("CLUSTER", "MEET", "127.0.0.1", Integer.toString(nodes.get(0).port()));
    }
    awaitTrue(
        () ->
            nodes.stream()
                .allMatch(node -> node.command("CLUSTER", "NODES").lines().count() == count));
    for (int i = MASTERS; i < count; i++) {
      nodes.get(i).command("CLUSTER", "REPLICATE", id(nodes.get(i - MASTERS)));
    }
    awaitTrue(
        () ->
            nodes.stream()
                .allMatch(node -> node.command("CLUSTER", "INFO").contains("cluster_state:ok")));
    List<RedisServer> replicas = nodes.subList(MASTERS, count);
    awaitTrue(
        () ->
            replicas.stream()
                .allMatch(
                    node -> node.command("INFO", "replication").contains("master_link_status:up")));
  }

  /** Kills the master of a key, and waits until its replica has taken its place. */
  public RedisServer failOver(String key) {
    RedisServer old = nodeOf(key);
    RedisServer replica = replicaOf(old);
    old.kill();
    awaitMaster(replica, key);
    return replica;
  }

  /** Lets the replica of a key's master take its place, with nobody dead. */
  public RedisServer swap(String key) {
    RedisServer replica = replicaOf(nodeOf(key));
    replica.command("CLUSTER", "FAILOVER");
    awaitMaster(replica, key);
    return replica;
  }

  /** The replica that a master was started with. */
  public RedisServer replicaOf(RedisServer master) {
    return nodes.get((nodes.indexOf(master) + MASTERS) % nodes.size());
  }

  private void awaitMaster(RedisServer replica, String key) {
    awaitTrue(() -> replica.command("ROLE").startsWith("master") && nodeOf(key) == replica);
  }

  private static void awaitTrue(java.util.concurrent.Callable<Boolean> condition) {
    await()
        .atMost(Duration.ofSeconds(60))
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(20))
        .until(condition);
  }

  private static void addSlots(RedisServer node, int from, int to) {
    List<String> command = new ArrayList<>(List.of("CLUSTER", "ADDSLOTS"));
    for (int slot = from; slot < to; slot++) {
      command.add(Integer.toString(slot));
    }
    node.command(command.toArray(new String[0]));
  }

  /** One that all others are found by. */
  public RedisServer seed() {
    return nodes.get(0);
  }

  /** The node that keeps a key, as the nodes themselves say. */
  public RedisServer nodeOf(String key) {
    String slot = Integer.toString(SlotHash.getSlot(key));
    for (RedisServer node : nodes) {
      if (!node.isRunning()) {
        continue;
      }
      String mine =
          node.command("CLUSTER", "NODES")
              .lines()
              .filter(line -> line.contains("myself"))
              .findFirst()
              .orElseThrow();
      String[] parts = mine.split(" ", -1);
      for (int i = 8; i < parts.length; i++) {
        String[] range = parts[i].split("-", -1);
        if (!parts[i].startsWith("[")
            && Integer.parseInt(range[0]) <= Integer.parseInt(slot)
            && Integer.parseInt(slot) <= Integer.parseInt(range[range.length - 1])) {
          return node;
        }
      }
    }
    throw new AssertionError("no node has slot " + slot);
  }

  /** Another master. */
  public RedisServer anotherThan(RedisServer node) {
    return nodes.stream().limit(MASTERS).filter(other -> other != node).findFirst().orElseThrow();
  }

  /** What a node is called in the cluster. */
  public String id(RedisServer node) {
    return node.command("CLUSTER", "MYID");
  }

  /** All nodes. */
  public List<RedisServer> nodes() {
    return List.copyOf(nodes);
  }

  @Override
  public void close() {
    nodes.forEach(RedisServer::close);
  }
}
