package io.github.snowlease.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.argumentSet;

import io.github.snowlease.testing.RedisSource.UnavailableException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Each law runs on every source that this machine has, whichever the other tests take. */
class RedisServerTest {

  private static final Duration A_MOMENT = Duration.ofMillis(300);

  static Stream<Arguments> sources() {
    return Arrays.stream(RedisSource.values())
        .filter(RedisServerTest::isHere)
        .map(source -> argumentSet(source.label(), source));
  }

  private static boolean isHere(RedisSource source) {
    try {
      source.launcher();
      return true;
    } catch (UnavailableException e) {
      return false;
    }
  }

  @ParameterizedTest
  @MethodSource("sources")
  void answersOnItsPort(RedisSource source) {
    try (RedisServer redis = RedisServer.launch(source)) {
      assertThat(redis.command("PING")).isEqualTo("PONG");
      assertThat(redis.command("SET", "k", "v")).isEqualTo("OK");
      assertThat(redis.command("GET", "k")).isEqualTo("v");
      assertThat(redis.command("GET", "missing")).isEmpty();
      assertThat(redis.command("INCR", "n")).isEqualTo("1");
      assertThat(redis.command("CONFIG", "GET", "port")).isEqualTo("port\n" + redis.port());
      assertThat(redis.uri()).isEqualTo("redis://127.0.0.1:" + redis.port());
      assertThat(redis.source()).isEqualTo(source);
      assertThat(redis.version()).matches("\\d+\\.\\d+\\.\\d+( \\(valkey\\))?");
    }
  }

  @ParameterizedTest
  @MethodSource("sources")
  void throwsWhatRedisAnswersAsAnError(RedisSource source) {
    try (RedisServer redis = RedisServer.launch(source)) {
      assertThatThrownBy(() -> redis.command("NO-SUCH-COMMAND"))
          .isInstanceOf(RespClient.RedisErrorException.class)
          .hasMessageStartingWith("ERR unknown command");
    }
  }

  @ParameterizedTest
  @MethodSource("sources")
  void takesLinesOfItsConfigurationFile(RedisSource source) {
    try (RedisServer redis = RedisServer.launch(source, "requirepass secret", "databases 3")) {
      assertThat(redis.command("CONFIG", "GET", "databases")).isEqualTo("databases\n3");
    }
  }

  @ParameterizedTest
  @MethodSource("sources")
  void answersNothingWhileFrozenAndGoesOnWhenThawed(RedisSource source) throws IOException {
    try (RedisServer redis = RedisServer.launch(source)) {
      long pid = redis.pid();
      redis.pause();
      try (RespClient client = RespClient.connect("127.0.0.1", redis.port(), A_MOMENT)) {
        assertThatThrownBy(() -> client.call("PING")).isInstanceOf(SocketTimeoutException.class);
      }
      redis.resume();
      assertThat(redis.command("PING")).isEqualTo("PONG");
      assertThat(redis.pid()).isEqualTo(pid);
    }
  }

  @ParameterizedTest
  @MethodSource("sources")
  void refusesConnectionsWhenKilledAndComesBackWithItsData(RedisSource source) {
    try (RedisServer redis = RedisServer.launch(source)) {
      int port = redis.port();
      String runId = runId(redis);
      redis.command("SET", "k", "kept");
      redis.kill();
      assertThatThrownBy(() -> redis.command("PING")).isInstanceOf(UncheckedIOException.class);
      redis.restart();
      assertThat(redis.port()).isEqualTo(port);
      assertThat(redis.command("GET", "k")).isEqualTo("kept");
      assertThat(runId(redis)).isNotEqualTo(runId);
    }
  }

  @ParameterizedTest
  @MethodSource("sources")
  void endsInGoodOrderAndComesBackWithItsData(RedisSource source) {
    try (RedisServer redis = RedisServer.launch(source)) {
      redis.command("SET", "k", "kept");
      redis.stop();
      assertThat(redis.log()).contains("ready to exit, bye bye");
      redis.restart();
      assertThat(redis.command("GET", "k")).isEqualTo("kept");
    }
  }

  @ParameterizedTest
  @MethodSource("sources")
  void forgetsItsDataWhenAskedTo(RedisSource source) {
    try (RedisServer redis = RedisServer.launch(source)) {
      int port = redis.port();
      redis.command("SET", "k", "lost");
      redis.restartEmpty();
      assertThat(redis.port()).isEqualTo(port);
      assertThat(redis.command("DBSIZE")).isEqualTo("0");
    }
  }

  @ParameterizedTest
  @MethodSource("sources")
  void comesBackAfterWhateverATestDidToIt(RedisSource source) {
    try (RedisServer redis = RedisServer.launch(source)) {
      redis.pause();
      redis.ensureAnswering();
      assertThat(redis.command("PING")).isEqualTo("PONG");
      redis.kill();
      redis.ensureAnswering();
      assertThat(redis.command("PING")).isEqualTo("PONG");
    }
  }

  @ParameterizedTest
  @MethodSource("sources")
  void leavesNothingBehind(RedisSource source) {
    RedisServer redis = RedisServer.launch(source);
    long pid = redis.pid();
    Path socket = redis.unixSocket().orElse(Path.of("no-such-file"));
    redis.close();
    redis.close();
    assertThat(ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false)).isFalse();
    assertThat(socket.getParent() == null || Files.notExists(socket.getParent())).isTrue();
  }

  @ParameterizedTest
  @MethodSource("sources")
  void saysWhatRedisSaidWhenItDoesNotStart(RedisSource source) {
    assertThatIllegalStateException()
        .isThrownBy(() -> RedisServer.launch(source, "no-such-setting 1"))
        .withMessageContaining("no-such-setting");
  }

  @Test
  void embeddedRedisRunsOnThisMachine() {
    try (RedisServer redis = RedisServer.launch(RedisSource.choose("embedded"))) {
      assertThat(redis.source()).isEqualTo(RedisSource.EMBEDDED);
      assertThat(redis.version()).startsWith("6.2.");
      assertThat(redis.unixSocket()).get().satisfies(socket -> assertThat(socket).exists());
    }
  }

  @Test
  void refusesToInsistOnAnUnknownSource() {
    assertThatIllegalStateException()
        .isThrownBy(() -> RedisSource.choose("podman"))
        .withMessage(
            "SNOWLEASE_TEST_REDIS must be path, testcontainers or embedded:"
                + " SNOWLEASE_TEST_REDIS=podman");
  }

  @Test
  void takesTheFirstSourceThatThisMachineHas() {
    RedisSource first =
        Arrays.stream(RedisSource.values())
            .filter(RedisServerTest::isHere)
            .findFirst()
            .orElseThrow();
    assertThat(RedisSource.choose(null)).isEqualTo(first);
  }

  private static String runId(RedisServer redis) {
    return redis
        .command("INFO", "server")
        .lines()
        .filter(line -> line.startsWith("run_id:"))
        .findFirst()
        .orElseThrow();
  }
}
