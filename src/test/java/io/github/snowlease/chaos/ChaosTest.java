package io.github.snowlease.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Half an hour of {@link ChaosFault}s and {@link NetworkFault}s: {@code mvn -Pchaos
 * -Dtest=ChaosTest test}, with {@code -Dsnowlease.chaos.seconds=} and {@code
 * -Dsnowlease.chaos.seed=}.
 */
@Tag("chaos")
@Timeout(value = 3, unit = TimeUnit.HOURS)
class ChaosTest {
  private static final long SECONDS = Long.getLong("snowlease.chaos.seconds", 1_800);
  private static final long SEED = Long.getLong("snowlease.chaos.seed", System.nanoTime());

  @Test
  void noIdIsEverMintedTwice(@TempDir Path directory) throws Exception {
    // As long as a minute, where a run is long enough to see what comes of it.
    long longestPause = Math.min(60_000, SECONDS * 1_000 / 10);
    try (ChaosRun run = new ChaosRun(directory, SEED, longestPause)) {
      say("seed %d, %d s", SEED, SECONDS);
      run.run(Duration.ofSeconds(SECONDS));
      Comparison found = Comparison.of(run.records());
      say("faults: %s", run.counts());
      say("processes say: %s", run.said());
      say(
          "%,d ids of %d processes, %d instances: %d duplicates, %d out of order; %,d failed calls,"
              + " at most %.1f s without an id when calls failed",
          found.ids(),
          run.records().size(),
          sum(run, IdRecord.STARTS),
          found.duplicates(),
          found.outOfOrder(),
          sum(run, IdRecord.FAILED_CALLS),
          longestOutage(run) / 1e9);
      assertThat(run.notFired()).as("faults that never happened").isEmpty();
      assertThat(found.ids()).isPositive();
      assertThat(found.duplicates()).as("first: %d", found.firstDuplicate()).isZero();
      assertThat(found.outOfOrder()).isZero();
    }
  }

  private static void say(String format, Object... arguments) {
    System.out.println("[chaos] " + String.format(Locale.ROOT, format, arguments));
  }

  private static long sum(ChaosRun run, int counter) throws IOException {
    long sum = 0;
    for (Path record : run.records()) {
      sum += counters(record).get(counter);
    }
    return sum;
  }

  private static long longestOutage(ChaosRun run) throws IOException {
    long longest = 0;
    for (Path record : run.records()) {
      longest = Math.max(longest, counters(record).get(IdRecord.LONGEST_OUTAGE));
    }
    return longest;
  }

  private static LongBuffer counters(Path record) throws IOException {
    try (FileChannel file = FileChannel.open(record, StandardOpenOption.READ)) {
      ByteBuffer bytes =
          ByteBuffer.allocate(IdRecord.COUNTERS * Long.BYTES).order(ByteOrder.nativeOrder());
      file.read(bytes);
      return bytes.flip().asLongBuffer();
    }
  }
}
