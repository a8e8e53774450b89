package io.github.snowlease;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Computes what docs/migrating.md promises: from the switch on, new ids stay above old ones. */
class MigrationTest {
  private static final Path GUIDE = Path.of("docs/migrating.md");
  private static final Instant TODAY = Instant.parse("2026-12-01T00:00:00Z");

  /** A row of the guide's table. */
  record Row(String from, long tick, long epoch, int bits, BitLayout layout, int until) {
    private static final Pattern LINE =
        Pattern.compile(
            "\\| (.+) \\| (\\d+) ms \\| (\\d+) \\| (\\d+) \\| `(\\S+)` \\| (\\d{4}) \\|");

    /** The largest id that the old generator may mint at a moment. */
    long largestOldIdAt(Instant moment) {
      long ticks = (moment.toEpochMilli() - epoch) / tick;
      return (ticks << bits) | ((1L << bits) - 1);
    }

    @Override
    public String toString() {
      return from;
    }
  }

  static Stream<Row> rows() throws IOException {
    List<Row> rows =
        Files.readAllLines(GUIDE).stream()
            .map(Row.LINE::matcher)
            .filter(Matcher::matches)
            .map(
                line ->
                    new Row(
                        line.group(1),
                        Long.parseLong(line.group(2)),
                        Long.parseLong(line.group(3)),
                        Integer.parseInt(line.group(4)),
                        BitLayout.of(line.group(5)),
                        Integer.parseInt(line.group(6))))
            .toList();
    assertThat(rows).as("the pattern finds the table").hasSize(6);
    return rows.stream();
  }

  @ParameterizedTest
  @MethodSource("rows")
  void newIdsStayAboveOldOnesFromTheSwitchToTheEnd(Row row) {
    Instant end = row.layout().horizon();
    for (Instant t = TODAY; t.isBefore(end.minusSeconds(1)); t = t.plus(Duration.ofDays(100))) {
      // An old process may have its last tick just before the new one has its first.
      long old = row.largestOldIdAt(t);
      Instant next = t.plusMillis(row.tick());

      assertThat(old).as("old ids fit into a long at %s", t).isPositive();
      assertThat(row.layout().firstIdAt(next)).as("at %s", t).isGreaterThan(old);
    }
  }

  @ParameterizedTest
  @MethodSource("rows")
  void theLayoutEndsWhenTheGuideSays(Row row) {
    assertThat(row.layout().horizon().atZone(ZoneOffset.UTC).getYear()).isEqualTo(row.until());
  }

  @ParameterizedTest
  @MethodSource("rows")
  void aLaterEpochWouldNotDo(Row row) {
    // The negative control: it is the epoch that does it.
    BitLayout l = row.layout();
    BitLayout later =
        new BitLayout(
            TODAY.minus(Duration.ofHours(1)),
            l.tick(),
            l.timestampBits(),
            l.clusterBits(),
            l.nodeBits(),
            l.sequenceBits());
    assertThat(later.firstIdAt(TODAY.plusMillis(row.tick()))).isLessThan(row.largestOldIdAt(TODAY));
  }

  @Test
  void idsOfBaidusGeneratorLeaveNoRoom() {
    long seconds = (Instant.parse("2024-11-20T00:00:00Z").getEpochSecond() - 1_463_673_600L) << 35;
    assertThat(BitLayout.fastApiBestArchitecture().lastIdAt(TODAY)).isLessThan(seconds);
    assertThat(seconds).isGreaterThan(Long.MAX_VALUE / 1_000 * 995);
  }

  @Test
  void theRuleForTheEpochGivesTheLatestThatWillDo(@TempDir Path folder) throws Exception {
    Matcher block =
        Pattern.compile("```java\n(.*?class Migration .*?)```", Pattern.DOTALL)
            .matcher(Files.readString(GUIDE));
    assertThat(block.find()).isTrue();
    Path source = Files.writeString(folder.resolve("Migration.java"), block.group(1));
    assertThat(
            ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-d", folder.toString(), source.toString()))
        .isZero();
    Instant epoch;
    long largest = BitLayout.twitter().lastIdAt(TODAY.minusMillis(1));
    try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()})) {
      var rule =
          loader
              .loadClass("Migration")
              .getDeclaredMethod("latestEpoch", long.class, int.class, Instant.class);
      rule.setAccessible(true);
      epoch = (Instant) rule.invoke(null, largest, 22, TODAY);
    }

    assertThat(withEpoch(epoch).firstIdAt(TODAY)).isGreaterThan(largest);
    assertThat(withEpoch(epoch.plusMillis(1)).firstIdAt(TODAY)).isLessThanOrEqualTo(largest);
    assertThat(epoch).isEqualTo(BitLayout.twitter().epoch());
  }

  @Test
  void tenBitsOfWorkerAreFiveOfClusterAndFiveOfNode() {
    BitLayout layout = BitLayout.twitter();
    for (int worker : new int[] {0, 31, 32, 991, 992, 1023}) {
      long old = (1_000L << 22) | ((long) worker << 12) | 7;
      SnowflakeId parts = layout.parse(old);
      assertThat(parts.cluster() * 32 + parts.node()).isEqualTo(worker);
      assertThat(parts.cluster() == 31).isEqualTo(worker >= 992);
    }
  }

  private static BitLayout withEpoch(Instant epoch) {
    return new BitLayout(epoch, Duration.ofMillis(1), 41, 5, 5, 12);
  }
}
