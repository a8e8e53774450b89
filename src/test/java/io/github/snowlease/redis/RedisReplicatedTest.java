package io.github.snowlease.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseStore.Full;
import io.github.snowlease.LeaseStore.Granted;
import io.github.snowlease.LeaseStore.Renewed;
import io.github.snowlease.LeaseStoreContract;
import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.LeaseStoreException.Reason;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.testing.RedisServer;
import io.github.snowlease.testing.RespClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The laws, on a master whose grants count once its replica holds them. */
class RedisReplicatedTest extends LeaseStoreContract {
  private static RedisServer master;
  private static RedisServer replica;
  private static LeaseStore store;
  private static RespClient redis;

  @BeforeAll
  static void start() throws IOException {
    master = RedisServer.launch();
    replica = RedisServer.launch("replicaof 127.0.0.1 " + master.port());
    await().until(() -> replica.command("INFO", "replication").contains("link_status:up"));
    store = RedisLeaseStore.builder().uri(master.uri()).build();
    redis = master.connect();
  }

  @AfterAll
  static void stop() throws IOException {
    store.close();
    redis.close();
    replica.close();
    master.close();
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

  @Test
  void A_grant_is_on_the_replica_when_it_is_told() {
    assertThat(master.command("ROLE")).startsWith("master").contains("" + replica.port());
    LeaseTerms terms = Leasing.terms(1, 2_000);
    Leasing leasing = new Leasing(store, terms);

    Granted grant = (Granted) leasing.claim();

    String ledger = terms.keyPrefix() + ":ledger";
    assertThat(replica.command("HGET", ledger, "3:7")).startsWith(grant.until() + "|");
    Renewed renewed = (Renewed) leasing.renew();
    assertThat(replica.command("HGET", ledger, "3:7")).startsWith(renewed.until() + "|");
    assertThat(master.command("INFO", "commandstats")).contains("cmdstat_wait:");
  }

  @Test
  void A_grant_that_the_replica_does_not_hold_is_no_grant_and_a_refusal_needs_none() {
    LeaseTerms terms = Leasing.terms(1, 1_000);
    Leasing holder = new Leasing(store, terms);
    assertThat(holder.claim()).isInstanceOf(Granted.class);
    replica.pause();
    try {
      // On a busy machine even the short count may come too late.
      await()
          .until(
              () -> catchThrowableOfType(LeaseStoreException.class, holder::renew),
              failure -> failure.reason() == Reason.TOO_FEW_REPLICAS);
      assertThat(new Leasing(store, terms).claim()).isInstanceOf(Full.class);
    } finally {
      replica.resume();
    }
    await().ignoreExceptions().until(() -> holder.renew() instanceof Renewed);
  }

  @Test
  void Replicas_are_not_counted_on_a_connection_that_was_made_anew() throws Exception {
    // The application's client connects anew by itself, and sends again what had no answer.
    LeaseTerms terms = Leasing.terms(1, 2_000);
    RedisClient client = RedisClient.create(master.uri());
    try (StatefulRedisConnection<String, String> connection = client.connect();
        LeaseStore shared = RedisLeaseStore.using(connection)) {
      Leasing leasing = new Leasing(shared, terms);
      assertThat(leasing.claim()).isInstanceOf(Granted.class);
      replica.pause();
      Thread cut =
          new Thread(
              () -> {
                await()
                    .until(() -> master.command("INFO", "clients").contains("blocked_clients:1"));
                // WAIT waits: the new connection has written nothing, so any replica will do.
                master.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
                replica.resume();
              });
      cut.start();

      LeaseStoreException failure = catchThrowableOfType(LeaseStoreException.class, leasing::renew);

      cut.join();
      assertThat(failure).isNotNull();
      assertThat(failure.reason()).isIn(Reason.NO_REPLY, Reason.TOO_FEW_REPLICAS);
    } finally {
      replica.resume();
      client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
      redis.close();
      redis = master.connect();
    }
  }
}
