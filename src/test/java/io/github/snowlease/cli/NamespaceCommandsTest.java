package io.github.snowlease.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.snowlease.BitLayout;
import io.github.snowlease.Snowflake;
import io.github.snowlease.SnowflakeBuilder;
import io.github.snowlease.testing.JavaProcess;
import io.github.snowlease.testing.RedisExtension;
import io.github.snowlease.testing.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.DisplayNameGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands that look at a namespace and change it, on a real Redis. */
@ExtendWith(RedisExtension.class)
@DisplayNameGeneration(DisplayNameGenerator.ReplaceUnderscores.class)
class NamespaceCommandsTest {
  private final String namespace = "cli-" + UUID.randomUUID();
  private RedisServer redis;

  @BeforeEach
  void take(RedisServer server) {
    redis = server;
  }

  @Test
  void init_creates_a_namespace_once() {
    CommandRun first = run("init");
    assertThat(first.code()).isZero();
    assertThat(first.out()).contains(namespace).contains(BitLayout.standard().toString());

    String before = redis.command("HGETALL", ledger());
    CommandRun second = run("init");
    assertThat(second.code()).isZero();
    assertThat(second.out()).contains("exists already");

    CommandRun other = run("init", "--layout", "twitter");
    assertThat(other.code()).isEqualTo(1);
    assertThat(other.err()).contains("exists with the layout", "SNOWFLAKE_LAYOUT");
    assertThat(redis.command("HGETALL", ledger())).isEqualTo(before);
  }

  @Test
  void init_says_that_a_start_came_first() {
    redis.command("HSET", ledger(), "birth", time(), "quarantine", "40000");

    CommandRun run = run("init");

    assertThat(run.code()).isEqualTo(1);
    assertThat(run.err()).containsPattern("no lease for another \\d+s").contains("wait");
  }

  @Test
  void nodes_says_that_nobody_was_here_yet_and_changes_nothing() {
    CommandRun run = run("nodes");

    assertThat(run.code()).isZero();
    assertThat(run.out()).contains("Nobody has leased a slot here yet").contains("1024 . free");
    assertThat(run.line("      0")).isEqualTo("      0     0 ........ ........ ........ ........");
    assertThat(run.out()).contains("and 31 clusters of 32 free slots each");
    assertThat(redis.command("EXISTS", "{" + namespace + "}:ledger")).isEqualTo("0");
  }

  @Test
  void nodes_draws_three_processes_and_lists_them() {
    run("init");
    try (Snowflake a = at(3, 7);
        Snowflake b = at(3, 8);
        Snowflake c = at(31, 0)) {
      assertThat(List.of(a.nextId(), b.nextId(), c.nextId())).doesNotHaveDuplicates();
      redis.command("SET", "{" + namespace + "}:nodes:3:9", "closed for repairs");
      long justNow = Long.parseLong(time()) - 1_000;
      redis.command("HSET", "{" + namespace + "}:ledger", "3:10", justNow + "|abcd|00");
      redis.command("HSET", "{" + namespace + "}:ledger", "3:12", "1234|abcd|00");
      redis.command("HSET", "{" + namespace + "}:ledger", "3:11", "9999999999999||");

      CommandRun run = run("nodes");

      assertThat(run.line("      3"))
          .isEqualTo("      3     0 .......M Mx!~.... ........ ........");
      assertThat(run.line("     31"))
          .isEqualTo("     31     0 M....... ........ ........ ........");
      assertThat(run.out())
          .contains("and 30 clusters of 32 free slots each")
          .contains("1018 . free")
          .contains("3 M held on this host");
      assertThat(run.line("3:7 "))
          .containsPattern(
              "mine +\\S+ +" + ProcessHandle.current().pid() + " +\\S+ +\\S+Z +in \\d+s +\\d+s");
      assertThat(run.line("3:9 ")).contains("blocked");
      assertThat(run.line("3:10 ")).contains("stale");
    }
  }

