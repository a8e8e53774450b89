package io.github.snowlease.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.snowlease.testing.FakeTime;
import io.github.snowlease.testing.JavaProcess;
import io.github.snowlease.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.DisplayNameGenerator;
import org.junit.jupiter.api.Test;

/** Each misconfiguration, provoked on a real Redis, and what the doctor says of it. */
@DisplayNameGeneration(DisplayNameGenerator.ReplaceUnderscores.class)
class DoctorTest {
  private static RedisServer redis;

  private final String namespace = "doctor-" + UUID.randomUUID();

  @BeforeAll
  static void launch() {
    redis = RedisServer.launch("appendonly yes");
  }

  @AfterAll
  static void end() {
    redis.close();
  }

  @BeforeEach
  void create() {
    assertThat(run("init").code()).isZero();
  }

  @AfterEach
  void mend() {
    redis.command("CONFIG", "SET", "maxmemory", "0");
    redis.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
    redis.command("CONFIG", "SET", "min-replicas-to-write", "0");
    redis.command("REPLICAOF", "NO", "ONE");
  }

  @Test
  void a_healthy_Redis_gets_a_clean_bill() {
    CommandRun run = run("doctor");

    assertThat(run.out()).doesNotContain("FAIL").doesNotContain("WARN");
    assertThat(run.code()).isZero();
    for (String about :
        List.of(
            "connection",
            "version",
            "identity",
            "role",
            "eviction",
            "persistence",
            "replicas",
            "clock",
            "round trip",
            "layout",
            "slots",
            "quarantine",
            "lease")) {
      assertThat(run.line("OK   " + about)).as(about).isNotEmpty();
    }
  }

  @Test
  void leaves_no_lease_behind() {
    run("doctor");

    assertThat(run("nodes", "--json").out()).contains("\"holders\":[]");
  }

  @Test
  void speaks_JSON() {
    assertThat(run("doctor", "--json").out())
        .startsWith("[{\"level\":\"ok\",\"about\":\"connection\"")
        .hasLineCount(1);
  }

  @Test
  void finds_a_namespace_that_does_not_exist_and_does_not_make_it() {
    String missing = "missing-" + namespace;
    CommandRun run = CommandRun.of("doctor", "--store", redis.uri(), "--namespace", missing);

    assertThat(run.line("OK   namespace")).contains("does not exist yet").contains("init");
    assertThat(redis.command("EXISTS", "{" + missing + "}:ledger")).isEqualTo("0");
  }

  @Test
  void finds_an_eviction_policy_that_may_drop_leases() {
    redis.command("CONFIG", "SET", "maxmemory", "100mb");
    redis.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");

    assertFound("WARN eviction", "set it to noeviction");
  }

  @Test
  void finds_that_memory_is_full() {
    redis.command("CONFIG", "SET", "maxmemory", "1");

    assertFound("FAIL lease", "out of memory", "raise maxmemory or free memory");
  }

  @Test
  void finds_a_replica() {
    redis.command("REPLICAOF", "127.0.0.1", "1");

    assertFound("FAIL role", "point the store at the master");
  }

  @Test
  void finds_that_replicas_are_demanded_and_missing() {
    redis.command("CONFIG", "SET", "min-replicas-to-write", "1");

    assertFound("FAIL lease", "min-replicas-to-write", "bring them back");
  }

  @Test
  void finds_each_right_that_is_missing() {
    redis.command(
        "ACL", "SETUSER", "app", "reset", "on", ">topsecret", "~*", "+@all", "-hset", "-config");
    CommandRun run = asUser("app:topsecret");

    assertThat(run.code()).isEqualTo(1);
    assertThat(run.line("FAIL rights")).contains("+hset").contains("ACL SETUSER");
    assertThat(run.out() + run.err()).doesNotContain("topsecret");
  }

  @Test
  void finds_that_the_identity_of_the_server_cannot_be_read() {
    redis.command("ACL", "SETUSER", "app", "reset", "on", ">topsecret", "~*", "+@all", "-info");

    assertThat(asUser("app:topsecret").line("WARN identity")).contains("+info");
  }

