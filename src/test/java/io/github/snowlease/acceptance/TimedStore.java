package io.github.snowlease.acceptance;

import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseStore.Granted;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/** A store that notes when it is asked and when it grants. */
final class TimedStore extends ForwardingStore {
  private static final long NEVER = Long.MAX_VALUE;

  private final AtomicInteger reads = new AtomicInteger();
  private final AtomicLong nextTry = new AtomicLong(NEVER);
  private final AtomicLong granted = new AtomicLong(NEVER);
  private volatile boolean marked;

  TimedStore(LeaseStore store) {
    super(store);
  }

  int reads() {
    return reads.get();
  }

  /** From now on the next try counts. */
  void mark() {
    marked = true;
  }

  double millisFromNextTryToGrant() {
    return (granted.get() - nextTry.get()) / 1e6;
  }

  @Override
  <T> CompletionStage<T> ask(String question, Supplier<CompletionStage<T>> send) {
    if (marked) {
      nextTry.compareAndSet(NEVER, System.nanoTime());
    }
    return send.get()
        .thenApply(
            answer -> {
              if (question.equals("readLedger")) {
                reads.incrementAndGet();
              }
              if (answer instanceof Granted) {
                // Also when the grant came between the release and the mark: then it took nothing.
                granted.set(System.nanoTime());
                nextTry.compareAndSet(NEVER, System.nanoTime());
              }
              return answer;
            });
  }
}
