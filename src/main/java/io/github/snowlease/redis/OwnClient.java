package io.github.snowlease.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.MaintNotificationsConfig;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A Lettuce client of the store's own, set up for a lease, with as few threads as Lettuce allows.
 */
final class OwnClient implements OnDemandLink.Source {
  /** Three times this is the longest that close() takes. */
  private static final long SHUTDOWN_MILLIS = 300;

  private static final AtomicInteger THREADS = new AtomicInteger();

  private final RedisURI uri;
  private final SslOptions tls;
  private final ClientResources resources;
  private final RedisClient client;
  private final ScheduledExecutorService timer;

  /** Made when the server turns out to be a node of a cluster. */
  private volatile @Nullable RedisClusterClient cluster;

  /**
   * Makes a client that is not connected yet.
   *
   * @param uri where Redis is
   * @param tls how it and this process prove who they are, if the URI demands TLS
   */
  OwnClient(RedisURI uri, SslOptions tls) {
    this.uri = uri;
    this.tls = tls;
    resources =
        DefaultClientResources.builder()
            .ioThreadPoolSize(DefaultClientResources.MIN_IO_THREADS)
            .computationThreadPoolSize(DefaultClientResources.MIN_COMPUTATION_THREADS)
            .threadFactoryProvider(OwnClient::threads)
            .commandLatencyRecorder(CommandLatencyRecorder.disabled())
            .nettyCustomizer(SilentEncoder.CUSTOMIZER)
            .build();
    timer = resources.eventExecutorGroup();
    client = RedisClient.create(resources, uri);
    client.setOptions(options());
  }

  private ClientOptions options() {
    return ClientOptions.builder()
        .autoReconnect(false) // see OnDemandLink
        .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
        // The replies are plain strings, and RESP2 spares a HELLO that Redis 5 does not know.
        .protocolVersion(ProtocolVersion.RESP2)
        .maintNotificationsConfig(MaintNotificationsConfig.disabled())
        .sslOptions(tls)
        // For those providers of credentials that tell when there are new ones.
        .reauthenticateBehavior(ClientOptions.ReauthenticateBehavior.ON_NEW_CREDENTIALS)
        .socketOptions(
            SocketOptions.builder().connectTimeout(uri.getTimeout()).keepAlive(true).build())
        .build();
  }

  /** How long an attempt to connect may take, with every Sentinel hanging but the last. */
  Duration patience() {
    return uri.getTimeout().multipliedBy(3 + 2L * uri.getSentinels().size());
  }

  private static ThreadFactory threads(String pool) {
    return task -> {
      Thread thread = new Thread(task, "snowlease-redis-" + pool + "-" + THREADS.incrementAndGet());
      thread.setDaemon(true);
      // Not that of whoever happens to call first, which would outlive its application.
      thread.setContextClassLoader(OwnClient.class.getClassLoader());
      return thread;
    };
  }

  @Override
  public CompletionStage<Peer> open() {
    RedisClusterClient known = cluster;
    if (known != null) {
      return ClusterPeer.open(known);
    }
    return client
        .connectAsync(StringCodec.UTF8, uri)
        .thenCompose(connection -> check(new Peer(connection.async(), connection)));
  }

  /** Takes the connection if the server fits; goes on to the cluster if it is a node of one. */
  private CompletionStage<Peer> check(Peer peer) {
    return ServerCheck.isCluster(peer, where())
        .whenComplete(
            (isCluster, failure) -> {
              if (failure != null || isCluster) {
                peer.close();
              }
            })
        .thenCompose(
            isCluster ->
                isCluster
                    ? ClusterPeer.open(clusterClient())
                    : CompletableFuture.completedFuture(peer));
  }

  private synchronized RedisClusterClient clusterClient() {
    RedisClusterClient known = cluster;
    if (known == null) {
      known = RedisClusterClient.create(resources, uri);
      known.setOptions(
          ClusterClientOptions.builder(options())
              // Else what is asked of a node is refused until the connection to it stands. A lost
              // connection never comes back, so nothing that was kept for it is sent later.
              .disconnectedBehavior(ClientOptions.DisconnectedBehavior.ACCEPT_COMMANDS)
              // A slot may move to a node that joined after the cluster was asked for its nodes.
              .validateClusterNodeMembership(false)
              .build());
      cluster = known;
    }
    return known;
  }

  @Override
  public ScheduledExecutorService timer() {
    return timer;
  }

  @Override
  public String where() {
    return StoreUri.describe(uri);
  }

  @Override
  public void close(@Nullable Peer last) {
    // The client closes its connections itself.
    RedisClusterClient known = cluster;
    if (known != null) {
      await(known.shutdownAsync(0, SHUTDOWN_MILLIS, TimeUnit.MILLISECONDS));
    }
    await(client.shutdownAsync(0, SHUTDOWN_MILLIS, TimeUnit.MILLISECONDS));
    await(resources.shutdown(0, SHUTDOWN_MILLIS, TimeUnit.MILLISECONDS));
  }

  private static void await(Future<?> end) {
    try {
      end.get(SHUTDOWN_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      // It goes on ending by itself: all its threads are daemons.
    }
  }
}
