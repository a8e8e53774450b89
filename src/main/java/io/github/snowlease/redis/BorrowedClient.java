package io.github.snowlease.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.StringCodec;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;

/** A client of the application's: it gives connections, and is never closed. */
final class BorrowedClient implements OnDemandLink.Source {
  private final RedisClient client;
  private final RedisURI uri;

  BorrowedClient(RedisClient client, RedisURI uri) {
    this.client = client;
    this.uri = uri;
  }

  @Override
  public CompletionStage<Peer> open() {
    return client
        .connectAsync(StringCodec.UTF8, uri)
        .thenCompose(
            connection -> {
              Peer peer = new Peer(connection.async(), connection);
              return ServerCheck.isCluster(peer, where())
                  .whenComplete(
                      (cluster, failure) -> {
                        if (failure != null) {
                          peer.close();
                        }
                      })
                  .thenApply(checked -> peer);
            });
  }

  @Override
  public ScheduledExecutorService timer() {
    return client.getResources().eventExecutorGroup();
  }

  @Override
  public String where() {
    return StoreUri.describe(uri);
  }

  @Override
  public void close(@Nullable Peer last) {
    if (last != null) {
      last.close();
    }
  }
}
