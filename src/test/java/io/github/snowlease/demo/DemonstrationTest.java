package io.github.snowlease.demo;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.snowlease.BitLayout;
import io.github.snowlease.LeaseStore.LedgerEntry;
import io.github.snowlease.Slot;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A demonstration that could not fail would show nothing. */
class DemonstrationTest {
  private static final BitLayout LAYOUT = BitLayout.standard();

  private final ByteArrayOutputStream output = new ByteArrayOutputStream();

  private Terminal terminal(boolean colour, boolean unicode) {
    return new Terminal(
        new PrintStream(output, true, unicode ? UTF_8 : US_ASCII), colour, colour, unicode);
  }

  @Test
  void every_planted_duplicate_is_counted(@TempDir Path directory) throws IOException {
    long[] many = LongStream.range(0, 100_000).map(i -> i * 7 + 1).toArray();
    Path file = directory.resolve("a.ids");
    try (FileChannel channel = IdFile.open(file)) {
      IdFile.append(channel, many, many.length);
    }
    long[] read = IdFile.read(file);

    assertThat(read).isEqualTo(many);
    assertThat(IdFile.duplicates(List.of(read, new long[] {2, 3}))).isZero();
    assertThat(IdFile.duplicates(List.of(read, new long[] {2, many[99_999]}))).isEqualTo(1);
    assertThat(IdFile.duplicates(List.of(new long[] {5, 5}, new long[] {5}))).isEqualTo(2);
    assertThat(IdFile.isIncreasing(read)).isTrue();
    assertThat(IdFile.isIncreasing(new long[] {1, 2, 2})).isFalse();
  }

  @Test
  void ids_are_split_where_their_slot_changes() {
    long[] ids = {
      LAYOUT.compose(1, 3, 7, 0), LAYOUT.compose(2, 3, 7, 4_095),
      LAYOUT.compose(3, 3, 8, 0), LAYOUT.compose(4, 3, 7, 0)
    };
    assertThat(IdFile.runs(LAYOUT, ids))
        .containsExactly(
            new IdFile.Run(new Slot(3, 7), ids[0], ids[1], 2),
            new IdFile.Run(new Slot(3, 8), ids[2], ids[2], 1),
            new IdFile.Run(new Slot(3, 7), ids[3], ids[3], 1));
  }

  @Test
  void the_slot_map_tells_held_slots_from_those_that_are_free_again() {
    List<String> map =
        SlotMap.draw(
            LAYOUT,
            Map.of(
                new Slot(3, 0), new LedgerEntry(10_000, true, true),
                new Slot(3, 9), new LedgerEntry(1_000, true, true),
                new Slot(4, 31), new LedgerEntry(10_000, false, true)),
            9_000,
            Map.of(new Slot(3, 0), "A"),
            UnaryOperator.identity());
    assertThat(map.get(1)).isEqualTo("  cluster  3 A······· ·o······ ········ ········");
    assertThat(map.get(2)).isEqualTo("  cluster  4 ········ ········ ········ ·······o");
    assertThat(map.get(3)).contains("o free again", "30 more clusters");
  }

  @Test
  void a_terminal_that_knows_only_ASCII_gets_only_that() {
    Terminal plain = terminal(false, false);
    plain.heading("one");
    plain.live("is not shown");
    plain.done("two · three", 1_500_000_000);
    plain.failed("four");
    assertThat(output.toString(US_ASCII))
        .contains("ok two . three", "1.5 s", "FAILED four")
        .doesNotContain("\u001b", "?", "not shown");
  }

  @Test
  void a_store_that_is_not_there_fails_it_in_clear_words() {
    // Nobody listens on port 1; its password is nobody's business.
    String nowhere = "redis://:secret@127.0.0.1:1";
    assertThat(Demonstration.run(terminal(false, true), nowhere, Duration.ofMillis(500))).isFalse();
    assertThat(output.toString(UTF_8))
        .contains("✗ Redis at redis://127.0.0.1:1 cannot be reached")
        .doesNotContain("secret");
  }

  /** The whole of it; the ordinary build does the same, and more, in LivenessTest. */
  @Test
  @Tag("soak")
  void the_demonstration_keeps_its_promises() {
    assertThat(Demonstration.run(terminal(false, true), null)).isTrue();
    assertThat(output.toString(UTF_8)).contains("0 duplicates among").doesNotContain("✗");
  }
}
