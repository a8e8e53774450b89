package io.github.snowlease.acceptance;

import io.github.snowlease.LeaseStore;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** A store whose questions are all carried out, and one answer in three never comes. */
final class DroppingStore extends ForwardingStore {
  private final Random random;
  private final AtomicInteger questions = new AtomicInteger();
  private final AtomicInteger dropped = new AtomicInteger();

  /** Which answers are lost depends on the seed alone. */
  DroppingStore(LeaseStore store, long seed) {
    super(store);
    this.random = new Random(seed);
  }

  int questions() {
    return questions.get();
  }

  int dropped() {
    return dropped.get();
  }

  @Override
  synchronized <T> CompletionStage<T> ask(String question, Supplier<CompletionStage<T>> send) {
    CompletionStage<T> answer = send.get();
    questions.incrementAndGet();
    if (random.nextInt(3) > 0) {
      return answer;
    }
    dropped.incrementAndGet();
    return new CompletableFuture<>();
  }
}
