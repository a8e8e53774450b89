package io.github.snowlease.redis;

import io.lettuce.core.cluster.RedisClusterClient;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;

/** A cluster client of the application's: it gives connections, and is never closed. */
final class BorrowedClusterClient implements OnDemandLink.Source {
  private final RedisClusterClient client;

  BorrowedClusterClient(RedisClusterClient client) {
    this.client = client;
  }

  @Override
  public CompletionStage<Peer> open() {
    return ClusterPeer.open(client);
  }

  @Override
  public ScheduledExecutorService timer() {
    return client.getResources().eventExecutorGroup();
  }

  @Override
  public String where() {
    return "Redis Cluster (a client of the application's)";
  }

  @Override
  public void close(@Nullable Peer last) {
    if (last != null) {
      last.close();
    }
  }
}
