package io.github.snowlease.testing;

import static org.awaitility.Awaitility.await;

import io.github.snowlease.testing.RedisSource.UnavailableException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A real Redis on its own port of 127.0.0.1, which a test may stop, kill, freeze and start again.
 * Most tests get one from {@link RedisExtension}.
 *
 * <p>Each command that Redis answered outlives {@link #kill()}: it keeps an append-only file. A
 * test that wants Redis to forget says {@link #restartEmpty()}, or {@code appendonly no} at launch.
 */
public final class RedisServer implements AutoCloseable {

  private static final Duration START_LIMIT = Duration.ofSeconds(20);
  private static final int PORT_ATTEMPTS = 10;
  private static final String HOST = "127.0.0.1";

  /**
   * Ports below those that the system gives to outgoing connections: else a client that tries to
   * reconnect while Redis is down may itself take Redis's port.
   */
  private static final int LOWEST_PORT = 20_000;

  private static final int HIGHEST_PORT = 32_000;

  private final RedisSource source;
  private final RedisBackend backend;
  private final int port;
  private final @Nullable String password;
  private boolean paused;
  private String version = "";

  private RedisServer(
      RedisSource source, RedisBackend backend, int port, @Nullable String password) {
    this.source = source;
    this.backend = backend;
    this.port = port;
    this.password = password;
  }

  /**
   * Starts a server from the {@linkplain RedisSource source} of this test run, and returns when it
   * answers.
   *
   * @param configLines lines as in redis.conf, which override the defaults of this class
   */
  public static RedisServer launch(String... configLines) {
    return launch(RedisSource.forThisRun(), configLines);
  }

  /**
   * As {@link #launch(String...)}, but never a container: with a unix socket, neighbours on
   * 127.0.0.1, and the files of this machine.
   */
  public static RedisServer launchProcess(String... configLines) {
    RedisSource source = RedisSource.forThisRun();
    return launch(
        source == RedisSource.TESTCONTAINERS ? RedisSource.EMBEDDED : source, configLines);
  }

  /** Starts a server from the given source, and returns when it answers. */
  public static RedisServer launch(RedisSource source, String... configLines) {
    List<String> lines = new ArrayList<>();
    lines.add("save \"\"");
    lines.add("appendonly yes");
    // The system keeps what was written when only the process dies: no need to wait for the disk.
    lines.add("appendfsync no");
    lines.add("auto-aof-rewrite-percentage 0");
    // A replica need not wait five seconds for others to come.
    lines.add("repl-diskless-sync-delay 0");
    lines.addAll(List.of(configLines));
    RedisSource.Launcher launcher;
    try {
      launcher = source.launcher();
    } catch (UnavailableException e) {
      throw new IllegalStateException(e.getMessage(), e);
    }
    for (int attempt = 1; ; attempt++) {
      int port = freePort();
      RedisServer server =
          new RedisServer(source, launcher.create(port, lines), port, password(lines));
      try {
        server.start();
        return server;
      } catch (RuntimeException e) {
        // Between our look at the port and Redis's, another process may take it.
        boolean portTaken = server.backend.log().contains("Address already in use");
        server.close();
        if (!portTaken || attempt == PORT_ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  /** The port, which stays the same for the life of this object. */
  public int port() {
    return port;
  }

  /** The address, as in {@code redis://127.0.0.1:21234}. */
  public String uri() {
    return "redis://" + HOST + ":" + port;
  }

  /** The unix socket, if this server has one; a container's cannot be reached. */
  public Optional<Path> unixSocket() {
    return backend instanceof RedisProcess process
        ? Optional.of(process.unixSocket())
        : Optional.empty();
  }

  /** The process id on the machine that runs Redis; another one after a restart. */
  public long pid() {
    return backend.pid();
  }

  /** What kind of server was taken. */
  public RedisSource source() {
    return source;
  }

  /** The server's own word for its version, as in {@code 6.2.11} or {@code 8.1.4 (valkey)}. */
  public String version() {
    return version;
  }

  /** What Redis wrote to its log so far. */
  public String log() {
    return backend.log();
  }

  /** Whether it runs, frozen or not. */
  boolean isRunning() {
    return backend.isRunning();
  }

  /** Ends Redis in good order, by a SIGTERM; returns when it has ended. */
  public void stop() {
    resume();
    backend.terminate();
  }

  /** Ends Redis at once, by a SIGKILL; returns when it has ended. */
  public void kill() {
    // A SIGKILL ends a frozen process too, but Docker refuses to send one to a paused container.
    resume();
    backend.kill();
  }

  /** Freezes Redis: connections stay open, and nothing answers. */
  public void pause() {
    if (!paused) {
      backend.pause();
      paused = true;
    }
  }

  /** Thaws Redis; nothing happens if it is not frozen. */
  public void resume() {
    if (paused) {
      backend.resume();
      paused = false;
    }
  }

  /** Starts Redis again on its port with its data, after a {@link #stop()} if it runs. */
  public void restart() {
    stopIfRunning();
    start();
  }

  /** Starts Redis again on its port without its data, after a {@link #stop()} if it runs. */
  public void restartEmpty() {
    stopIfRunning();
    backend.deleteData();
    start();
  }

  /** Brings Redis back if a test left it stopped or frozen. */
  void ensureAnswering() {
    resume();
    if (!backend.isRunning()) {
      start();
    }
  }

  /** A new connection that has given the password, if there is one. */
  public RespClient connect() throws IOException {
    RespClient client = RespClient.connect(HOST, port);
    if (password != null) {
      client.call("AUTH", password);
    }
    return client;
  }

  /**
   * Sends one command over a connection of its own and shows the reply as {@code redis-cli --raw}
   * does: an array one element a line, nil as an empty text.
   *
   * @throws RespClient.RedisErrorException if Redis answers with an error
   */
  public String command(String... command) {
    try (RespClient client = connect()) {
      return raw(client.call(command));
    } catch (IOException e) {
      throw new UncheckedIOException("no reply from " + uri() + " to " + command[0], e);
    }
  }

  /** Ends Redis and deletes what it left; may be called again. */
  @Override
  public void close() {
    resume();
    backend.close();
  }

  @Override
  public String toString() {
    return "Redis " + version + " from " + source.label() + " at " + uri();
  }

  private void stopIfRunning() {
    if (backend.isRunning()) {
      stop();
    }
  }

  private void start() {
    backend.start();
    try {
      await()
          .atMost(START_LIMIT)
          .pollDelay(Duration.ZERO)
          .pollInterval(Duration.ofMillis(10))
          .until(this::answers);
    } catch (ConditionTimeoutException e) {
      throw new IllegalStateException("Redis does not answer. Its log:\n" + backend.log(), e);
    }
  }

  private boolean answers() {
    if (!backend.isRunning()) {
      throw new IllegalStateException("Redis ended at its start. Its log:\n" + backend.log());
    }
    String info;
    try {
      // INFO answers even while Redis still reads its data; PING does not.
      command("PING");
      info = command("INFO", "server");
    } catch (UncheckedIOException | RespClient.RedisErrorException e) {
      return false;
    }
    // If our Redis lost the race for its port, then another one answers here.
    if (source != RedisSource.TESTCONTAINERS
        && !field(info, "process_id").equals(Long.toString(backend.pid()))) {
      return false;
    }
    String valkey = field(info, "valkey_version");
    version = valkey.isEmpty() ? field(info, "redis_version") : valkey + " (valkey)";
    return true;
  }

  private static String field(String info, String name) {
    return info.lines()
        .filter(line -> line.startsWith(name + ":"))
        .map(line -> line.substring(name.length() + 1).strip())
        .findFirst()
        .orElse("");
  }

  private static String raw(@Nullable Object reply) {
    if (reply instanceof List<?> elements) {
      return elements.stream().map(RedisServer::raw).collect(Collectors.joining("\n"));
    }
    return reply == null ? "" : reply.toString();
  }

  private static @Nullable String password(List<String> configLines) {
    return configLines.stream()
        .filter(line -> line.startsWith("requirepass "))
        .reduce((first, last) -> last)
        .map(line -> line.substring("requirepass ".length()).strip())
        .orElse(null);
  }

  /** A port of 127.0.0.1 that nobody listens on now. */
  public static int freePort() {
    Random random = new Random();
    for (int attempt = 0; attempt < 100; attempt++) {
      int port = random.nextInt(LOWEST_PORT, HIGHEST_PORT);
      try (ServerSocket socket = new ServerSocket()) {
        socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        return port;
      } catch (IOException e) {
        // Taken: try another.
      }
    }
    throw new IllegalStateException("no free port of 100 tried on 127.0.0.1");
  }
}
