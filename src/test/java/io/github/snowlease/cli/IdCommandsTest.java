package io.github.snowlease.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.snowlease.BitLayout;
import io.github.snowlease.IdFormat;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.DisplayNameGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The commands that need no server. */
@DisplayNameGeneration(DisplayNameGenerator.ReplaceUnderscores.class)
class IdCommandsTest {
  private static final long ID = BitLayout.standard().compose(86_400_000L, 3, 7, 42);

  @Test
  void parse_takes_an_id_apart() {
    CommandRun run = CommandRun.of("parse", Long.toString(ID));

    assertThat(run.code()).isZero();
    assertThat(run.line("timestamp")).endsWith("2024-01-02T00:00:00Z");
    assertThat(run.line("cluster")).endsWith(" 3");
    assertThat(run.line("node")).endsWith(" 7");
    assertThat(run.line("sequence")).endsWith(" 42");
    assertThat(run.line("base32")).endsWith(IdFormat.CROCKFORD_BASE32.format(ID));
    assertThat(run.line("layout")).endsWith(BitLayout.standard().toString());
  }

  @Test
  void parse_prints_JSON_whose_id_JavaScript_does_not_round() {
    CommandRun run = CommandRun.of("parse", Long.toString(ID), "--json");

    assertThat(run.out())
        .startsWith(
            "{\"id\":\""
                + ID
                + "\",\"timestamp\":\"2024-01-02T00:00:00Z\",\"cluster\":3,\"node\":7,"
                + "\"sequence\":42,")
        .hasLineCount(1);
  }

  @ParameterizedTest
  @EnumSource
  void parse_reads_every_form_when_it_is_named(IdFormat form) {
    CommandRun run = CommandRun.of("parse", form.format(ID), "--form", IdForm.name(form));

    assertThat(run.line("id")).endsWith(" " + ID);
  }

  @Test
  void parse_takes_another_layout() {
    long id = BitLayout.javaScriptSafe().compose(1_000, 0, 5, 6);

    CommandRun run = CommandRun.of("parse", Long.toString(id), "--layout", "javascript-safe");

    assertThat(run.line("timestamp")).endsWith("2024-01-01T00:00:01Z");
    assertThat(run.line("node")).endsWith(" 5");
  }

  @Test
  void parse_says_what_an_id_looks_like_when_it_gets_none() {
    CommandRun run = CommandRun.of("parse", "not an id");

    assertThat(run.code()).isEqualTo(1);
    assertThat(run.err()).contains("an id is decimal, 13 characters of base32");
  }

  @Test
  void range_prints_the_ends_of_a_day() {
    CommandRun run = CommandRun.of("range", "2024-01-02", "2024-01-03");

    BitLayout layout = BitLayout.standard();
    assertThat(run.out().lines().toList())
        .isEqualTo(
            List.of(
                Long.toString(layout.firstIdAt(Instant.parse("2024-01-02T00:00:00Z"))),
                Long.toString(layout.lastIdAt(Instant.parse("2024-01-02T23:59:59.999Z")))));
  }

  @Test
  void ranges_that_touch_share_no_id_and_leave_none_out() {
    String[] layout = {"--layout", "epoch=1704067200000,tick=1000,bits=31/5/5/12"};
    long end =
        last(
            CommandRun.of("range", "2024-01-02", "2024-01-02T10:00:00.500Z", layout[0], layout[1]));
    long begin =
        first(
            CommandRun.of("range", "2024-01-02T10:00:00.500Z", "2024-01-03", layout[0], layout[1]));

    assertThat(begin).isEqualTo(end + 1);
  }

  @Test
  void next_mints_on_a_leased_slot_and_hands_it_back(@TempDir Path folder) {
    String[] store = {"--store", "file:" + folder, "--namespace", "cli"};
    CommandRun run = CommandRun.of("next", "5000", store[0], store[1], store[2], store[3]);

    assertThat(run.code()).isZero();
    List<Long> ids = run.out().lines().map(Long::valueOf).toList();
    assertThat(ids).hasSize(5_000).isSorted().doesNotHaveDuplicates();
    assertThat(CommandRun.of("nodes", store[0], store[1], store[2], store[3]).out())
        .doesNotContain("held on this host");
  }

  @Test
  void next_writes_ids_in_the_form_that_is_asked_for(@TempDir Path folder) {
    CommandRun run = CommandRun.of("next", "--form", "base62", "--store", "file:" + folder);

    assertThat(run.out().strip()).hasSize(11);
  }

  private static long first(CommandRun run) {
    return Long.parseLong(run.out().lines().findFirst().orElseThrow());
  }

  private static long last(CommandRun run) {
    return Long.parseLong(run.out().lines().skip(1).findFirst().orElseThrow());
  }
}
