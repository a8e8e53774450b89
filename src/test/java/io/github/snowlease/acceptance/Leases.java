package io.github.snowlease.acceptance;

import static org.awaitility.Awaitility.await;

import io.github.snowlease.BitLayout;
import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.Snowflake;
import io.github.snowlease.SnowflakeBuilder;
import io.github.snowlease.redis.RedisLeaseStore;
import io.github.snowlease.testing.RedisServer;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/** A namespace of its own on a Redis, with the settings that all who lease in it share. */
final class Leases {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final String uri;
  private final String namespace = "test-" + UUID.randomUUID();
  private final int ttlSeconds;
  private final int minReplicas;

  private Leases(String uri, int ttlSeconds, int minReplicas) {
    this.uri = uri;
    this.ttlSeconds = ttlSeconds;
    this.minReplicas = minReplicas;
  }

  /** Creates the namespace, so that nobody has to wait for the quarantine of an empty Redis. */
  static Leases create(RedisServer redis, int ttlSeconds) {
    return create(redis.uri(), ttlSeconds, 0);
  }

  static Leases create(String uri, int ttlSeconds, int minReplicas) {
    Leases leases = new Leases(uri, ttlSeconds, minReplicas);
    // Tried again: on a busy machine the first connection may take longer than a command may.
    await()
        .atMost(LIMIT)
        .pollDelay(Duration.ZERO)
        .ignoreExceptions()
        .until(
            () -> {
              try (LeaseStore store = leases.openStore()) {
                Leases.answer(store.createNamespace(leases.terms()));
                return true;
              }
            });
    return leases;
  }

  String namespace() {
    return namespace;
  }

  String uri() {
    return uri;
  }

  int minReplicas() {
    return minReplicas;
  }

  String keyPrefix() {
    return terms().keyPrefix();
  }

  LeaseTerms terms() {
    return new LeaseTerms(
        namespace,
        BitLayout.standard().toString(),
        ttlSeconds * 1_000L,
        5_000,
        minReplicas,
        2_000,
        false);
  }

  /** The settings, with a client of its own for each start. */
  SnowflakeBuilder builder() {
    return builderWithoutStore().store(uri);
  }

  SnowflakeBuilder builder(LeaseStore store) {
    return builderWithoutStore().store(store);
  }

  private SnowflakeBuilder builderWithoutStore() {
    return Snowflake.builder()
        .namespace(namespace)
        .leaseTtl(Duration.ofSeconds(ttlSeconds))
        .minReplicas(minReplicas);
  }

  RedisLeaseStore openStore() {
    return RedisLeaseStore.builder().uri(uri).commandTimeout(Duration.ofSeconds(2)).build();
  }

  /** How many slots the ledger calls held. */
  long held(LeaseStore store) {
    return answer(store.readLedger(terms())).values().stream()
        .filter(LeaseStore.LedgerEntry::held)
        .count();
  }

  static <T> T answer(CompletionStage<T> question) {
    try {
      return question.toCompletableFuture().get(10, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new AssertionError("the store must answer", e);
    }
  }

  /** Waits, at most a minute, and looks often. */
  static void awaitTrue(String what, Callable<Boolean> condition) {
    awaitTrue(what, LIMIT, condition);
  }

  static void awaitTrue(String what, Duration limit, Callable<Boolean> condition) {
    await(what)
        .atMost(limit)
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(5))
        .until(condition);
  }
}