  @Test
  void nodes_prints_JSON_for_programs() {
    run("init");
    try (Snowflake ids = at(3, 7)) {
      assertThat(ids.status().isReady()).isTrue();
      CommandRun run = run("nodes", "--json");

      assertThat(run.out())
          .hasLineCount(1)
          .startsWith("{\"namespace\":\"" + namespace + "\"")
          .contains("\"slots\":{\"free\":1023,\"mine\":1}")
          .contains("\"slot\":\"3:7\",\"cluster\":3,\"node\":7,\"state\":\"mine\"")
          .contains("\"pid\":" + ProcessHandle.current().pid() + ",")
          .doesNotContain("token");
    }
  }

  @Test
  void nodes_watches_and_uses_colours_on_a_terminal_alone() {
    run("init");
    assertThat(run("nodes", "--watch=0.1", "--times", "3").out().split("Slots of", -1)).hasSize(4);
    assertThat(run("nodes").out()).doesNotContain("\u001b");
    assertThat(CommandRun.inColour(withStore("nodes")).out()).contains("\u001b[");
  }

  @Test
  void nodes_that_watches_outlives_an_outage() {
    CommandRun run =
        CommandRun.of("nodes", "--watch=0.1", "--times", "2", "--store", "redis://127.0.0.1:1");

    assertThat(run.code()).isZero();
    assertThat(run.err().split("check that it runs", -1)).hasSize(3);
  }

  @Test
  void nodes_and_next_end_when_nobody_reads_them_any_more(@TempDir Path folder) {
    String[] store = {"--store", "file:" + folder};
    assertThat(CommandRun.unread("nodes", "--watch=0.1", store[0], store[1])).isZero();
    assertThat(CommandRun.unread("next", "--every=0.1", store[0], store[1])).isZero();
  }

  @Test
  void nodes_shows_a_quarantine() {
    redis.command("HSET", "{" + namespace + "}:ledger", "birth", time(), "quarantine", "40000");

    CommandRun run = run("nodes");

    assertThat(run.out()).containsPattern("In quarantine for \\d+s more").contains("1024 ~");
  }

  @Test
  void evict_refuses_while_the_holder_renews_and_obeys_force() {
    run("init");
    try (Snowflake ids = at(3, 7)) {
      assertThat(ids.nextId()).isPositive();
      CommandRun refused = run("evict", "3:7");
      assertThat(refused.code()).isEqualTo(1);
      assertThat(refused.err()).contains("lives").contains("--force");

      String before = field("3:7");
      CommandRun forced = run("evict", "3:7", "--force");

      assertThat(forced.code()).isZero();
      assertThat(forced.out()).contains("Took back 3:7; it can be leased from ");
      // The fence stands where it stood, or a beat later.
      assertThat(field("3:7")).endsWith("||");
      assertThat(until(field("3:7"))).isGreaterThanOrEqualTo(until(before));
    }
  }

  @Test
  void evict_takes_back_the_slot_of_a_dead_holder_and_keeps_its_fence() {
    run("init");
    long past = Long.parseLong(time()) - 100;
    redis.command("HSET", "{" + namespace + "}:ledger", "3:7", past + "|abcd|00");
    redis.command("SET", "{" + namespace + "}:nodes:3:7", "{\"token\":\"abcd\",\"host\":\"a\"}");

    CommandRun run = run("evict", "3:7");

    assertThat(run.code()).isZero();
    assertThat(field("3:7")).isEqualTo(past + "||");
    assertThat(redis.command("EXISTS", "{" + namespace + "}:nodes:3:7")).isEqualTo("0");
  }

  @Test
  void evict_says_that_there_is_nothing_to_take_back() {
    run("init");

    CommandRun run = run("evict", "3:7");

    assertThat(run.code()).isEqualTo(1);
    assertThat(run.err()).contains("Nobody holds the slot 3:7");
  }

