package io.github.snowlease.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** Directories under the system's temporary directory that are gone, at the latest, at JVM exit. */
final class TemporaryFiles {

  private static final Set<Path> DIRECTORIES = ConcurrentHashMap.newKeySet();

  static {
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(() -> DIRECTORIES.forEach(TemporaryFiles::delete), "temporary-files"));
  }

  private TemporaryFiles() {}

  static Path directory(String prefix) throws IOException {
    Path directory = Files.createTempDirectory(prefix);
    DIRECTORIES.add(directory);
    return directory;
  }

  /** Deletes a directory with all that is in it. */
  static void delete(Path directory) {
    DIRECTORIES.remove(directory);
    if (!Files.exists(directory)) {
      return;
    }
    try (Stream<Path> tree = Files.walk(directory)) {
      for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
