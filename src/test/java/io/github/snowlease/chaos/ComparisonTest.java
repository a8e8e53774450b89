package io.github.snowlease.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.snowlease.testing.JavaProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A planted duplicate is found, wherever it lies. */
class ComparisonTest {
  @TempDir Path directory;

  private Path record(String name, long... ids) throws IOException {
    Path file = directory.resolve(name);
    IdRecord.create(file).addAll(ids, ids.length);
    return file;
  }

  @Test
  void idsThatDifferAreCounted() throws IOException {
    Comparison found =
        Comparison.of(List.of(record("a", 1, 2, 3, 10, 11), record("b", 4, 5, 9), record("c")));
    assertThat(found).isEqualTo(new Comparison(8, 0, 0, -1));
  }

  @Test
  void anIdInTheMiddleOfTwoRunsIsFound() throws IOException {
    Comparison found =
        Comparison.of(List.of(record("a", 100, 101, 102, 103), record("b", 99, 102, 200)));
    assertThat(found).isEqualTo(new Comparison(7, 1, 0, 102));
  }

  @Test
  void eachIdOfTwoRunsThatOverlapCounts() throws IOException {
    Comparison found =
        Comparison.of(
            List.of(record("a", 5, 6, 7, 8), record("b", 6, 7, 8, 9), record("c", 8, 9, 10)));
    assertThat(found).isEqualTo(new Comparison(11, 5, 0, 6));
  }

  @Test
  void anIdThatOneThreadWasGivenTwiceIsFoundAndOutOfOrder() throws IOException {
    Comparison found = Comparison.of(List.of(record("a", 5, 6, 6, 7)));
    assertThat(found).isEqualTo(new Comparison(4, 1, 1, 6));
  }

  /** Against a set of all ids, with runs of all lengths, more of them than a chunk holds. */
  @Test
  void countsAsASetDoes() throws IOException {
    Random random = new Random(7);
    Set<Long> seen = new HashSet<>();
    long duplicates = 0;
    long ids = 0;
    List<Path> files = List.of(directory.resolve("a"), directory.resolve("b"));
    for (Path file : files) {
      IdRecord record = IdRecord.create(file);
      long id = 1;
      for (int i = 0; i < 300_000; i++) {
        id += random.nextInt(4) == 0 ? 1 + random.nextInt(100) : 1;
        record.add(id);
        ids++;
        if (!seen.add(id)) {
          duplicates++;
        }
      }
    }
    Comparison found = Comparison.of(files);
    assertThat(duplicates).isPositive();
    assertThat(found.ids()).isEqualTo(ids);
    assertThat(found.duplicates()).isEqualTo(duplicates);
    assertThat(found.outOfOrder()).isZero();
  }

  @Test
  void whatWasRecordedBeforeASigkillIsRead() throws IOException, InterruptedException {
    Path file = directory.resolve("killed");
    try (JavaProcess process = JavaProcess.of(Recording.class).arguments(file.toString()).start()) {
      process.awaitLine("recorded", Duration.ofSeconds(20));
      process.kill();
    }
    long recorded = Comparison.of(List.of(file)).ids();
    assertThat(recorded).isGreaterThanOrEqualTo(Recording.COUNT);
    Comparison found = Comparison.of(List.of(file, record("another", 2 * Recording.COUNT - 1)));
    assertThat(found.duplicates()).isEqualTo(1);
    assertThat(Files.size(file)).isPositive();
  }

  /** Records ids until it is killed. */
  static final class Recording {
    static final int COUNT = 100_000;

    private Recording() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
      IdRecord record = IdRecord.create(Path.of(arguments[0]));
      for (long id = 1; ; id += 2) {
        record.add(id);
        if (id == 2 * COUNT - 1) {
          System.out.println("recorded");
        }
        if (id > 2 * COUNT) {
          TimeUnit.MICROSECONDS.sleep(100);
        }
      }
    }
  }
}
