package io.github.snowlease.testing;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Gives a child JVM another wall clock than this machine's, by libfaketime; its monotonic clock
 * stays right.
 */
public final class FakeTime {
  private static final Optional<Path> LIBRARY = find();

  private FakeTime() {}

  /** Whether libfaketime is installed here. */
  public static boolean isAvailable() {
    return LIBRARY.isPresent();
  }

  /** A clock that is off from the start, as in {@code +60s}; skips the test if it cannot be. */
  public static Map<String, String> off(String offset) {
    assumeTrue(isAvailable(), "libfaketime is not installed");
    Map<String, String> environment = environment();
    environment.put("FAKETIME", offset);
    return environment;
  }

  /** A clock that is off by what a file says, as in {@code +60}, within a second of a change. */
  public static Map<String, String> offAsSaidIn(Path file) {
    Map<String, String> environment = environment();
    environment.put("FAKETIME_TIMESTAMP_FILE", file.toString());
    environment.put("FAKETIME_CACHE_DURATION", "1");
    return environment;
  }

  private static Map<String, String> environment() {
    Map<String, String> environment = new HashMap<>();
    LIBRARY.ifPresent(library -> environment.put("LD_PRELOAD", library.toString()));
    environment.put("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    // Else each timed wait of the JVM, which is by the monotonic clock, ends at once.
    environment.put("FAKETIME_FORCE_MONOTONIC_FIX", "0");
    return environment;
  }

  /** Debian has it below a folder of the processor's name. */
  private static Optional<Path> find() {
    try (Stream<Path> places = Files.list(Path.of("/usr/lib"))) {
      return Stream.concat(Stream.of(Path.of("/usr/lib")), places)
          .map(place -> place.resolve("faketime/libfaketimeMT.so.1"))
          .filter(Files::exists)
          .findFirst();
    } catch (IOException e) {
      return Optional.empty();
    }
  }
}
