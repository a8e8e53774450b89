package io.github.snowlease.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.images.RemoteDockerImage;
import org.testcontainers.utility.DockerImageName;

/**
 * Where a test takes its Redis from. Tests never skip for want of one: the first of these that
 * works is taken, in the order written here, and if none does, the error says what to install. The
 * environment variable {@value #VARIABLE} ({@code path}, {@code testcontainers} or {@code
 * embedded}) insists on one of them.
 */
public enum RedisSource {
  /** The redis-server on PATH. */
  PATH {
    @Override
    Launcher find() throws UnavailableException {
      String path = System.getenv().getOrDefault("PATH", "");
      for (String directory : path.split(File.pathSeparator, -1)) {
        Path executable = Path.of(directory, "redis-server");
        if (!directory.isEmpty() && Files.isExecutable(executable)) {
          requireRuns(executable);
          return (port, configLines) -> new RedisProcess(executable, port, configLines);
        }
      }
      throw new UnavailableException("no redis-server on PATH");
    }
  },

  /** A container. */
  TESTCONTAINERS {
    @Override
    Launcher find() throws UnavailableException {
      String image = System.getenv().getOrDefault(IMAGE_VARIABLE, DEFAULT_IMAGE);
      try {
        if (!DockerClientFactory.instance().isDockerAvailable()) {
          throw new UnavailableException("no Docker engine answers");
        }
        new RemoteDockerImage(DockerImageName.parse(image)).get();
      } catch (RuntimeException e) {
        // An engine without a network, say, can neither pull this nor what Testcontainers needs.
        throw new UnavailableException("Docker gives no " + image + ": " + e.getMessage());
      }
      return (port, configLines) -> new RedisContainer(image, port, configLines);
    }
  },

  /** The redis-server inside a test-scoped artifact; there is one for most machines. */
  EMBEDDED {
    @Override
    Launcher find() throws UnavailableException {
      StringBuilder failures = new StringBuilder();
      for (String resource : embeddedBinaries()) {
        try {
          Path executable = extract(resource);
          requireRuns(executable);
          return (port, configLines) -> new RedisProcess(executable, port, configLines);
        } catch (UnavailableException e) {
          failures.append("; ").append(e.getMessage());
        }
      }
      throw new UnavailableException(
          "no bundled redis-server for "
              + System.getProperty("os.name")
              + " on "
              + System.getProperty("os.arch")
              + " runs"
              + failures);
    }
  };

  /** The environment variable that insists on a source. */
  public static final String VARIABLE = "SNOWLEASE_TEST_REDIS";

  /** The environment variable that names the image of {@link #TESTCONTAINERS}. */
  public static final String IMAGE_VARIABLE = "SNOWLEASE_TEST_REDIS_IMAGE";

  private static final String DEFAULT_IMAGE = "redis:7.4";

  /** What the search for each source came to, for the life of this JVM. */
  private static final Map<RedisSource, Search> SEARCHES = new EnumMap<>(RedisSource.class);

  private record Search(@Nullable Launcher launcher, String failure) {}

  /** Makes servers, each on its own port. */
  @FunctionalInterface
  interface Launcher {
    RedisBackend create(int port, List<String> configLines);
  }

  /** This source cannot be used on this machine. */
  static final class UnavailableException extends Exception {
    private static final long serialVersionUID = 1L;

    UnavailableException(String message) {
      super(message);
    }
  }

  abstract Launcher find() throws UnavailableException;

  /** Looks for this source once per JVM, so that a binary is extracted once. */
  Launcher launcher() throws UnavailableException {
    Search search;
    synchronized (SEARCHES) {
      search = SEARCHES.computeIfAbsent(this, RedisSource::search);
    }
    if (search.launcher == null) {
      throw new UnavailableException(search.failure);
    }
    return search.launcher;
  }

  private Search search() {
    try {
      return new Search(find(), "");
    } catch (UnavailableException e) {
      return new Search(null, e.getMessage());
    }
  }

  /** What {@value #VARIABLE} calls it. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The source that this test run uses.
   *
   * @throws IllegalStateException if there is none
   */
  static RedisSource forThisRun() {
    return choose(System.getenv(VARIABLE));
  }

  static RedisSource choose(@Nullable String insistedOn) {
    List<RedisSource> candidates =
        insistedOn == null || insistedOn.isBlank() ? List.of(values()) : List.of(named(insistedOn));
    List<String> failures = new ArrayList<>();
    for (RedisSource source : candidates) {
      try {
        source.launcher();
        return source;
      } catch (UnavailableException e) {
        failures.add(source.label() + ": " + e.getMessage());
      }
    }
    throw new IllegalStateException(
        "no Redis to test with. Install redis-server (Debian: apt-get install redis-server; macOS:"
            + " brew install redis), or start Docker. Tried: "
            + String.join("; ", failures)
            + (candidates.size() == 1 ? " (" + VARIABLE + "=" + insistedOn + ")" : ""));
  }

  private static RedisSource named(String label) {
    for (RedisSource source : values()) {
      if (source.label().equals(label.trim())) {
        return source;
      }
    }
    throw new IllegalStateException(
        VARIABLE + " must be path, testcontainers or embedded: " + VARIABLE + "=" + label);
  }

  /** The names of the bundled binaries that fit this machine, the best first. */
  private static List<String> embeddedBinaries() {
    String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    String arch = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
    boolean arm = arch.equals("aarch64") || arch.equals("arm64");
    if (os.contains("mac")) {
      return List.of("redis-server-6.2.6-v5-darwin-" + (arm ? "arm64" : "amd64"));
    }
    if (os.contains("linux")) {
      return arm
          ? List.of("redis-server-6.2.7-linux-arm64")
          // The second is linked statically: for systems without OpenSSL 3 or glibc.
          : List.of("redis-server-6.2.6-v5-linux-amd64", "redis-server-6.2.7-linux-386");
    }
    // There is one for Windows, but nothing to freeze and thaw a process with.
    return List.of();
  }

  private static Path extract(String resource) throws UnavailableException {
    try (InputStream binary = RedisSource.class.getResourceAsStream("/" + resource)) {
      if (binary == null) {
        throw new UnavailableException(resource + " is not on the class path");
      }
      Path executable = TemporaryFiles.directory("snowlease-redis-bin-").resolve("redis-server");
      Files.copy(binary, executable);
      if (!executable.toFile().setExecutable(true)) {
        throw new UnavailableException(executable + " cannot be made executable");
      }
      return executable;
    } catch (IOException e) {
      throw new UnavailableException(resource + " cannot be extracted: " + e);
    }
  }

  private static void requireRuns(Path executable) throws UnavailableException {
    try {
      Process version =
          new ProcessBuilder(executable.toString(), "--version").redirectErrorStream(true).start();
      String output = new String(version.getInputStream().readAllBytes(), UTF_8).strip();
      if (!version.waitFor(10, TimeUnit.SECONDS) || version.exitValue() != 0) {
        throw new UnavailableException(executable + " --version failed: " + output);
      }
    } catch (IOException e) {
      throw new UnavailableException(executable + " does not run: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new UnavailableException("interrupted while trying " + executable);
    }
  }
}
