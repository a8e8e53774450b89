package io.github.snowlease.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.DisplayNameGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Types what README tells a newcomer to type, into a POSIX shell, which all tests need. */
@DisplayNameGeneration(DisplayNameGenerator.ReplaceUnderscores.class)
class ReadmeWalkTest {
  private static final Pattern BLOCK =
      Pattern.compile("## Look after it\n.*?```sh\n(.*?)```", Pattern.DOTALL);

  @Test
  void three_processes_and_a_map_with_what_README_says_and_nothing_else(@TempDir Path folder)
      throws IOException, InterruptedException {
    Matcher block = BLOCK.matcher(Files.readString(Path.of("README.md")));
    assertThat(block.find()).isTrue();
    // The jar is made after the tests, from these classes; the rest is word for word.
    String script =
        block
            .group(1)
            .replaceFirst("(?m)^mvn .*$", "")
            .replaceFirst(
                "java -jar \\S+-cli\\.jar",
                Matcher.quoteReplacement(
                    "\""
                        + Path.of(System.getProperty("java.home"), "bin", "java")
                        + "\" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp \"$CLASSES\" "
                        + SnowleaseCommand.class.getName()))
            .replaceFirst("file:/tmp/slots", "file:slots")
            // A busy machine starts a JVM more slowly than the reader's.
            .replaceFirst(
                "(?m)^sleep 5$",
                "for i in \\$(seq 600); do [ -s ids-1.txt ] && [ -s ids-2.txt ] && [ -s ids-3.txt ]"
                    + " && break; sleep 0.1; done");
    File output = folder.resolve("output.txt").toFile();
    ProcessBuilder shell =
        new ProcessBuilder("bash", "-c", "set -m\n" + script + "\nwait\nsnowlease nodes\n")
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output);
    shell.environment().put("CLASSES", System.getProperty("java.class.path"));
    Process process = shell.start();
    try {
      assertThat(process.waitFor(120, TimeUnit.SECONDS)).as("it ends").isTrue();
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }

    String text = Files.readString(output.toPath());
    assertThat(text)
        .contains("Created the namespace snowflake")
        .contains("3 M held on this host")
        .contains("a free slot was leased, renewed and handed back")
        .doesNotContain("FAIL")
        .doesNotContain("Exception");
    assertThat(text.split("mine ", -1)).as(text).hasSize(4);
    assertThat(text.lines().filter(line -> line.matches("timestamp +\\S+Z"))).as(text).hasSize(1);
    // They handed their slots back: the last map has none of them.
    assertThat(text.substring(text.lastIndexOf("Slots of"))).doesNotContain("held on this host");
  }
}
