package io.github.snowlease.redis;

import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.LeaseStoreException.Reason;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * A connection of the application's: never closed, never replaced. While it is not open nothing is
 * asked, since its client may keep commands to send them later.
 */
final class BorrowedLink implements Link {
  private final StatefulRedisConnection<String, String> connection;
  private final Peer peer;

  /** The check of the server, made once; a failed one is made again. Guarded by this. */
  private @Nullable CompletableFuture<Peer> check;

  BorrowedLink(StatefulRedisConnection<String, String> connection) {
    this.connection = connection;
    this.peer = new Peer(connection.async(), connection);
  }

  @Override
  public CompletionStage<Peer> connect(String ledger, boolean oneConnection) {
    if (!connection.isOpen()) {
      return CompletableFuture.failedFuture(
          new LeaseStoreException(
              Reason.UNREACHABLE,
              where() + " is not connected now: nothing was asked; it is tried again",
              null));
    }
    CompletableFuture<Peer> fresh = new CompletableFuture<>();
    synchronized (this) {
      if (check != null && !check.isCompletedExceptionally()) {
        return check;
      }
      check = fresh;
    }
    ServerCheck.isCluster(peer, where())
        .whenComplete(
            (checked, failure) -> {
              if (failure != null) {
                fresh.completeExceptionally(failure);
              } else {
                fresh.complete(peer);
              }
            });
    return fresh;
  }

  @Override
  public void giveUp(Peer silent) {
    // Its owner decides what becomes of it.
  }

  @Override
  public ScheduledExecutorService timer() {
    return connection.getResources().eventExecutorGroup();
  }

  @Override
  public String where() {
    return "Redis (a connection of the application's)";
  }

  @Override
  public void disconnect() {
    // The application closes the connection.
  }

  @Override
  public void close() {
    // The application closes the connection.
    peer.forget();
  }
}
