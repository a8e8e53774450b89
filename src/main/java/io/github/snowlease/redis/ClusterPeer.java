package io.github.snowlease.redis;

import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.LeaseStoreException.Reason;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.codec.StringCodec;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * The connections to the nodes of a cluster. Its commands find the node that keeps a key, and
 * follow it when it moves.
 */
final class ClusterPeer extends Peer {
  private final StatefulRedisClusterConnection<String, String> cluster;

  /** The nodes that were asked for, each with the connection that it was asked on. */
  private final ConcurrentMap<String, NodePeer> nodes = new ConcurrentHashMap<>();

  private ClusterPeer(StatefulRedisClusterConnection<String, String> cluster) {
    super(cluster.async(), cluster);
    this.cluster = cluster;
  }

  /** Asks the cluster for its nodes, afresh each time, and connects. */
  static CompletionStage<Peer> open(RedisClusterClient client) {
    return client
        .refreshPartitionsAsync()
        .thenCompose(known -> client.connectAsync(StringCodec.UTF8))
        .thenApply(ClusterPeer::new);
  }

  /**
   * Always: it stands for many connections, which are made and lost one by one. If the one that is
   * needed is dead, then the questions fail, and after two of them all this is given up.
   */
  @Override
  boolean isOpen() {
    return true;
  }

  @Override
  CompletionStage<Peer> writer(String ledger) {
    RedisClusterNode node = cluster.getPartitions().getMasterBySlot(SlotHash.getSlot(ledger));
    if (node == null) {
      return CompletableFuture.failedFuture(
          new LeaseStoreException(
              Reason.UNAVAILABLE,
              "no node of the cluster serves the slot of "
                  + ledger
                  + "; if it lasts, look at CLUSTER INFO",
              null));
    }
    String id = node.getNodeId();
    return cluster.getConnectionAsync(id).thenApply(connection -> peerOf(id, connection));
  }

  private Peer peerOf(String id, StatefulRedisConnection<String, String> connection) {
    return nodes.compute(
        id,
        (key, known) ->
            known != null && known.connection == connection
                ? known
                : new NodePeer(connection, this));
  }

  /**
   * One node, which does not follow keys that move: then the cluster is asked for its nodes anew.
   */
  private static final class NodePeer extends Peer {
    private final StatefulRedisConnection<String, String> connection;
    private final ClusterPeer root;

    NodePeer(StatefulRedisConnection<String, String> connection, ClusterPeer root) {
      super(connection.async(), connection);
      this.connection = connection;
      this.root = root;
    }

    @Override
    Peer root() {
      return root;
    }
  }
}
