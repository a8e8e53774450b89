package io.github.snowlease.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.DisplayNameGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What holds for every script, whatever it does. */
@DisplayNameGeneration(DisplayNameGenerator.ReplaceUnderscores.class)
class ScriptTest {
  private static final Path FOLDER = Path.of("src/main/resources/io/github/snowlease/redis");

  static List<Path> sources() throws IOException {
    try (Stream<Path> files = Files.list(FOLDER)) {
      return files.sorted().toList();
    }
  }

  @ParameterizedTest
  @MethodSource("sources")
  void A_script_is_short_and_says_what_it_keeps(Path source) throws IOException {
    List<String> lines = Files.readAllLines(source);

    assertThat(lines).hasSizeLessThan(60);
    assertThat(lines).allMatch(line -> line.length() <= 110);
    if (!source.endsWith("common.lua") && !source.endsWith("memory.lua")) {
      assertThat(String.join("\n", lines)).contains("-- KEYS ", "-- RETURNS ", "-- Invariant: ");
    }
  }

  @ParameterizedTest
  @EnumSource
  void A_script_reads_the_clock_once_and_builds_no_key(Script script) {
    assertThat(script.text().split("'TIME'", -1)).hasSize(2);
    assertThat(script.text()).doesNotContain(":nodes:", ":ledger'");
  }

  @Test
  void Every_source_is_part_of_a_script() throws IOException {
    for (Path source : sources()) {
      String text = Files.readString(source);
      assertThat(Script.values()).anyMatch(script -> script.text().contains(text));
    }
  }
}
