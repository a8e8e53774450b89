package io.github.snowlease.redis;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** An open connection, and how often in a row it has kept silent. Safe for use by many threads. */
class Peer {
  private static final long CLOSE_MILLIS = 800;

  private final RedisClusterAsyncCommands<String, String> commands;
  private final StatefulConnection<String, String> connection;
  private final AtomicInteger silences = new AtomicInteger();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final AtomicInteger breaks = new AtomicInteger();
  private final RedisConnectionStateListener listener =
      new RedisConnectionStateListener() {
        @Override
        public void onRedisDisconnected(RedisChannelHandler<?, ?> broken) {
          breaks.incrementAndGet();
        }
      };

  Peer(
      RedisClusterAsyncCommands<String, String> commands,
      StatefulConnection<String, String> connection) {
    this.commands = commands;
    this.connection = connection;
    connection.addListener(listener);
  }

  /** What can be asked; the commands of one connection reach Redis in the order of their calls. */
  RedisClusterAsyncCommands<String, String> commands() {
    return commands;
  }

  /**
   * Finds the one connection that writes a namespace, for WAIT to follow what was written on it.
   *
   * @param ledger the ledger's key
   */
  CompletionStage<Peer> writer(String ledger) {
    return CompletableFuture.completedFuture(this);
  }

  /** What is given up with this connection: the whole cluster's, if it is one of those. */
  Peer root() {
    return this;
  }

  boolean isOpen() {
    return connection.isOpen();
  }

  /**
   * How often the connection was lost: a client of the application's may have connected anew, to
   * another server even, behind the same object.
   */
  int breaks() {
    return breaks.get();
  }

  /** Notes a reply, even an error: the way is open in both directions. */
  void heard() {
    silences.set(0);
  }

  /**
   * Notes that no reply came in time.
   *
   * @return how many times in a row
   */
  int silent() {
    return silences.incrementAndGet();
  }

  /** Leaves a connection of the application's as it was. */
  void forget() {
    connection.removeListener(listener);
  }

  /** Begins to close the connection; a client that was shut down before may refuse even that. */
  void close() {
    var unused = beginClose();
  }

  private CompletableFuture<Void> beginClose() {
    try {
      if (closed.compareAndSet(false, true)) {
        return connection.closeAsync();
      }
    } catch (RuntimeException e) {
      // Then it is closed already.
    }
    return CompletableFuture.completedFuture(null);
  }

  /** Closes the connection, and waits for that. */
  void closeNow() {
    try {
      beginClose().get(CLOSE_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      // It goes on closing by itself.
    }
  }
}
