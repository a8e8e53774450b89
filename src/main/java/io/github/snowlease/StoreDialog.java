package io.github.snowlease;

import java.util.Queue;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Talks with the store for the lease thread: one question at a time, whose answer comes back
 * through a mailbox. A question has three outcomes: an answer; a failure or no answer in time,
 * which are both {@code onUnknown}; or it is dropped, and its answer is ignored.
 *
 * <p>Confined to the lease thread, except {@link #post} and what the store's threads call inside.
 */
final class StoreDialog {
  private static final long NANOS_PER_MILLI = 1_000_000;

  /**
   * A store ends each question in time by itself, and knows whether it was sent at all. On a busy
   * machine its word comes late: it is waited for a little.
   */
  private static final long PATIENCE_MILLIS = 250;

  private final TimeSource time;
  private final long timeoutNanos;
  private final Queue<Runnable> mailbox = new ConcurrentLinkedQueue<>();
  private volatile Runnable wakeUp = () -> {};
  private @Nullable Question question;

  /** What to do with an answer that came in time. */
  interface Answer<T> {
    /** The answer was asked for and received at these readings of nanoTime. */
    void take(T answer, long sentAt, long receivedAt);
  }

  /** An open question; compared by identity. */
  private static final class Question {
    final long sentAt;
    final long giveUpAt;
    final Consumer<SnowflakeException> onUnknown;

    Question(long sentAt, long giveUpAt, Consumer<SnowflakeException> onUnknown) {
      this.sentAt = sentAt;
      this.giveUpAt = giveUpAt;
      this.onUnknown = onUnknown;
    }
  }

  StoreDialog(TimeSource time, long timeoutMillis) {
    this.time = time;
    this.timeoutNanos = timeoutMillis * NANOS_PER_MILLI;
  }

  /** Sets how to wake the lease thread; until then nothing wakes it. */
  void onWakeUp(Runnable wakeUp) {
    this.wakeUp = wakeUp;
  }

  /** Has the lease thread run something; from any thread. */
  void post(Runnable message) {
    mailbox.add(message);
    wakeUp.run();
  }

  boolean hasMail() {
    return !mailbox.isEmpty();
  }

  /** Runs what has been posted. A message that throws is gone; those behind it stay. */
  void deliver() {
    for (Runnable message = mailbox.poll(); message != null; message = mailbox.poll()) {
      message.run();
    }
  }

  boolean isIdle() {
    return question == null;
  }

  /** The nanoTime at which the open question's outcome becomes unknown; only while not idle. */
  long deadline() {
    Question open = question;
    return open == null ? Long.MAX_VALUE : open.giveUpAt;
  }

  /** Asks, unless the store throws at once, which it must not. */
  <T> void ask(
      long now,
      Supplier<CompletionStage<T>> send,
      Answer<T> onAnswer,
      Consumer<SnowflakeException> onUnknown) {
    ask(now, PATIENCE_MILLIS, send, onAnswer, onUnknown);
  }

  /** As {@link #ask}, with more or less patience for the store's word that nothing was sent. */
  <T> void ask(
      long now,
      long patienceMillis,
      Supplier<CompletionStage<T>> send,
      Answer<T> onAnswer,
      Consumer<SnowflakeException> onUnknown) {
    long giveUpAt = now + timeoutNanos + (patienceMillis + 1) * NANOS_PER_MILLI;
    Question asked = new Question(now, giveUpAt, onUnknown);
    question = asked;
    var unused =
        send.get()
            .whenComplete(
                (answer, error) -> {
                  // On a thread of the store: note the time, and leave the rest to the lease
                  // thread.
                  long receivedAt = time.nanoTime();
                  post(() -> receive(asked, onAnswer, answer, error, receivedAt));
                });
  }

  private <T> void receive(
      Question asked,
      Answer<T> onAnswer,
      @Nullable T answer,
      @Nullable Throwable error,
      long receivedAt) {
    if (question != asked) {
      return; // dropped
    }
    if (answer == null || error != null) {
      question = null;
      asked.onUnknown.accept(asFailure(error));
      return;
    }
    if (receivedAt - asked.sentAt > timeoutNanos) {
      dropAsUnknown(late()); // too old to tell anything about now
      return;
    }
    question = null;
    try {
      onAnswer.take(answer, asked.sentAt, receivedAt);
    } catch (Throwable t) {
      // Half taken: its outcome becomes unknown, like that of a lost answer.
      question = asked;
      throw t;
    }
  }

  /** Gives the open question up if its answer is overdue. */
  void giveUpIfOverdue(long now) {
    Question open = question;
    if (open != null && now - open.giveUpAt >= 0) {
      dropAsUnknown(late());
    }
  }

  private String late() {
    return "the store must answer within "
        + timeoutNanos / NANOS_PER_MILLI
        + "ms: it did not; see whether it hangs, or the network to it";
  }

  /** Gives the open question up, if there is one, as one that may have been carried out. */
  void dropAsUnknown(String why) {
    Question open = question;
    question = null;
    if (open != null) {
      open.onUnknown.accept(
          new LeaseStoreException(LeaseStoreException.Reason.NO_REPLY, why, null));
    }
  }

  /** Gives the open question up, if there is one, without a trace. */
  void drop() {
    question = null;
  }

  private static SnowflakeException asFailure(@Nullable Throwable error) {
    Throwable cause = error;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    if (cause instanceof SnowflakeException known) {
      return known;
    }
    return new LeaseStoreException(
        LeaseStoreException.Reason.OTHER, "the store failed: " + cause, cause);
  }
}
