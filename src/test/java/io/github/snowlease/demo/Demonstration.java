package io.github.snowlease.demo;

import io.github.snowlease.BitLayout;
import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.LeaseStoreProvider;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.testing.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.ServiceLoader;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Shows what snowlease promises, with real processes and a real Redis: that of {@code
 * SNOWFLAKE_STORE} if it is set, else a private one that ends with the demonstration. Exits with 1
 * if a promise is broken, a duplicate id above all.
 */
final class Demonstration {
  private static final String STORE = "SNOWFLAKE_STORE";
  private static final Duration LEASE_TTL = Duration.ofSeconds(10);
  private static final long MAX_CLOCK_SKEW = 5_000;
  private static final long COMMAND_TIMEOUT = 2_000;
  private static final BitLayout LAYOUT = BitLayout.standard();

  private Demonstration() {}

  public static void main(String[] arguments) {
    Terminal terminal = Terminal.standardOutput();
    if (!run(terminal, System.getenv(STORE))) {
      System.exit(1);
    }
  }

  /**
   * Runs it.
   *
   * @param store the URI of the store to use, or null to start one
   * @return whether all promises were kept
   */
  static boolean run(Terminal terminal, @Nullable String store) {
    return run(terminal, store, Duration.ofSeconds(15));
  }

  /** As {@link #run}, with another patience for the store's first answer. */
  static boolean run(Terminal terminal, @Nullable String store, Duration patience) {
    long begin = System.nanoTime();
    terminal.blank();
    terminal.line(terminal.bold("snowlease") + ": ids that no two processes mint twice");
    terminal.blank();
    try {
      String summary;
      if (store == null || store.isBlank()) {
        terminal.live("starting a Redis");
        try (RedisServer redis = RedisServer.launch()) {
          terminal.line(
              field("Redis")
                  + redis.version()
                  + ", private, "
                  + origin(redis)
                  + ", port "
                  + redis.port());
          summary = runOn(terminal, redis.uri(), patience);
        }
      } else {
        summary = runOn(terminal, store.strip(), patience);
      }
      terminal.blank();
      terminal.line(
          terminal.green("✓ ")
              + terminal.bold(summary)
              + String.format(Locale.ROOT, ", in %.0f s", (System.nanoTime() - begin) / 1e9));
      terminal.blank();
      return true;
    } catch (IOException | RuntimeException e) {
      terminal.failed(e.getMessage() == null ? e.toString() : e.getMessage());
      for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) {
        terminal.line("     because: " + cause);
      }
      terminal.blank();
      return false;
    }
  }

  private static String runOn(Terminal terminal, String uri, Duration patience) throws IOException {
    // A namespace that nobody uses yet.
    String namespace = String.format("demo-%06x", RandomGenerator.getDefault().nextInt(1 << 24));
    LeaseTerms terms =
        new LeaseTerms(
            namespace,
            LAYOUT.toString(),
            LEASE_TTL.toMillis(),
            MAX_CLOCK_SKEW,
            0,
            COMMAND_TIMEOUT,
            false);
    Path directory = Files.createTempDirectory("snowlease-demo-");
    Thread cleaner = new Thread(() -> delete(directory), "cleaner");
    Runtime.getRuntime().addShutdownHook(cleaner);
    try (LeaseStore store = open(uri, terms)) {
      String where = store.toString().replaceFirst("^\\w+\\[(.*)]$", "$1");
      terminal.line(field("store") + where);
      awaitAnswer(store, terms, patience);
      // The deliberate word that nobody mints here now: without it, an empty Redis, which cannot be
      // told from one that lost its data, grants nothing for 20 s.
      // Asked of the store, as Snowflake.builder() would also take the user's own settings.
      store.createNamespace(terms).toCompletableFuture().join();
      terminal.line(field("namespace") + namespace + ", made for this run, removed after it");
      terminal.line(
          field("lease")
              + LEASE_TTL.toSeconds()
              + " s, renewed every second; ids may be minted for 5 s without a renewal");
      try (Story story = new Story(terminal, uri, store, terms, LAYOUT, directory)) {
        return story.tell();
      } finally {
        removeKeys(terminal, uri, terms, store);
      }
    } finally {
      Runtime.getRuntime().removeShutdownHook(cleaner);
      delete(directory);
    }
  }

  private static String origin(RedisServer redis) {
    return switch (redis.source()) {
      case PATH -> "redis-server on PATH";
      case TESTCONTAINERS -> "in a container";
      case EMBEDDED -> "a binary that the tests bring along";
    };
  }

  private static String field(String name) {
    return String.format("   %-11s", name);
  }

  private static LeaseStore open(String uri, LeaseTerms terms) {
    String scheme = scheme(uri);
    return ServiceLoader.load(LeaseStoreProvider.class).stream()
        .map(ServiceLoader.Provider::get)
        .filter(provider -> provider.supports(scheme))
        .findFirst()
        .orElseThrow(
            () -> new IllegalArgumentException(STORE + " must be a URI such as redis://host:6379"))
        .open(uri, terms);
  }

  /** The first answer of a slow machine may come late. */
  private static void awaitAnswer(LeaseStore store, LeaseTerms terms, Duration patience) {
    long deadline = System.nanoTime() + patience.toNanos();
    while (true) {
      try {
        store.time(terms).toCompletableFuture().join();
        return;
      } catch (CompletionException e) {
        if (System.nanoTime() - deadline > 0
            || !(e.getCause() instanceof LeaseStoreException failure)
            || failure.needsOperator()) {
          throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
      }
    }
  }

  private static String scheme(String uri) {
    int colon = uri.indexOf(':');
    return (colon < 0 ? "" : uri.substring(0, colon)).toLowerCase(Locale.ROOT);
  }

  /** Leaves the user's Redis as it was. */
  private static void removeKeys(
      Terminal terminal, String uri, LeaseTerms terms, LeaseStore store) {
    if (!scheme(uri).startsWith("redis")) {
      return;
    }
    try {
      List<String> keys = new ArrayList<>();
      keys.add(terms.keyPrefix() + ":ledger");
      store
          .readLedger(terms)
          .toCompletableFuture()
          .get(COMMAND_TIMEOUT, TimeUnit.MILLISECONDS)
          .keySet()
          .forEach(slot -> keys.add(terms.keyPrefix() + ":nodes:" + slot));
      RedisURI redis = RedisURI.create(uri);
      redis.setTimeout(Duration.ofMillis(COMMAND_TIMEOUT));
      RedisClient client = RedisClient.create(redis);
      try {
        client.connect().sync().del(keys.toArray(String[]::new));
      } finally {
        client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
      }
    } catch (Exception e) {
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      }
      terminal.line("   keys of this run are left: " + terms.keyPrefix() + ":*");
    }
  }

  private static void delete(Path directory) {
    try (Stream<Path> tree = Files.walk(directory)) {
      for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    } catch (IOException e) {
      // The system clears its temporary directory too.
    }
  }
}
