package io.github.snowlease.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A redis-server that is a child of this JVM. */
final class RedisProcess implements RedisBackend {

  private static final long EXIT_LIMIT_SECONDS = 15;

  private final Path executable;
  private final Path directory;
  private final Path data;
  private final Path log;
  private final Path config;
  private final boolean sentinel;
  private @Nullable Process process;

  /**
   * @param configLines lines of redis.conf that come after, and so override, those written here;
   *     those that begin with {@code sentinel} make it a Sentinel
   */
  RedisProcess(Path executable, int port, List<String> configLines) {
    this.executable = executable;
    this.sentinel = configLines.stream().anyMatch(line -> line.startsWith("sentinel "));
    try {
      directory = TemporaryFiles.directory("snowlease-redis-");
      data = Files.createDirectory(directory.resolve("data"));
      log = directory.resolve("redis.log");
      config = directory.resolve("redis.conf");
      StringBuilder text = new StringBuilder();
      text.append("bind 127.0.0.1\n");
      text.append("port ").append(port).append('\n');
      text.append("unixsocket ").append(unixSocket()).append('\n');
      text.append("dir ").append(data).append('\n');
      for (String line : configLines) {
        text.append(line).append('\n');
      }
      Files.writeString(config, text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Path unixSocket() {
    return directory.resolve("redis.sock");
  }

  @Override
  public void start() {
    List<String> command = new ArrayList<>(List.of(executable.toString(), config.toString()));
    if (sentinel) {
      command.add("--sentinel");
    }
    try {
      process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
              .start();
      OrphanGuard.guard(process);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public boolean isRunning() {
    return process != null && process.isAlive();
  }

  @Override
  public long pid() {
    return running().pid();
  }

  @Override
  public void terminate() {
    Process redis = running();
    ProcessSignal.TERM.send(redis.pid());
    awaitExit(redis);
  }

  @Override
  public void kill() {
    Process redis = running();
    ProcessSignal.KILL.send(redis.pid());
    awaitExit(redis);
  }

  @Override
  public void pause() {
    ProcessSignal.STOP.send(running().pid());
  }

  @Override
  public void resume() {
    ProcessSignal.CONT.send(running().pid());
  }

  @Override
  public void deleteData() {
    try {
      TemporaryFiles.delete(data);
      Files.createDirectory(data);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public String log() {
    try {
      return Files.exists(log) ? Files.readString(log, UTF_8) : "";
    } catch (IOException e) {
      return "log unreadable: " + e;
    }
  }

  @Override
  public void close() {
    if (isRunning()) {
      kill();
    }
    TemporaryFiles.delete(directory);
  }

  private Process running() {
    if (process == null || !process.isAlive()) {
      throw new IllegalStateException("redis-server does not run");
    }
    return process;
  }

  private static void awaitExit(Process redis) {
    try {
      if (!redis.waitFor(EXIT_LIMIT_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException(
            "redis-server did not end within " + EXIT_LIMIT_SECONDS + " s: pid=" + redis.pid());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while redis-server ended", e);
    }
  }
}
