package io.github.snowlease.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.DisplayNameGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

@DisplayNameGeneration(DisplayNameGenerator.ReplaceUnderscores.class)
class HelpTest {
  @Test
  void tells_a_newcomer_what_a_slot_is_which_commands_there_are_and_what_exit_codes_mean() {
    CommandRun help = CommandRun.of("--help");

    assertThat(help.code()).isZero();
    assertThat(help.out())
        .contains("no two processes share one")
        .contains("nodes", "doctor", "init", "evict", "next", "parse", "range")
        .contains("For example:")
        .containsPattern("0 +all is well")
        .containsPattern("1 +something was found")
        .containsPattern("2 +the command line is wrong");
  }

  @ParameterizedTest
  @ValueSource(strings = {"nodes", "doctor", "init", "evict", "next", "parse", "range"})
  void every_command_explains_itself(String command) {
    CommandRun help = CommandRun.of(command, "--help");

    assertThat(help.code()).isZero();
    assertThat(help.out()).contains("Usage: snowlease " + command).contains("--layout=LAYOUT");
  }

  @Test
  void every_command_is_in_the_list_above() {
    assertThat(SnowleaseCommand.commandLine().getSubcommands().keySet())
        .containsExactlyInAnyOrder("nodes", "doctor", "init", "evict", "next", "parse", "range");
  }

  @Test
  void names_the_environment_variables_of_the_library() {
    assertThat(CommandRun.of("nodes", "--help").out())
        .contains("SNOWFLAKE_STORE", "SNOWFLAKE_NAMESPACE", "SNOWFLAKE_LAYOUT");
  }

  @Test
  void shows_no_password_of_the_environment() {
    String property = "snowflake.store";
    System.setProperty(property, "redis://:topsecret@localhost:1");
    try {
      assertThat(CommandRun.of("nodes", "--help").out()).doesNotContain("topsecret");
      CommandRun doctor = CommandRun.of("doctor");
      assertThat(doctor.code()).isEqualTo(1);
      assertThat(doctor.out() + doctor.err())
          .doesNotContain("topsecret")
          .contains("redis://localhost:1");
    } finally {
      System.clearProperty(property);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "nodse",
        "nodes --layuot standard",
        "parse",
        "parse 1 --layout square",
        "range 2026-03-01",
        "range yesterday today",
        "range 2026-03-02 2026-03-01",
        "next 0",
        "next many",
        "evict 3/7",
        "nodes --namespace a*b",
        "nodes --store localhost:6379"
      })
  void a_wrong_command_line_ends_with_2_and_says_what_is_right(String line) {
    CommandRun run = CommandRun.of(line.isEmpty() ? new String[0] : line.split(" ", -1));

    assertThat(run.code()).isEqualTo(CommandLine.ExitCode.USAGE);
    assertThat(run.err()).isNotBlank();
    assertThat(run.err()).doesNotContain("\tat ");
  }

  @Test
  void says_its_version() {
    assertThat(CommandRun.of("--version").out()).startsWith("snowlease ");
  }
}
