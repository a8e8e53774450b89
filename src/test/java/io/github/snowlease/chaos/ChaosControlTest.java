package io.github.snowlease.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.snowlease.testing.RedisExtension;
import io.github.snowlease.testing.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Chaos would find a duplicate: it does where the quarantine is taken out. */
@ExtendWith(RedisExtension.class)
class ChaosControlTest {
  private static final int IDS_PER_SECOND = 50_000;
  private static final Duration LIMIT = Duration.ofSeconds(40);

  @TempDir Path directory;

  @Test
  void withoutAQuarantineAFlushMakesDuplicates(RedisServer redis) throws IOException {
    Files.writeString(directory.resolve("password"), "control");
    Minter.admit(redis, "control");
    Map<String, String> settings = new HashMap<>();
    settings.put("SNOWFLAKE_NAMESPACE", "control");
    settings.put("SNOWFLAKE_CLUSTER_ID", "0");
    settings.put("SNOWFLAKE_NODE_ID", "0");
    settings.put("SNOWFLAKE_TRUST_EMPTY_REDIS", "true");
    // So that the first holder does not renew before the second has claimed.
    settings.put("SNOWFLAKE_LEASE_TTL", "120s");
    settings.put("SNOWFLAKE_ACQUIRE_TIMEOUT", "140s");
    settings.put("SNOWFLAKE_HEARTBEAT_INTERVAL", "22s");
    try (Minter first = start(1, redis, settings)) {
      awaitMinting(first);
      redis.command("FLUSHALL");
      try (Minter second = start(2, redis, settings)) {
        awaitMinting(second);
        first.process.kill();
        second.process.kill();
        Comparison found = Comparison.of(List.of(first.record, second.record));
        assertThat(found.duplicates()).isPositive();
        assertThat(found.outOfOrder()).isZero();
      }
    }
  }

  private Minter start(int number, RedisServer redis, Map<String, String> settings) {
    return Minter.start(directory, number, redis.uri(), IDS_PER_SECOND, settings);
  }

  private static void awaitMinting(Minter minter) {
    await().atMost(LIMIT).until(() -> minter.minted() > 2 * IDS_PER_SECOND);
  }
}
