package io.github.snowlease.chaos;

import io.github.snowlease.testing.FakeTime;
import io.github.snowlease.testing.JavaProcess;
import io.github.snowlease.testing.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A {@link ChaosMinter}, seen from the one that torments it. */
final class Minter implements AutoCloseable {
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
    builder.environment(settings);
    builder.environment(FakeTime.offAsSaidIn(clock));
    return new Minter(record, clock, builder.start());
  }

  /** Makes the user that minters connect as known to a server, or gives it another password. */
  static void admit(RedisServer server, String password) {
    server.command(
        "ACL", "SETUSER", ChaosMinter.USER, "reset", "on", ">" + password, "~*", "&*", "+@all");
  }

  /** Steps its wall clock to this many seconds off; it notices within a second. */
  void setClock(long secondsOff) {
    setClock(clock, secondsOff);
  }

  private static void setClock(Path clock, long secondsOff) {
    try {
      Path next = clock.resolveSibling(clock.getFileName() + ".next");
      Files.writeString(next, (secondsOff < 0 ? "" : "+") + secondsOff + "\n");
      Files.move(next, clock, StandardCopyOption.ATOMIC_MOVE);
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
