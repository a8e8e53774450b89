package io.github.snowlease.acceptance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.Snowflake;
import io.github.snowlease.SnowflakeException;
import io.github.snowlease.testing.RedisExtension;
import io.github.snowlease.testing.RedisServer;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** {@code createNamespace()} on a Redis that is slow to come. */
@ExtendWith(RedisExtension.class)
class NamespaceCreationTest {
  private final RedisServer redis;
  private final String namespace = "test-" + UUID.randomUUID();

  NamespaceCreationTest(RedisServer redis) {
    this.redis = redis;
  }

  private void create() {
    Snowflake.builder().store(redis.uri()).namespace(namespace).createNamespace();
  }

  @Test
  void waits_a_moment_for_a_connection_and_creates_once() throws Exception {
    // The client's classes are loaded, so that the next one asks at once.
    Snowflake.builder().store(redis.uri()).namespace(namespace + "-first").createNamespace();
    redis.kill();
    CompletableFuture<Void> created = CompletableFuture.runAsync(this::create);
    TimeUnit.MILLISECONDS.sleep(300); // so that it meets a refused connection first
    redis.restart();
    created.get(20, TimeUnit.SECONDS);
    assertThat(redis.command("HGET", "{" + namespace + "}:ledger", "layout")).isNotEmpty();
    assertThatThrownBy(this::create)
        .isInstanceOf(SnowflakeException.class)
        .hasMessageContaining("is created once");
  }

  @Test
  void does_not_wait_for_ever() {
    redis.kill();
    long begin = System.nanoTime();
    assertThatThrownBy(this::create)
        .isInstanceOfSatisfying(
            LeaseStoreException.class,
            e -> assertThat(e.reason()).isEqualTo(LeaseStoreException.Reason.UNREACHABLE));
    assertThat(System.nanoTime() - begin).isLessThan(TimeUnit.SECONDS.toNanos(10));
  }
}
