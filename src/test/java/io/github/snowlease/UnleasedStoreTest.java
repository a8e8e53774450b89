package io.github.snowlease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.snowlease.LeaseStore.Claim;
import io.github.snowlease.LeaseStore.ClaimReply;
import io.github.snowlease.LeaseStore.Full;
import io.github.snowlease.LeaseStore.Granted;
import io.github.snowlease.LeaseStore.Holder;
import io.github.snowlease.LeaseStore.Lost;
import io.github.snowlease.LeaseStore.Release;
import io.github.snowlease.LeaseStore.RenewReply;
import io.github.snowlease.LeaseStore.Renewal;
import io.github.snowlease.LeaseStore.Renewed;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.DisplayNameGenerator;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

@DisplayNameGeneration(DisplayNameGenerator.ReplaceUnderscores.class)
class UnleasedStoreTest {
  private static final Slot SLOT = new Slot(3, 7);
  private static final LeaseTerms TERMS =
      new LeaseTerms("by-hand", "41/5/5/12", 30_000, 5_000, 0, 2_000, false);

  private final SettableTime time = new SettableTime();
  private final UnleasedStore.Clock clock = new UnleasedStore.Clock(time);
  private final HashMap<String, UnleasedStore.Fence> process = new HashMap<>();
  private final UnleasedStore store = new UnleasedStore(process, clock);
  private final UnleasedStore another = new UnleasedStore(process, clock);

  @Test
  void mints_ids_of_the_slot_that_was_assigned() {
    try (Snowflake ids = byHand("mints").start()) {
      SnowflakeId id = ids.parse(ids.nextId());

      assertThat(id.cluster()).isEqualTo(3);
      assertThat(id.node()).isEqualTo(7);
      assertThat(Duration.between(id.timestamp(), Instant.now()).abs())
          .isLessThan(Duration.ofSeconds(5));
    }
  }

  @Test
  void takes_none_as_a_plain_word_in_any_case() {
    try (Snowflake ids = byHand("plain").start()) {
      assertThat(ids.status().isReady()).isTrue();
    }
    try (Snowflake ids =
        Snowflake.builder().store("NONE").namespace("plain2").clusterId(0).nodeId(0).start()) {
      assertThat(ids.status().isReady()).isTrue();
    }
  }

  @Test
  void needs_both_ids() {
    assertThatThrownBy(() -> Snowflake.builder().store("none").start())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("clusterId and nodeId must both be set")
        .hasMessageContaining("clusterId=any");
    assertThatThrownBy(() -> Snowflake.builder().store("none").clusterId(1).start())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("nodeId=any");
  }

  @Test
  void says_once_what_is_not_protected() {
    Logger logger = (Logger) LoggerFactory.getLogger(Snowflake.class);
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    logger.addAppender(lines);
    try (Snowflake ids = byHand("warned").start()) {
      assertThat(ids.nextId()).isPositive();
      await().until(() -> !lines.list.isEmpty());
    } finally {
      logger.detachAppender(lines);
    }
    assertThat(lines.list).hasSize(1);
    assertThat(lines.list.get(0).getLevel()).isEqualTo(Level.WARN);
    assertThat(lines.list.get(0).getFormattedMessage())
        .contains("store=none")
        .contains("the same clusterId and nodeId")
        .contains("give each process ids of its own");
  }

  @Test
  void never_repeats_an_id_when_a_slot_is_used_again_and_again() {
    long last = 0;
    for (int i = 0; i < 5; i++) {
      try (Snowflake ids = byHand("again").start()) {
        long first = ids.nextId();
        assertThat(first).isGreaterThan(last);
        long[] batch = new long[5_000];
        ids.nextIds(batch);
        last = batch[batch.length - 1];
      }
    }
  }

  @Test
  void has_one_holder_of_a_slot_at_a_time_within_the_process() {
    Granted grant = (Granted) claim(store, "aa");

    Full refused = (Full) claim(another, "bb");
    assertThat(refused.holder()).startsWith("{\"token\":\"aa\",");
    assertThat(refused.now() + refused.waitMillis())
        .isEqualTo(grant.until() + LeaseTerms.GRACE + 1);

    assertThat(now(store.release(TERMS, new Release("aa", grant.now() + 3, List.of(SLOT)))))
        .isTrue();
    assertThat(claim(another, "bb")).isInstanceOf(Full.class);
    time.pass(4);
    assertThat(((Granted) claim(another, "bb")).now()).isGreaterThan(grant.now() + 3);
    assertThat(renew(store, "aa", grant)).isInstanceOf(Lost.class);
  }

  @Test
  void grants_its_own_slot_anew_at_once_after_a_lease_that_was_dropped() {
    claim(store, "aa");

    assertThat(claim(store, "bb")).isInstanceOf(Granted.class);
  }

  @Test
  void goes_on_when_the_wall_clock_is_set_back() {
    Granted grant = (Granted) claim(store, "aa");
    time.wall -= 3_600_000;
    time.pass(3_000);

    Renewed renewed = (Renewed) renew(store, "aa", grant);
    assertThat(renewed.now()).isEqualTo(grant.now() + 3_000);
    assertThat(renewed.until()).isEqualTo(renewed.now() + TERMS.window());
  }

  @Test
  void follows_the_wall_clock_forward() {
    Granted grant = (Granted) claim(store, "aa");
    time.wall += 3_600_000;

    assertThat(((Renewed) renew(store, "aa", grant)).now()).isEqualTo(grant.now() + 3_600_000);
  }

  private static SnowflakeBuilder byHand(String namespace) {
    return Snowflake.builder().store("none").namespace(namespace).clusterId(3).nodeId(7);
  }

  private static ClaimReply claim(UnleasedStore store, String token) {
    return now(
        store.claim(
            TERMS,
            new Claim(token, "00", 0, -1, 0, List.of(SLOT), new Holder("h", 1, "a", 0, "0"))));
  }

  private static RenewReply renew(UnleasedStore store, String token, Granted grant) {
    return now(
        store.renew(
            TERMS,
            new Renewal(
                token,
                SLOT,
                grant.until(),
                List.of("00"),
                "01",
                grant.now(),
                0,
                new Holder("h", 1, "a", 0, "0"))));
  }

  private static <T> T now(CompletionStage<T> stage) {
    return stage.toCompletableFuture().join();
  }

  private static final class SettableTime implements TimeSource {
    private long wall = 1_790_000_000_000L;
    private long nanos = Long.MAX_VALUE - 5;

    private void pass(long millis) {
      wall += millis;
      nanos += millis * 1_000_000;
    }

    @Override
    public long nanoTime() {
      return nanos;
    }

    @Override
    public long wallMillis() {
      return wall;
    }
  }
}
