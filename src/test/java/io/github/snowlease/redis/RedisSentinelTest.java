package io.github.snowlease.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseStore.Granted;
import io.github.snowlease.LeaseStoreContract;
import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.LeaseStoreException.Reason;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.testing.RedisSentinels;
import io.github.snowlease.testing.RedisServer;
import io.github.snowlease.testing.RespClient;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The laws, on the master that three Sentinels name, each grant and extension on a replica too. */
class RedisSentinelTest extends LeaseStoreContract {
  private static RedisSentinels sentinels;
  private static LeaseStore store;
  private static RespClient redis;

  @BeforeAll
  static void start() throws IOException {
    sentinels = RedisSentinels.launch();
    store = RedisLeaseStore.builder().uri(sentinels.uri()).build();
    redis = sentinels.master().connect();
    // A cold client asks a Sentinel before it connects.
    await().ignoreExceptions().until(() -> claim(store) instanceof Granted);
  }

  @AfterAll
  static void stop() throws IOException {
    store.close();
    redis.close();
    sentinels.close();
  }

  @Override
  protected LeaseStore store() {
    return store;
  }

  @Override
  protected BackDoor backDoor(LeaseTerms terms) {
    return new RedisBackDoor(redis, terms);
  }

  @Override
  protected int minReplicas() {
    return 1;
  }

  private static LeaseStore.ClaimReply claim(LeaseStore store) {
    return new Leasing(store, Leasing.terms()).claim();
  }

  @Test
  void The_master_is_found_through_the_Sentinels_alone() {
    assertThat(sentinels.uri()).doesNotContain(":" + sentinels.master().port());
    assertThat(new Leasing(store, Leasing.terms(1, 2_000)).claim()).isInstanceOf(Granted.class);
    assertThat(sentinels.master().command("CLIENT", "LIST")).contains("cmd=wait");
    assertThat(store).hasToString("RedisLeaseStore[Redis at " + sentinels.uri() + "]");
  }

  @Test
  void A_Sentinel_that_hangs_is_passed_over() {
    RedisServer first = sentinels.sentinels().get(0);
    first.pause();
    try (LeaseStore other =
        RedisLeaseStore.builder()
            .uri(sentinels.uri())
            .commandTimeout(Duration.ofMillis(500))
            .build()) {
      await().ignoreExceptions().until(() -> claim(other) instanceof Granted);
    } finally {
      first.resume();
    }
  }

  @Test
  void A_master_that_no_Sentinel_knows_is_named() {
    String uri = sentinels.uri().replace("#leases", "#ships");
    try (LeaseStore other = RedisLeaseStore.builder().uri(uri).build()) {
      LeaseStoreException failure =
          catchThrowableOfType(LeaseStoreException.class, () -> claim(other));

      assertThat(failure.reason()).isEqualTo(Reason.UNREACHABLE);
      assertThat(failure).hasMessageContaining("ships");
    }
  }
}
