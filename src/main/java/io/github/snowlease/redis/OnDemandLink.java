package io.github.snowlease.redis;

import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.LeaseStoreException.Reason;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One connection, made when it is asked for and made anew when it was lost, never more often than
 * ten times a second.
 *
 * <p>The client's own reconnecting is not used. It keeps commands to repeat them later, backs off
 * up to its own limits, and trusts a connection that is cut off without a sign. Here the first
 * connection, one that was lost, and one that keeps silent are the same case: the next question
 * connects, resolves names afresh, and asks Sentinel afresh; the lease's heartbeat is the pace.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what hangs on these stages does not fail
final class OnDemandLink implements Link {
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** So many times at most is asked why the server refuses. */
  private static final int ATTEMPTS = 3;

  /** Where connections come from. */
  interface Source {
    /** Connects, and checks that the server can do this job. */
    CompletionStage<Peer> open();

    ScheduledExecutorService timer();

    String where();

    /**
     * Gives up what is the store's own; returns within a second.
     *
     * @param last the connection that stands, if one does
     */
    void close(@Nullable Peer last);
  }

  private final Source source;
  private final Duration patience;

  // All guarded by this.
  private @Nullable CompletableFuture<Peer> attempt;
  private long attemptStarted;
  private boolean closed;

  /**
   * Makes a link that is not connected yet.
   *
   * @param source where connections come from
   * @param patience how long one attempt may take
   */
  OnDemandLink(Source source, Duration patience) {
    this.source = source;
    this.patience = patience;
  }

  @Override
  public CompletionStage<Peer> connect(String ledger, boolean oneConnection) {
    CompletionStage<Peer> peer = connect();
    return oneConnection ? peer.thenCompose(found -> found.writer(ledger)) : peer;
  }

  /** Begins to connect, so that the first question finds a connection. */
  void prepare() {
    connect();
  }

  private CompletableFuture<Peer> connect() {
    CompletableFuture<Peer> fresh = new CompletableFuture<>();
    synchronized (this) {
      if (closed) {
        return CompletableFuture.failedFuture(unreachable("the store has been closed"));
      }
      CompletableFuture<Peer> last = attempt;
      if (last != null) {
        boolean justNow = System.nanoTime() - attemptStarted < PAUSE_NANOS;
        if (!last.isDone() || (justNow && last.isCompletedExceptionally())) {
          return last;
        }
        if (!last.isCompletedExceptionally()) {
          Peer peer = last.join();
          if (peer.isOpen()) {
            return last;
          }
          peer.close();
          if (justNow) {
            return CompletableFuture.failedFuture(unreachable("the connection was just lost"));
          }
        }
      }
      attempt = fresh;
      attemptStarted = System.nanoTime();
    }
    open(fresh);
    return fresh;
  }

  private void open(CompletableFuture<Peer> fresh) {
    try {
      ScheduledFuture<?> deadline =
          timer()
              .schedule(
                  () -> fresh.completeExceptionally(unreachable("no connection in time")),
                  patience.toMillis(),
                  TimeUnit.MILLISECONDS);
      fresh.whenComplete((peer, failure) -> deadline.cancel(false));
      ask(ATTEMPTS)
          .whenComplete(
              (peer, failure) -> {
                if (failure != null) {
                  fresh.completeExceptionally(failure);
                } else if (!fresh.complete(peer)) {
                  peer.close();
                }
              });
    } catch (RejectedExecutionException | IllegalStateException e) {
      fresh.completeExceptionally(
          RedisErrors.lacksNativeTransport(e) ? e : unreachable("the client has been shut down"));
    } catch (RuntimeException e) {
      fresh.completeExceptionally(e);
    }
  }

  /** Not by exceptionallyCompose(), which Lettuce's futures leave to one that never completes. */
  private CompletionStage<Peer> ask(int attempts) {
    return source
        .open()
        .handle(
            (peer, failure) -> {
              if (failure == null) {
                return CompletableFuture.completedStage(peer);
              }
              return attempts > 1 && RedisErrors.hidesItsCause(failure)
                  ? askLater(attempts - 1)
                  : CompletableFuture.<Peer>failedStage(failure);
            })
        .thenCompose(stage -> stage);
  }

  /** At the pace of all attempts. */
  private CompletionStage<Peer> askLater(int attempts) {
    Executor later = CompletableFuture.delayedExecutor(PAUSE_NANOS, TimeUnit.NANOSECONDS, timer());
    return CompletableFuture.supplyAsync(
            () -> {
              synchronized (this) {
                attemptStarted = System.nanoTime();
              }
              return ask(attempts);
            },
            later)
        .thenCompose(stage -> stage);
  }

  @Override
  public synchronized void giveUp(Peer peer) {
    if (attempt != null
        && attempt.isDone()
        && !attempt.isCompletedExceptionally()
        && attempt.join() == peer.root()) {
      attempt = null;
    }
    peer.root().close();
  }

  @Override
  public ScheduledExecutorService timer() {
    return source.timer();
  }

  @Override
  public String where() {
    return source.where();
  }

  @Override
  public void disconnect() {
    Peer peer = detach("the store disconnects");
    if (peer != null) {
      peer.closeNow();
    }
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    source.close(detach("the store has been closed"));
  }

  /** Forgets the last attempt, and ends it if it is under way; returns its connection, if any. */
  private @Nullable Peer detach(String why) {
    CompletableFuture<Peer> last;
    synchronized (this) {
      last = attempt;
      attempt = null;
    }
    if (last == null
        || last.completeExceptionally(unreachable(why))
        || last.isCompletedExceptionally()) {
      return null;
    }
    return last.join();
  }

  private LeaseStoreException unreachable(String why) {
    return new LeaseStoreException(
        Reason.UNREACHABLE, where() + " cannot be reached: " + why, null);
  }
}
