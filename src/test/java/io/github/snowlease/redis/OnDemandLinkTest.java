package io.github.snowlease.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisConnectionException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.DisplayNameGenerator;
import org.junit.jupiter.api.Test;

/** What a link does with a refusal that tells nothing; all else is tried with a real Redis. */
@DisplayNameGeneration(DisplayNameGenerator.ReplaceUnderscores.class)
class OnDemandLinkTest {
  private final Exception hidden =
      new RedisConnectionException(
          "no", new IllegalStateException("RedisHandshakeHandler not registered"));

  private final Exception told = new RedisConnectionException("NOAUTH");

  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();

  @AfterEach
  void endTimer() {
    timer.shutdownNow();
  }

  @Test
  void A_refusal_that_hides_its_cause_is_asked_for_again() {
    Refusals refusals = new Refusals(hidden, told, told);

    assertThat(failureOf(refusals)).hasStackTraceContaining("NOAUTH");
    assertThat(refusals.left).as("a refusal that tells its cause is not").hasSize(1);
  }

  @Test
  void It_is_asked_for_three_times_at_most() {
    Refusals refusals = new Refusals(hidden, hidden, hidden, told);

    assertThat(failureOf(refusals)).hasStackTraceContaining("not registered");
    assertThat(refusals.left).hasSize(1);
  }

  private static Throwable failureOf(Refusals refusals) {
    return new OnDemandLink(refusals, Duration.ofSeconds(10))
        .connect("ledger", false)
        .handle((peer, failure) -> failure)
        .toCompletableFuture()
        .join();
  }

  private final class Refusals implements OnDemandLink.Source {
    final Queue<Exception> left;

    Refusals(Exception... refusals) {
      left = new ArrayDeque<>(List.of(refusals));
    }

    @Override
    public CompletionStage<Peer> open() {
      return CompletableFuture.failedStage(left.remove());
    }

    @Override
    public ScheduledExecutorService timer() {
      return timer;
    }

    @Override
    public String where() {
      return "nowhere";
    }

    @Override
    public void close(@Nullable Peer last) {}
  }
}
