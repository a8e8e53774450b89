package io.github.snowlease;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Holds what stands in README and docs against the code. */
class ReadmeTest {
  private static final Path README = Path.of("README.md");
  private static final Pattern JAVA_BLOCK = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
  private static final Pattern CLASS_NAME = Pattern.compile("\\bclass (\\w+)");
  private static final Pattern LOG_CALL =
      Pattern.compile("log\\s*\\.(info|warn|error)\\(\\s*\"([^\"]*)\"");
  private static final Pattern EVENT_CALL =
      Pattern.compile("\\b(?:change|lose|beginClose)\\(([^;]*\"[^;]*)\\);");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)#:]+)(#[^)]*)?\\)");

  @Test
  void settingsTableIsWhatTheCodeReads() throws IOException {
    List<String> rows =
        Files.readAllLines(README).stream().filter(l -> l.startsWith("| snowflake.")).toList();
    List<String> expected =
        Arrays.stream(Setting.values())
            .map(
                s ->
                    "| "
                        + s.property
                        + " | "
                        + String.join(", ", s.variables)
                        + " | "
                        + s.defaultText
                        + " |")
            .toList();
    assertThat(rows).hasSameSizeAs(expected);
    for (int i = 0; i < rows.size(); i++) {
      assertThat(rows.get(i)).startsWith(expected.get(i));
    }
  }

  @Test
  void operationsGuideExplainsEveryLogLine() throws IOException {
    String guide = Files.readString(Path.of("docs/operations.md"));
    List<String> unexplained = new ArrayList<>();
    int lines = 0;
    for (String source : List.of("LeaseLog", "LeaseThread", "Snowflake")) {
      String code =
          Files.readString(Path.of("src/main/java/io/github/snowlease/" + source + ".java"));
      Matcher calls = LOG_CALL.matcher(code.replaceAll("\"\\s*\\+\\s*\"", ""));
      while (calls.find()) {
        String headline = calls.group(2).split("[:;,]? ?\\{|: |; ", 2)[0];
        if (headline.isEmpty()) {
          continue; // a line that a store phrases
        }
        lines++;
        String level = calls.group(1).toUpperCase(Locale.ROOT);
        if (!guide.contains("| " + level + " | `" + headline)) {
          unexplained.add(level + " " + headline);
        }
      }
    }
    assertThat(unexplained).isEmpty();
    assertThat(lines).as("the pattern finds the calls").isGreaterThan(15);
  }

  @Test
  void operationsGuideExplainsEveryEvent() throws IOException {
    String guide = Files.readString(Path.of("docs/operations.md"));
    String code =
        Files.readString(Path.of("src/main/java/io/github/snowlease/NodeLeaseManager.java"));
    Matcher reasons = EVENT_CALL.matcher(code.replaceAll("\\s+", " "));
    List<String> found = new ArrayList<>();
    while (reasons.find()) {
      Matcher texts = Pattern.compile("\"([^\"]+)\"").matcher(reasons.group(1));
      while (texts.find()) {
        found.add(texts.group(1).replaceAll(": $", ""));
      }
    }
    assertThat(found).as("the pattern finds the calls").hasSizeGreaterThan(10);
    assertThat(found).allSatisfy(reason -> assertThat(guide).contains("`" + reason + "`"));
  }

  static Stream<Path> documents() throws IOException {
    try (Stream<Path> docs = Files.list(Path.of("docs"))) {
      return Stream.concat(Stream.of(README), docs.filter(p -> p.toString().endsWith(".md")))
          .toList()
          .stream();
    }
  }

  @ParameterizedTest
  @MethodSource("documents")
  void everyJavaSnippetCompiles(Path document, @TempDir Path output) throws IOException {
    Matcher blocks = JAVA_BLOCK.matcher(Files.readString(document));
    List<JavaFileObject> units = new ArrayList<>();
    while (blocks.find()) {
      String code = blocks.group(1);
      Matcher name = CLASS_NAME.matcher(code);
      assertThat(name.find()).as("a snippet is a class:\n%s", code).isTrue();
      units.add(
          new SimpleJavaFileObject(
              URI.create("string:///" + name.group(1) + ".java"), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
              return code;
            }
          });
    }
    if (document.equals(README)) {
      assertThat(units).hasSizeGreaterThanOrEqualTo(3);
    }
    if (units.isEmpty()) {
      return;
    }
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter messages = new StringWriter();
    List<String> options =
        List.of("-d", output.toString(), "-classpath", System.getProperty("java.class.path"));
    boolean compiled = compiler.getTask(messages, null, null, options, null, units).call();
    assertThat(compiled).as(messages.toString()).isTrue();
  }

  @ParameterizedTest
  @MethodSource("documents")
  void everyRelativeLinkLeadsSomewhere(Path document) throws IOException {
    Matcher links = LINK.matcher(Files.readString(document));
    while (links.find()) {
      Path target = document.resolveSibling(links.group(1)).normalize();
      assertThat(target).as("link in %s", document).exists();
    }
  }
}
