package io.github.snowlease.acceptance;

import static io.github.snowlease.acceptance.Figures.secondsSince;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.snowlease.LeaseStore;
import io.github.snowlease.NoLeaseException;
import io.github.snowlease.Snowflake;
import io.github.snowlease.testing.JavaProcess;
import io.github.snowlease.testing.RedisExtension;
import io.github.snowlease.testing.RedisServer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** {@code closeOnJvmExit}, with real signals. */
@ExtendWith(RedisExtension.class)
class JvmExitTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final Duration DRAIN = Duration.ofSeconds(2);

  private final Leases leases;

  JvmExitTest(RedisServer redis) {
    leases = Leases.create(redis, 30);
  }

  private JavaProcess start(boolean closeOnJvmExit) {
    JavaProcess server =
        JavaProcess.of(Server.class)
            .environment("SNOWFLAKE_STORE", leases.uri())
            .environment("SNOWFLAKE_NAMESPACE", leases.namespace())
            .environment("SNOWFLAKE_CLOSE_ON_JVM_EXIT", Boolean.toString(closeOnJvmExit))
            .start();
    server.awaitLine("started", LIMIT);
    return server;
  }

  @Test
  void requests_served_during_the_exit_get_ids_and_the_slot_is_free_at_once_after_the_grace() {
    try (JavaProcess server = start(true);
        LeaseStore store = leases.openStore()) {
      assertThat(leases.held(store)).isEqualTo(1);
      long begin = System.nanoTime();
      server.terminate();
      Leases.awaitTrue("the release", () -> leases.held(store) == 0);
      double released = secondsSince(begin);
      assertThat(server.awaitLine("drained ", LIMIT)).endsWith(" failed=0");
      assertThat(server.awaitExit(LIMIT)).isEqualTo(128 + 15);
      double ended = secondsSince(begin);
      long fence =
          Leases.answer(store.readLedger(leases.terms())).values().iterator().next().until();
      long ahead = fence - Leases.answer(store.time(leases.terms()));
      Figures.say(
          "SIGTERM with closeOnJvmExit: handed back after %.2f s, ended after %.2f s (%d s of it"
              + " drain), the slot is free %.1f s later",
          released, ended, DRAIN.toSeconds(), ahead / 1e3);
      assertThat(released).isLessThan((double) DRAIN.toSeconds());
      assertThat(ahead).isBetween(1L, 10_000L);
    }
  }

  @Test
  void without_it_an_exit_leaves_the_slot_to_run_out() {
    try (JavaProcess server = start(false);
        LeaseStore store = leases.openStore()) {
      server.terminate();
      assertThat(server.awaitLine("drained ", LIMIT)).endsWith(" failed=0");
      server.awaitExit(LIMIT);
      assertThat(leases.held(store)).isEqualTo(1);
    }
  }

  @Test
  void exit_with_a_store_that_hangs_is_not_held_up() {
    RedisServer redis = RedisServer.launch();
    try (redis) {
      Leases own = Leases.create(redis, 30);
      try (JavaProcess server =
          JavaProcess.of(Server.class)
              .environment("SNOWFLAKE_STORE", own.uri())
              .environment("SNOWFLAKE_NAMESPACE", own.namespace())
              .environment("SNOWFLAKE_CLOSE_ON_JVM_EXIT", "true")
              .start()) {
        server.awaitLine("started", LIMIT);
        redis.pause();
        long begin = System.nanoTime();
        server.terminate();
        server.awaitExit(LIMIT);
        assertThat(secondsSince(begin)).isLessThan(DRAIN.toSeconds() + 3.0);
      }
    }
  }

  /** Serves requests for two seconds after it was told to end. */
  static final class Server {
    private Server() {}

    public static void main(String[] arguments) throws InterruptedException {
      Snowflake ids = Snowflake.start();
      Runtime.getRuntime().addShutdownHook(new Thread(() -> drain(ids), "another hook"));
      System.out.println("started " + ids.nextId());
      TimeUnit.HOURS.sleep(1);
    }

    private static void drain(Snowflake ids) {
      long end = System.nanoTime() + DRAIN.toNanos();
      int failed = 0;
      int minted = 0;
      while (System.nanoTime() - end < 0) {
        try {
          ids.nextId();
          minted++;
          TimeUnit.MICROSECONDS.sleep(100);
        } catch (NoLeaseException e) {
          failed++;
        } catch (InterruptedException e) {
          return;
        }
      }
      System.out.println("drained minted=" + minted + " failed=" + failed);
    }
  }
}
