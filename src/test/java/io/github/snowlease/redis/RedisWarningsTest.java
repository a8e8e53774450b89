package io.github.snowlease.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.Snowflake;
import io.github.snowlease.testing.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.DisplayNameGenerator;
import org.junit.jupiter.api.Test;

/** Settings of Redis that weaken leases, and what is said about them at start. */
@DisplayNameGeneration(DisplayNameGenerator.ReplaceUnderscores.class)
class RedisWarningsTest {
  private final LeaseTerms terms = Leasing.terms();

  @Test
  void A_Redis_that_is_set_up_well_gives_none() {
    try (RedisServer redis = RedisServer.launch("maxmemory 100mb", "maxmemory-policy noeviction")) {
      assertThat(warnings(redis.uri())).isEmpty();
    }
  }

  @Test
  void Replicas_that_nothing_waits_for() {
    try (RedisServer redis = RedisServer.launch();
        RedisServer replica = RedisServer.launch("replicaof 127.0.0.1 " + redis.port())) {
      await().until(() -> replica.command("INFO", "replication").contains("link_status:up"));

      assertThat(warnings(redis.uri()))
          .singleElement()
          .asString()
          .contains("1 replicas", "set minReplicas to 1");
    }
  }

  @Test
  void Eviction_of_leases() {
    try (RedisServer redis =
        RedisServer.launch("maxmemory 100mb", "maxmemory-policy volatile-lru")) {
      assertThat(warnings(redis.uri()))
          .singleElement()
          .asString()
          .contains("maxmemory-policy=volatile-lru", "set it to noeviction");
    }
  }

  @Test
  void A_policy_of_eviction_without_a_limit_gives_none() {
    try (RedisServer redis = RedisServer.launch("maxmemory-policy allkeys-lru")) {
      assertThat(warnings(redis.uri())).isEmpty();
    }
  }

  @Test
  void Nothing_on_disk() {
    try (RedisServer redis = RedisServer.launch("appendonly no")) {
      assertThat(warnings(redis.uri()))
          .singleElement()
          .asString()
          .contains("nothing on disk", "40s", "set appendonly yes");
    }
  }

  @Test
  void Snapshots_alone_give_none() {
    try (RedisServer redis = RedisServer.launch("appendonly no", "save 3600 1")) {
      assertThat(warnings(redis.uri())).isEmpty();
    }
  }

  @Test
  void What_may_not_be_asked_is_not_said() {
    try (RedisServer redis = RedisServer.launch("appendonly no")) {
      redis.command("ACL", "SETUSER", "app", "on", ">secret", "~*", "+@all", "-info", "-config");
      assertThat(warnings(redis.uri().replace("//", "//app:secret@"))).isEmpty();
    }
  }

  /** The first look at a server, the claim with what its script runs, and the warnings. */
  @Test
  void A_start_asks_for_no_more_than_it_needs() {
    try (RedisServer redis = RedisServer.launch()) {
      redis.command("CONFIG", "RESETSTAT");
      try (Snowflake ids = Snowflake.builder().store(redis.uri()).trustEmptyRedis(true).start()) {
        assertThat(ids.nextId()).isPositive();
        List<String> looks = new ArrayList<>();
        await()
            .until(
                () -> {
                  looks.add(redis.command("INFO", "commandstats"));
                  return calls(looks, "config\\|get") > 0; // the last of all
                });
        assertThat(calls(looks, "config\\|get")).isEqualTo(1);
        assertThat(calls(looks, "evalsha")).isEqualTo(1);
        assertThat(calls(looks, "time")).isEqualTo(1);
        // Before the first question, in the script, for the warnings; and the looks before the
        // last.
        assertThat(calls(looks, "info")).isEqualTo(3 + looks.size() - 1);
      }
    }
  }

  private static int calls(List<String> looks, String command) {
    Matcher line =
        Pattern.compile("(?m)^cmdstat_" + command + ":calls=(\\d+)")
            .matcher(looks.get(looks.size() - 1));
    return line.find() ? Integer.parseInt(line.group(1)) : 0;
  }

  private List<String> warnings(String uri) {
    try (LeaseStore store = RedisLeaseStore.builder().uri(uri).build()) {
      List<String> lines = Leasing.get(store.warnings(terms));
      assertThat(lines).noneMatch(line -> line.contains("\n"));
      return lines;
    }
  }
}
