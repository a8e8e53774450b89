package io.github.snowlease.chaos;

import io.github.snowlease.testing.JavaProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/** A {@link ChaosMinter}, seen from the one that torments it. */
final class Minter implements AutoCloseable {
  private static final Optional<Path> LIBFAKETIME = findLibFakeTime();

  final Path record;
  final JavaProcess process;
  private final Path clock;
  boolean isLeaving;
  private boolean paused;
  private long minted;

  /** What it said: how often a start failed, by exception, and a lease was lost, by reason. */
  final Map<String, Integer> said = new TreeMap<>();

  private Minter(Path record, Path clock, JavaProcess process) {
    this.record = record;
    this.clock = clock;
    this.process = process;
  }

  /** Whether this machine can move the clock of a process. */
  static boolean canStepClocks() {
    return LIBFAKETIME.isPresent();
  }

  private static Optional<Path> findLibFakeTime() {
    try (Stream<Path> places = Files.list(Path.of("/usr/lib"))) {
      return places
          .flatMap(place -> Stream.of(place, place.resolve("faketime")))
          .map(place -> place.resolve("libfaketimeMT.so.1"))
          .filter(Files::exists)
          .findFirst()
          .or(
              () ->
                  Optional.of(Path.of("/usr/lib/faketime/libfaketimeMT.so.1"))
                      .filter(Files::exists));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  static Minter start(
      Path directory, int number, String uri, int idsPerSecond, Map<String, String> settings) {
    Path record = directory.resolve(number + ".ids");
    Path clock = directory.resolve(number + ".clock");
    setClock(clock, 0);
    JavaProcess.Builder builder =
        JavaProcess.of(ChaosMinter.class)
            .jvmOptions("-Xmx64m")
            .arguments(
                record.toString(),
                uri,
                directory.resolve("password").toString(),
                Integer.toString(idsPerSecond));
    System.getenv().keySet().stream()
        .filter(variable -> variable.startsWith("SNOWFLAKE_"))
        .forEach(variable -> builder.environment(variable, null));
    settings.forEach(builder::environment);
    LIBFAKETIME.ifPresent(
        library ->
            builder
                .environment("LD_PRELOAD", library.toString())
                .environment("FAKETIME_TIMESTAMP_FILE", clock.toString())
                .environment("FAKETIME_CACHE_DURATION", "1")
                .environment("FAKETIME_DONT_FAKE_MONOTONIC", "1")
                // Else each timed wait of the JVM, which is by the monotonic clock, ends at once.
                .environment("FAKETIME_FORCE_MONOTONIC_FIX", "0"));
    return new Minter(record, clock, builder.start());
  }

  /** Steps its wall clock to this many seconds off; it notices within a second. */
  void setClock(long secondsOff) {
    setClock(clock, secondsOff);
  }

  private static void setClock(Path clock, long secondsOff) {
    try {
      Path next = clock.resolveSibling(clock.getFileName() + ".next");
      Files.writeString(next, (secondsOff < 0 ? "" : "+") + secondsOff + "\n");
      Files.move(next, clock, java.nio.file.StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void pause() {
    process.pause();
    paused = true;
  }

  void resume() {
    process.resume();
    paused = false;
  }

  boolean isPaused() {
    return paused;
  }

  /** How many ids it has minted, as it last said. */
  long minted() {
    listen();
    return minted;
  }

  void listen() {
    List<String> lines = process.takeLines();
    for (String line : lines) {
      String[] words = line.split(" ", 3);
      switch (words[0]) {
        case "minted" -> minted = Long.parseLong(words[1]);
        case "nostart" -> said.merge("start failed: " + words[1], 1, Integer::sum);
        case "lost" -> said.merge("lease lost: " + line.substring(5), 1, Integer::sum);
        default -> {} // its log
      }
    }
  }

  @Override
  public void close() {
    process.close();
  }
}
