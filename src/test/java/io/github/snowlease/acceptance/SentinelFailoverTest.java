package io.github.snowlease.acceptance;

import static io.github.snowlease.acceptance.Figures.seconds;
import static io.github.snowlease.acceptance.Figures.secondsSince;
import static io.github.snowlease.acceptance.Leases.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.snowlease.BitLayout;
import io.github.snowlease.LeaseEvent;
import io.github.snowlease.Snowflake;
import io.github.snowlease.demo.IdFile;
import io.github.snowlease.testing.RedisSentinels;
import io.github.snowlease.testing.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** The master dies under load, and Sentinels put a replica into its place. */
class SentinelFailoverTest {
  private static final int SNOWFLAKES = 3;
  private static final int LEASE = 30;
  private static final BitLayout LAYOUT = BitLayout.standard();

  /** Some Snowflakes under load, which share a namespace. */
  private static final class Fleet implements AutoCloseable {
    private final int minReplicas;
    private final Leases leases;
    private final List<Snowflake> snowflakes = new ArrayList<>();
    private final List<Load> loads = new ArrayList<>();
    private final List<LeaseEvent> events = new CopyOnWriteArrayList<>();

    Fleet(String uri, int minReplicas) {
      this.minReplicas = minReplicas;
      leases = Leases.create(uri, LEASE, minReplicas);
      for (int i = 0; i < SNOWFLAKES; i++) {
        Snowflake ids = leases.builder().listener(events::add).start();
        snowflakes.add(ids);
        loads.add(Load.on(ids));
      }
    }

    boolean isMinting() {
      return loads.stream().allMatch(load -> load.minted() > 100);
    }

    boolean isRenewedSince(long nanoTime) {
      return snowflakes.stream()
          .allMatch(
              ids ->
                  ids.status().sinceRenewal().orElseThrow().toNanos()
                      < System.nanoTime() - nanoTime);
    }

    void requireUnharmed() {
      List<long[]> ids = loads.stream().map(Load::end).toList();
      List<Load.Failure> failures =
          loads.stream().flatMap(load -> load.failures().stream()).toList();
      Figures.say(
          "minReplicas %d: %d failed calls of %,d ids, %d duplicates, at most %d ms between two ids,"
              + " %d of %d leases lost",
          minReplicas,
          failures.size(),
          ids.stream().mapToInt(some -> some.length).sum(),
          IdFile.duplicates(ids),
          ids.stream().mapToLong(SentinelFailoverTest::longestGap).max().orElse(0),
          events.size(),
          SNOWFLAKES);
      assertThat(failures).isEmpty();
      assertThat(events).isEmpty();
      assertThat(ids).allMatch(IdFile::isIncreasing);
      assertThat(IdFile.duplicates(ids)).isZero();
    }

    @Override
    public void close() {
      loads.forEach(Load::close);
      snowflakes.forEach(Snowflake::close);
    }
  }

  @Test
  @SuppressWarnings("try") // the log is quiet for as long as that is open
  void a_failover_shorter_than_the_window_fails_no_call_and_ends_no_lease() {
    try (Quiet quiet = Quiet.begin();
        RedisSentinels sentinels = RedisSentinels.launch();
        Fleet alone = new Fleet(sentinels.uri(), 0);
        Fleet replicated = new Fleet(sentinels.uri(), 1)) {
      List<Fleet> fleets = List.of(alone, replicated);
      awaitTrue("load", () -> fleets.stream().allMatch(Fleet::isMinting));
      fleets.forEach(fleet -> fleet.events.clear());

      long killed = System.nanoTime();
      RedisServer promoted = sentinels.failOver();
      long done = System.nanoTime();
      awaitTrue(
          "a renewal of each lease by the new master",
          () -> fleets.stream().allMatch(fleet -> fleet.isRenewedSince(done)));

      Figures.say(
          "Sentinel failover: another master after %.1f s, all leases renewed after %.1f s",
          seconds(done - killed), secondsSince(killed));
      fleets.forEach(Fleet::requireUnharmed);
      String info = promoted.command("INFO", "server");
      for (Fleet fleet : fleets) {
        String ledger = fleet.leases.keyPrefix() + ":ledger";
        assertThat(info).contains("run_id:" + promoted.command("HGET", ledger, "srv"));
      }
    }
  }

  private static long longestGap(long[] ids) {
    long longest = 0;
    for (int i = 1; i < ids.length; i++) {
      longest =
          Math.max(
              longest,
              LAYOUT.parse(ids[i]).timestamp().toEpochMilli()
                  - LAYOUT.parse(ids[i - 1]).timestamp().toEpochMilli());
    }
    return longest;
  }
}
