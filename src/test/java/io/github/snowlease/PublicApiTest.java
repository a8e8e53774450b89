package io.github.snowlease;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Pins what users can call in the core package, so that it changes only on purpose. The present
 * surface is written to {@code target/public-api.txt}: if it is meant, copy it to {@code
 * src/test/resources/public-api.txt}.
 */
class PublicApiTest {

  @Test
  void theCorePackageOffersExactlyWhatIsWrittenDown() throws Exception {
    List<String> present = surface();
    Files.write(Path.of("target", "public-api.txt"), present);
    List<String> pinned;
    try (InputStream in = PublicApiTest.class.getResourceAsStream("/public-api.txt")) {
      pinned =
          new String(in.readAllBytes(), StandardCharsets.UTF_8)
              .lines()
              .collect(Collectors.toUnmodifiableList());
    }
    assertThat(present).containsExactlyElementsOf(pinned);
  }

  private static List<String> surface() throws IOException, URISyntaxException {
    Path classes =
        Path.of(Snowflake.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    List<String> lines = new ArrayList<>();
    try (Stream<Path> files = Files.list(classes.resolve("io/github/snowlease"))) {
      for (String name :
          files
              .map(file -> file.getFileName().toString())
              .filter(name -> name.endsWith(".class") && !name.equals("package-info.class"))
              .map(name -> "io.github.snowlease." + name.substring(0, name.length() - 6))
              .sorted()
              .collect(Collectors.toUnmodifiableList())) {
        Class<?> type;
        try {
          type = Class.forName(name, false, PublicApiTest.class.getClassLoader());
        } catch (ClassNotFoundException e) {
          throw new AssertionError(e);
        }
        if (isVisible(type)) {
          lines.add(Modifier.toString(type.getModifiers()) + " " + type.getTypeName());
          lines.addAll(members(type));
        }
      }
    }
    return lines;
  }

  private static boolean isVisible(Class<?> type) {
    for (Class<?> c = type; c != null; c = c.getEnclosingClass()) {
      if (!Modifier.isPublic(c.getModifiers()) || c.isAnonymousClass()) {
        return false;
      }
    }
    return true;
  }

  private static List<String> members(Class<?> type) {
    Stream<String> fields =
        Arrays.stream(type.getDeclaredFields())
            .filter(field -> isOffered(field.getModifiers()) && !field.isSynthetic())
            .map(Field::toString);
    Stream<String> constructors =
        Arrays.stream(type.getDeclaredConstructors())
            .filter(PublicApiTest::isOffered)
            .map(Constructor::toString);
    Stream<String> methods =
        Arrays.stream(type.getDeclaredMethods())
            .filter(PublicApiTest::isOffered)
            .map(Method::toString);
    return Stream.of(fields, constructors, methods)
        .flatMap(all -> all)
        .map(line -> "  " + line.replace("io.github.snowlease.", "").replace("java.lang.", ""))
        .sorted()
        .collect(Collectors.toUnmodifiableList());
  }

  private static boolean isOffered(Executable member) {
    return isOffered(member.getModifiers()) && !member.isSynthetic();
  }

  private static boolean isOffered(int modifiers) {
    return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
  }
}