  @Test
  void finds_a_wrong_password_and_repeats_it_nowhere() {
    redis.command("ACL", "SETUSER", "app", "reset", "on", ">right", "~*", "+@all");
    CommandRun run = asUser("app:topsecret");

    assertThat(run.code()).isEqualTo(1);
    assertThat(run.line("FAIL connection")).isNotEmpty();
    assertThat(run.out() + run.err()).doesNotContain("topsecret").doesNotContain("\tat ");
  }

  @Test
  void finds_that_a_password_is_missing() {
    try (RedisServer locked = RedisServer.launch("requirepass topsecret")) {
      CommandRun run = CommandRun.of("doctor", "--store", locked.uri());

      assertThat(run.code()).isEqualTo(1);
      assertThat(run.line("FAIL connection")).contains("password");
      assertThat(run.out() + run.err()).doesNotContain("topsecret");
    }
  }

  @Test
  void finds_a_key_that_holds_something_else() {
    redis.command("DEL", "{" + namespace + "}:ledger");
    redis.command("SET", "{" + namespace + "}:ledger", "mine");

    assertFound("FAIL keys", "{" + namespace + "}:ledger", "choose another namespace");
  }

  @Test
  void finds_slots_that_are_blocked() {
    redis.command("HSET", "{" + namespace + "}:ledger", "3:7", "oops");
    redis.command("SET", "{" + namespace + "}:nodes:3:8", "closed for repairs");

    assertFound("WARN blocked", "3:7 3:8", "delete the lease keys that are not meant");
  }

  @Test
  void finds_another_layout() {
    CommandRun run =
        CommandRun.of(
            "doctor", "--store", redis.uri(), "--namespace", namespace, "--layout", "twitter");

    assertThat(run.code()).isEqualTo(1);
    assertThat(run.line("FAIL layout")).contains("1704067200000").contains("SNOWFLAKE_LAYOUT");
  }

  @Test
  void finds_a_quarantine() {
    long now = System.currentTimeMillis();
    redis.command("HSET", "{" + namespace + "}:ledger", "birth", Long.toString(now));

    assertFound("WARN quarantine", "no new lease for another", "so wait");
  }

  @Test
  void finds_that_nobody_listens() {
    CommandRun run = CommandRun.of("doctor", "--store", "redis://127.0.0.1:1");

    assertThat(run.code()).isEqualTo(1);
    assertThat(run.line("FAIL connection")).contains("check that it runs");
  }

  @Test
  void finds_that_nothing_is_kept_on_disk() {
    redis.command("CONFIG", "SET", "appendonly", "no");
    try {
      assertFound("WARN persistence", "set appendonly yes");
    } finally {
      redis.command("CONFIG", "SET", "appendonly", "yes");
    }
  }

  /** Redis's clock cannot be set, so it is this host's that is wrong: in a process of its own. */
  @Test
  void finds_that_the_clock_of_this_host_is_wrong() {
    try (JavaProcess doctor =
        JavaProcess.of(SnowleaseCommand.class)
            .arguments("doctor", "--store", redis.uri(), "--namespace", namespace)
            .environment(FakeTime.off("-60s"))
            .start()) {
      String line = doctor.awaitLine("FAIL clock", Duration.ofSeconds(60));
      assertThat(line).contains("behind the store's", "set both by NTP");
      assertThat(doctor.awaitExit(Duration.ofSeconds(30))).isEqualTo(1);
    }
  }

  private void assertFound(String line, String... texts) {
    CommandRun run = run("doctor");
    assertThat(run.code()).isEqualTo(1);
    assertThat(run.line(line)).as(run.out()).contains(texts);
  }

  private CommandRun asUser(String userAndPassword) {
    return CommandRun.of(
        "doctor",
        "--store",
        redis.uri().replace("redis://", "redis://" + userAndPassword + "@"),
        "--namespace",
        namespace);
  }

  private CommandRun run(String... arguments) {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.addAll(List.of("--store", redis.uri(), "--namespace", namespace));
    return CommandRun.of(all.toArray(new String[0]));
  }
}
