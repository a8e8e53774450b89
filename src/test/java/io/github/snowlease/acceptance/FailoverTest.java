package io.github.snowlease.acceptance;

import static io.github.snowlease.acceptance.Figures.secondsSince;
import static io.github.snowlease.acceptance.Leases.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.snowlease.BitLayout;
import io.github.snowlease.demo.IdFile;
import io.github.snowlease.testing.JavaProcess;
import io.github.snowlease.testing.RedisCluster;
import io.github.snowlease.testing.RedisSentinels;
import io.github.snowlease.testing.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Six processes mint while another server takes the master's place. */
@Timeout(value = 3, unit = TimeUnit.MINUTES)
class FailoverTest {
  private static final int PROCESSES = 6;
  private static final int LEASE_SECONDS = 30;
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final BitLayout LAYOUT = BitLayout.standard();

  @TempDir Path directory;

  @ParameterizedTest(name = "minReplicas {0}")
  @ValueSource(ints = {0, 1})
  void Sentinel_replaces_a_master_that_was_killed(int minReplicas) throws IOException {
    try (RedisSentinels sentinels = RedisSentinels.launch()) {
      Leases leases = Leases.create(sentinels.uri(), LEASE_SECONDS, minReplicas);
      mintMeanwhile("Sentinel failover, minReplicas " + minReplicas, leases, sentinels::failOver);
    }
  }

  @Test
  void a_cluster_replaces_a_master_that_was_killed() throws IOException {
    try (RedisCluster cluster = RedisCluster.launchWithReplicas()) {
      Leases leases = Leases.create(cluster.seed().uri(), LEASE_SECONDS, 0);
      String ledger = leases.keyPrefix() + ":ledger";
      mintMeanwhile("Cluster failover", leases, () -> cluster.failOver(ledger));
    }
  }

  @Test
  void a_cluster_swaps_a_master_with_its_replica() throws IOException {
    try (RedisCluster cluster = RedisCluster.launchWithReplicas()) {
      Leases leases = Leases.create(cluster.seed().uri(), LEASE_SECONDS, 0);
      String ledger = leases.keyPrefix() + ":ledger";
      mintMeanwhile("Cluster swap", leases, () -> cluster.swap(ledger));
    }
  }

  private void mintMeanwhile(String what, Leases leases, Supplier<RedisServer> failOver)
      throws IOException {
    List<JavaProcess> processes = new ArrayList<>();
    try {
      for (int i = 0; i < PROCESSES; i++) {
        Path folder = Files.createDirectory(directory.resolve("process-" + i));
        processes.add(
            JavaProcess.of(MintingProcess.class)
                .arguments("1", folder.toString(), "500")
                .environment("SNOWFLAKE_STORE", leases.uri())
                .environment("SNOWFLAKE_NAMESPACE", leases.namespace())
                .environment("SNOWFLAKE_MIN_REPLICAS", Integer.toString(leases.minReplicas()))
                .start());
      }
      Set<String> before = slots(processes, "started");
      assertThat(before).hasSize(PROCESSES);

      long killed = System.nanoTime();
      RedisServer promoted = failOver.get();
      double replaced = secondsSince(killed);
      awaitTrue(
          "a renewal of each lease by the new master", LIMIT, () -> hasRenewed(promoted, leases));
      double renewed = secondsSince(killed);

      long failed = 0;
      Set<String> after = new HashSet<>();
      for (JavaProcess process : processes) {
        process.writeLine("halt");
        String[] words = process.awaitLine("halt ", LIMIT).split(" ", -1);
        after.add(words[1]);
        failed += Long.parseLong(words[3]);
      }
      List<long[]> ids = new ArrayList<>();
      for (int i = 0; i < PROCESSES; i++) {
        ids.add(IdFile.read(directory.resolve("process-" + i).resolve("0.ids")));
      }
      Figures.say(
          "%s under %d processes: another master after %.1f s, all leases renewed after %.1f s; %d"
              + " failed calls of %,d ids, %d duplicates, at most %d ms between two ids",
          what,
          PROCESSES,
          replaced,
          renewed,
          failed,
          ids.stream().mapToInt(some -> some.length).sum(),
          IdFile.duplicates(ids),
          ids.stream().mapToLong(FailoverTest::longestGap).max().orElse(0));
      assertThat(failed).isZero();
      assertThat(after).as("no lease was lost").isEqualTo(before);
      assertThat(ids).allMatch(some -> some.length > 1_000).allMatch(IdFile::isIncreasing);
      assertThat(IdFile.duplicates(ids)).isZero();
    } finally {
      processes.forEach(JavaProcess::close);
    }
  }

  private static Set<String> slots(List<JavaProcess> processes, String word) {
    Set<String> slots = new HashSet<>();
    for (JavaProcess process : processes) {
      slots.add(process.awaitLine(word + " ", LIMIT).split(" ", -1)[1]);
    }
    return slots;
  }

  /** Whether each lease key has a life that only a renewal since can have given it. */
  private static boolean hasRenewed(RedisServer promoted, Leases leases) {
    String ledger = leases.keyPrefix() + ":ledger";
    String info = promoted.command("INFO", "server");
    if (!info.contains("run_id:" + promoted.command("HGET", ledger, "srv"))) {
      return false;
    }
    String[] keys = promoted.command("KEYS", leases.keyPrefix() + ":nodes:*").split("\n", -1);
    long young = TimeUnit.SECONDS.toMillis(LEASE_SECONDS - 4);
    return Arrays.stream(keys)
            .filter(key -> Long.parseLong(promoted.command("PTTL", key)) > young)
            .count()
        == PROCESSES;
  }

  private static long longestGap(long[] ids) {
    long longest = 0;
    long last = LAYOUT.parse(ids[0]).timestamp().toEpochMilli();
    for (long id : ids) {
      long time = LAYOUT.parse(id).timestamp().toEpochMilli();
      longest = Math.max(longest, time - last);
      last = time;
    }
    return longest;
  }
}
