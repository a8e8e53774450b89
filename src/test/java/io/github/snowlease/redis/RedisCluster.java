package io.github.snowlease.redis;

import static org.awaitility.Awaitility.await;

import io.github.snowlease.testing.RedisServer;
import io.lettuce.core.cluster.SlotHash;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A real cluster of three masters. */
final class RedisCluster implements AutoCloseable {
  private static final int NODES = 3;

  private final List<RedisServer> nodes = new ArrayList<>();

  RedisCluster() {
    for (int i = 0; i < NODES; i++) {
      nodes.add(
          RedisServer.launch(
              "cluster-enabled yes",
              "cluster-node-timeout 2000",
              "cluster-config-file nodes-" + i + ".conf"));
    }
    for (int i = 0; i < NODES; i++) {
      RedisServer node = nodes.get(i);
      node.command("CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1));
      addSlots(node, i * SlotHash.SLOT_COUNT / NODES, (i + 1) * SlotHash.SLOT_COUNT / NODES);
      node.command("CLUSTER", "MEET", "127.0.0.1", Integer.toString(nodes.get(0).port()));
    }
    await()
        .atMost(Duration.ofSeconds(20))
        .until(
            () ->
                nodes.stream()
                    .allMatch(
                        node ->
                            node.command("CLUSTER", "INFO").contains("cluster_state:ok")
                                && node.command("CLUSTER", "NODES").lines().count() == NODES));
  }

  private static void addSlots(RedisServer node, int from, int to) {
    List<String> command = new ArrayList<>(List.of("CLUSTER", "ADDSLOTS"));
    for (int slot = from; slot < to; slot++) {
      command.add(Integer.toString(slot));
    }
    node.command(command.toArray(new String[0]));
  }

  /** One that all others are found by. */
  RedisServer seed() {
    return nodes.get(0);
  }

  /** The node that keeps a key, as the nodes themselves say. */
  RedisServer nodeOf(String key) {
    String slot = Integer.toString(SlotHash.getSlot(key));
    for (RedisServer node : nodes) {
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

  RedisServer anotherThan(RedisServer node) {
    return nodes.stream().filter(other -> other != node).findFirst().orElseThrow();
  }

  String id(RedisServer node) {
    return node.command("CLUSTER", "MYID");
  }

  List<RedisServer> nodes() {
    return nodes;
  }

  @Override
  public void close() {
    nodes.forEach(RedisServer::close);
  }
}
