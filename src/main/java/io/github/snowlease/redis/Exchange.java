package io.github.snowlease.redis;

import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.LeaseStoreException.Reason;
import io.github.snowlease.LeaseTerms;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One question to Redis within one deadline, which counts from the call on: looking for a
 * connection, sending, and waiting for replies.
 *
 * <p>Whatever happens, the answer completes by the deadline, and with nothing but a value or a
 * {@link LeaseStoreException}. Whether the question may have reached Redis is decided by one
 * compare-and-set: either it was sent, or the deadline came first and it never will be.
 *
 * @param <T> what the question gives
 */
@SuppressWarnings("FutureReturnValueIgnored") // what hangs on these stages does not fail
final class Exchange<T> {
  /** A connection that keeps silent this often in a row is taken for cut off, and replaced. */
  private static final int SILENCES_OF_A_DEAD_PEER = 2;

  /**
   * What is asked.
   *
   * @param <T> what it gives
   */
  @FunctionalInterface
  interface Question<T> {
    /** Sends commands, each through {@link Exchange#track}. */
    CompletionStage<T> ask(Peer peer, Exchange<T> exchange);
  }

  private final Link link;
  private final LeaseTerms terms;
  private final long started = System.nanoTime();
  private final CompletableFuture<T> answer = new CompletableFuture<>();

  /** Set once: by sending, or by giving up before. */
  private final AtomicBoolean decided = new AtomicBoolean();

  private Exchange(Link link, LeaseTerms terms) {
    this.link = link;
    this.terms = terms;
  }

  static <T> Exchange<T> start(Link link, LeaseTerms terms, Question<T> question) {
    Exchange<T> exchange = new Exchange<>(link, terms);
    exchange.begin(question);
    return exchange;
  }

  CompletableFuture<T> answer() {
    return answer;
  }

  /**
   * Ties a command to this exchange: once the exchange is over, the command is cancelled, so that a
   * client which repeats commands after a reconnect does not repeat this one.
   */
  <F extends Future<?>> F track(F command) {
    answer.whenComplete((value, failure) -> command.cancel(false));
    return command;
  }

  /** What is left until the deadline. */
  long remainingMillis() {
    return terms.commandTimeout() - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - started);
  }

  /** Ends the exchange with no answer, if it has none yet. */
  void abandon(String why) {
    if (decided.compareAndSet(false, true)) {
      fail(new LeaseStoreException(Reason.UNREACHABLE, why, null));
    } else {
      fail(new LeaseStoreException(Reason.NO_REPLY, why, null));
    }
  }

  private void begin(Question<T> question) {
    ScheduledFuture<?> deadline;
    try {
      deadline =
          link.timer().schedule(this::deadlineCame, terms.commandTimeout(), TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      abandon("the client of " + link.where() + " has been shut down: open a new store");
      return;
    }
    answer.whenComplete((value, failure) -> deadline.cancel(false));
    link.connect(Keys.ledger(terms), terms.minReplicas() > 0)
        .whenComplete(
            (peer, failure) -> {
              if (failure != null) {
                fail(RedisErrors.beforeSending(failure, link.where()));
              } else {
                send(question, peer);
              }
            });
  }

  private void send(Question<T> question, Peer peer) {
    if (!decided.compareAndSet(false, true)) {
      return;
    }
    answer.whenComplete((value, failure) -> learnAbout(peer, failure));
    try {
      question
          .ask(peer, this)
          .whenComplete(
              (value, failure) -> {
                if (failure != null) {
                  fail(RedisErrors.afterSending(failure, link.where(), terms, peer));
                } else {
                  answer.complete(value);
                }
              });
    } catch (RuntimeException e) {
      // The client refuses the command, because it was shut down meanwhile.
      fail(RedisErrors.afterSending(e, link.where(), terms, peer));
    }
  }

  private void deadlineCame() {
    if (decided.compareAndSet(false, true)) {
      fail(RedisErrors.tooSlow(link.where(), terms));
    } else {
      fail(RedisErrors.noReply(link.where(), terms, null));
    }
  }

  private void learnAbout(Peer peer, Throwable failure) {
    if (!(failure instanceof LeaseStoreException e)) {
      peer.heard();
    } else if (e.reason() == Reason.NO_REPLY) {
      if (peer.silent() >= SILENCES_OF_A_DEAD_PEER) {
        link.giveUp(peer);
      }
    } else {
      peer.heard();
      if (RedisErrors.isOfThisServer(e)) {
        link.giveUp(peer);
      }
    }
  }

  private void fail(LeaseStoreException failure) {
    answer.completeExceptionally(failure);
  }
}