  @Test
  void folders_have_maps_too(@TempDir Path folder) {
    String[] store = {"--store", "file:" + folder, "--namespace", "orders"};
    try (Snowflake ids =
        Snowflake.builder().store(store[1]).namespace("orders").clusterId(1).nodeId(2).start()) {
      assertThat(ids.nextId()).isPositive();
      CommandRun run = CommandRun.of("nodes", store[0], store[1], store[2], store[3]);

      assertThat(run.line("      1")).startsWith("      1     0 ..M.....");
      assertThat(CommandRun.of("doctor", store[0], store[1], store[2], store[3]).out())
          .contains("a free slot was leased, renewed and handed back");
    }
  }

  @Test
  void a_folder_is_not_made_only_to_look_at_it(@TempDir Path folder) {
    String store = "file:" + folder.resolve("not/yet");
    assertThat(CommandRun.of("nodes", "--store", store).out())
        .contains("Nobody has leased a slot here yet");
    CommandRun doctor = CommandRun.of("doctor", "--store", store);
    assertThat(doctor.code()).isZero();
    assertThat(doctor.line("OK   namespace")).contains("the first start makes it");
    assertThat(CommandRun.of("evict", "3:7", "--store", store).err()).contains("Nobody holds");
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void evict_takes_back_the_slot_of_a_process_that_was_killed_with_its_fence_in_a_folder(
      @TempDir Path folder) {
    String store = "file:" + folder;
    CommandRun.of("init", "--store", store);
    try (JavaProcess holder =
        JavaProcess.of(SnowleaseCommand.class)
            .arguments("next", "--every", "0.1", "--store", store)
            .environment("SNOWFLAKE_CLUSTER_ID", "3")
            .environment("SNOWFLAKE_NODE_ID", "7")
            .start()) {
      String last = holder.readLine(Duration.ofSeconds(60));
      CommandRun alive = CommandRun.of("evict", "3:7", "--store", store);
      assertThat(alive.code()).isEqualTo(1);
      assertThat(alive.err()).contains("lives", "--force");
      holder.kill();

      assertThat(CommandRun.of("nodes", "--store", store).out()).contains("1 ! stale");
      CommandRun evicted = CommandRun.of("evict", "3:7", "--store", store);
      assertThat(evicted.code()).as(evicted.err()).isZero();
      assertThat(evicted.err()).as("the lock tells that it is dead").isEmpty();
      Matcher from = Pattern.compile("leased from (\\S+Z) on").matcher(evicted.out());
      assertThat(from.find()).isTrue();
      Instant mintedAt = BitLayout.standard().parse(Long.parseLong(last)).timestamp();
      assertThat(Instant.parse(from.group(1))).isAfter(mintedAt);
      assertThat(CommandRun.of("nodes", "--store", store).out()).contains("1 ~ quarantined");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"nodes", "doctor", "init", "evict 3:7"})
  void where_no_leases_are_kept_there_is_nothing_to_see(String line) {
    CommandRun run = CommandRun.of((line + " --store none").split(" ", -1));

    assertThat(run.code()).isEqualTo(2);
    assertThat(run.err()).startsWith("store=none keeps no leases");
  }

  private Snowflake at(int cluster, int node) {
    return builder().clusterId(cluster).nodeId(node).start();
  }

  private SnowflakeBuilder builder() {
    return Snowflake.builder().store(redis.uri()).namespace(namespace);
  }

  private CommandRun run(String... arguments) {
    return CommandRun.of(withStore(arguments));
  }

  private String[] withStore(String... arguments) {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.addAll(List.of("--store", redis.uri(), "--namespace", namespace));
    return all.toArray(new String[0]);
  }

  private String ledger() {
    return "{" + namespace + "}:ledger";
  }

  private String time() {
    return redis.command("TIME").lines().findFirst().orElseThrow() + "000";
  }

  private String field(String slot) {
    return redis.command("HGET", "{" + namespace + "}:ledger", slot);
  }

  private static long until(String field) {
    return Long.parseLong(field.substring(0, field.indexOf('|')));
  }
}
