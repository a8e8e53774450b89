package io.github.snowlease.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseStore.Granted;
import io.github.snowlease.LeaseStore.Renewed;
import io.github.snowlease.LeaseStoreContract;
import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.LeaseStoreException.Reason;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.testing.RedisCluster;
import io.github.snowlease.testing.RedisServer;
import io.github.snowlease.testing.RespClient;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The laws, on a cluster that the store found out about by itself, with a replica each. */
class RedisClusterTest extends LeaseStoreContract {
  private static RedisCluster cluster;
  private static LeaseStore store;
  private static final List<RespClient> CLIENTS = new ArrayList<>();

  @BeforeAll
  static void start() {
    cluster = RedisCluster.launchWithReplicas();
    store = RedisLeaseStore.builder().uri(cluster.seed().uri()).build();
    // A cold client learns of three nodes.
    await()
        .ignoreExceptions()
        .until(() -> new Leasing(store, Leasing.terms()).claim() instanceof Granted);
  }

  @AfterAll
  static void stop() throws IOException {
    store.close();
    for (RespClient client : CLIENTS) {
      client.close();
    }
    cluster.close();
  }

  @Override
  protected LeaseStore store() {
    return store;
  }

  @Override
  protected BackDoor backDoor(LeaseTerms terms) {
    try {
      RespClient client = cluster.nodeOf(terms.keyPrefix() + ":ledger").connect();
      CLIENTS.add(client);
      return new RedisBackDoor(client, terms);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  protected int minReplicas() {
    return 1;
  }

  @Test
  void A_grant_is_on_the_replica_of_its_node_when_it_is_told_and_none_without_it() {
    LeaseTerms terms = Leasing.terms(1, 1_000);
    String ledger = terms.keyPrefix() + ":ledger";
    RedisServer replica = cluster.replicaOf(cluster.nodeOf(ledger));
    Leasing leasing = new Leasing(store, terms);

    Granted grant = (Granted) leasing.claim();

    try (RespClient reader = replica.connect()) {
      reader.call("READONLY");
      assertThat((String) reader.call("HGET", ledger, "3:7")).startsWith(grant.until() + "|");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    replica.pause();
    try {
      // On a busy machine even the short count may come too late.
      await()
          .until(
              () -> catchThrowableOfType(LeaseStoreException.class, leasing::renew),
              failure -> failure.reason() == Reason.TOO_FEW_REPLICAS);
    } finally {
      replica.resume();
    }
    await().ignoreExceptions().until(() -> leasing.renew() instanceof Renewed);
  }

  @Test
  void Namespaces_are_spread_over_the_nodes_and_each_is_on_one() {
    Set<RedisServer> used = new HashSet<>();
    for (int i = 0; i < 20; i++) {
      LeaseTerms terms = Leasing.terms();
      assertThat(new Leasing(store, terms).claim()).isInstanceOf(Granted.class);
      RedisServer node = cluster.nodeOf(terms.keyPrefix() + ":ledger");
      assertThat(node.command("EXISTS", terms.keyPrefix() + ":nodes:3:7")).isEqualTo("1");
      used.add(node);
    }
    assertThat(used).hasSize(3);
  }

  @Test
  void A_holder_goes_on_while_its_slot_moves_to_another_node() {
    LeaseTerms terms = Leasing.terms();
    String ledger = terms.keyPrefix() + ":ledger";
    Leasing leasing = new Leasing(store, terms);
    assertThat(leasing.claim()).isInstanceOf(Granted.class);
    RedisServer from = cluster.nodeOf(ledger);
    RedisServer to = cluster.anotherThan(from);
    String slot = Integer.toString(SlotHash.getSlot(ledger));

    to.command("CLUSTER", "SETSLOT", slot, "IMPORTING", cluster.id(from));
    from.command("CLUSTER", "SETSLOT", slot, "MIGRATING", cluster.id(to));
    assertThat(leasing.renew()).isInstanceOf(Renewed.class);

    // Half of the keys have moved: Redis can serve neither here nor there.
    migrate(from, to, ledger);
    LeaseStoreException halfway = catchThrowableOfType(LeaseStoreException.class, leasing::renew);
    assertThat(halfway).hasMessageContaining("TRYAGAIN");
    assertThat(halfway.needsOperator()).isFalse();

    migrate(from, to, terms.keyPrefix() + ":nodes:3:7");
    assertThat(leasing.renew()).isInstanceOf(Renewed.class);
    to.command("CLUSTER", "SETSLOT", slot, "NODE", cluster.id(to));
    from.command("CLUSTER", "SETSLOT", slot, "NODE", cluster.id(to));
    assertThat(leasing.renew()).isInstanceOf(Renewed.class);
    assertThat(to.command("HGET", ledger, "srv"))
        .isEqualTo(
            to.command("INFO", "server")
                .lines()
                .filter(line -> line.startsWith("run_id:"))
                .findFirst()
                .orElseThrow()
                .substring(7));
  }

  @Test
  void A_client_of_the_applications_serves_too_and_is_left_open() {
    RedisClusterClient client = RedisClusterClient.create(cluster.seed().uri());
    try {
      LeaseStore borrowed = RedisLeaseStore.using(client, Duration.ofSeconds(1));
      assertThat(new Leasing(borrowed, Leasing.terms()).claim()).isInstanceOf(Granted.class);

      borrowed.close();

      assertThat(client.connect().sync().ping()).isEqualTo("PONG");
    } finally {
      client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
    }
  }

  private static void migrate(RedisServer from, RedisServer to, String key) {
    from.command("MIGRATE", "127.0.0.1", Integer.toString(to.port()), key, "0", "2000");
  }
}
