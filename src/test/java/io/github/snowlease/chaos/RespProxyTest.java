package io.github.snowlease.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.snowlease.testing.RedisExtension;
import io.github.snowlease.testing.RedisServer;
import io.github.snowlease.testing.RespClient;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Each fault does to a real Redis what it says. */
@ExtendWith(RedisExtension.class)
class RespProxyTest {
  private static final Duration PATIENCE = Duration.ofMillis(150);
  private static final long LATE = 400;

  private final RedisServer redis;
  private final String key = "key-" + UUID.randomUUID();
  private volatile @Nullable NetworkFault fault;
  private final RespProxy proxy;

  RespProxyTest(RedisServer redis) {
    this.redis = redis;
    proxy =
        new RespProxy(
            redis.port(),
            new RespProxy.Plan() {
              @Override
              public @Nullable NetworkFault next(String command) {
                return command.equals("INCR") ? fault : null;
              }

              @Override
              public long delayMillis() {
                return LATE;
              }
            });
  }

  @AfterEach
  void close() {
    proxy.close();
  }

  private RespClient connect(Duration timeout) throws IOException {
    return RespClient.connect("127.0.0.1", proxy.port(), timeout);
  }

  private String count() {
    return redis.command("GET", key);
  }

  private void awaitCount(String expected) {
    await()
        .atMost(Duration.ofSeconds(5))
        .untilAsserted(() -> assertThat(count()).isEqualTo(expected));
  }

  @Test
  void withoutAFaultEverythingPasses() throws IOException {
    try (RespClient client = connect(Duration.ofSeconds(5))) {
      assertThat(client.call("INCR", key)).isEqualTo(1L);
      assertThat(client.call("GET", key)).isEqualTo("1");
      assertThat(client.call("GET", "no" + key)).isNull();
      assertThat(client.call("MGET", key, "no" + key))
          .isEqualTo(java.util.Arrays.asList("1", null));
      assertThat(client.call("EVAL", "return {1, {'two', 'three\\r\\n'}, {}}", "0"))
          .isEqualTo(List.of(1L, List.of("two", "three\r\n"), List.of()));
      assertThatThrownBy(() -> client.call("NONSENSE"))
          .isInstanceOf(RespClient.RedisErrorException.class);
    }
  }

  @Test
  void aReplyThatIsLostIsOfACommandThatWasExecutedAndNothingComesAfterIt() throws IOException {
    try (RespClient client = connect(PATIENCE)) {
      fault = NetworkFault.REPLY_LOST;
      assertThatThrownBy(() -> client.call("INCR", key)).isInstanceOf(SocketTimeoutException.class);
      awaitCount("1");
      assertThatThrownBy(() -> client.call("PING")).isInstanceOf(SocketTimeoutException.class);
    }
  }

  @Test
  void aLateCommandIsExecutedThoughItsClientHasGone() throws IOException {
    try (RespClient client = connect(PATIENCE)) {
      fault = NetworkFault.COMMAND_LATE;
      assertThatThrownBy(() -> client.call("INCR", key)).isInstanceOf(SocketTimeoutException.class);
    }
    assertThat(count()).isEmpty();
    awaitCount("1");
  }

  @Test
  void aLateReplyComesAtLast() throws IOException {
    try (RespClient client = connect(Duration.ofSeconds(5))) {
      fault = NetworkFault.REPLY_LATE;
      long begin = System.nanoTime();
      assertThat(client.call("INCR", key)).isEqualTo(1L);
      assertThat(System.nanoTime() - begin).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(LATE));
    }
  }

  @Test
  void aCommandIsExecutedTwiceAndRepliedToOnce() throws IOException {
    try (RespClient client = connect(Duration.ofSeconds(5))) {
      fault = NetworkFault.COMMAND_TWICE;
      assertThat(client.call("INCR", key)).isEqualTo(1L);
      assertThat(client.call("GET", key)).isEqualTo("2");
    }
  }

  @Test
  void aCommandIsExecutedAgainLaterThoughItsConnectionHasEnded() throws IOException {
    try (RespClient client = connect(Duration.ofSeconds(5))) {
      fault = NetworkFault.COMMAND_AGAIN_LATER;
      assertThat(client.call("INCR", key)).isEqualTo(1L);
    }
    assertThat(count()).isEqualTo("1");
    awaitCount("2");
  }

  @Test
  void aConnectionIsCutBeforeACommand() throws IOException {
    try (RespClient client = connect(Duration.ofSeconds(5))) {
      fault = NetworkFault.CUT_BEFORE;
      assertThatThrownBy(() -> client.call("INCR", key))
          .isInstanceOf(IOException.class)
          .isNotInstanceOf(SocketTimeoutException.class);
      assertThat(count()).isEmpty();
    }
  }

  @Test
  void aConnectionIsCutAfterACommand() throws IOException {
    try (RespClient client = connect(Duration.ofSeconds(5))) {
      fault = NetworkFault.CUT_AFTER;
      assertThatThrownBy(() -> client.call("INCR", key))
          .isInstanceOf(IOException.class)
          .isNotInstanceOf(SocketTimeoutException.class);
      awaitCount("1");
    }
  }

  @Test
  void aSlowReplyComesWhole() throws IOException {
    try (RespClient client = connect(Duration.ofSeconds(5))) {
      fault = NetworkFault.SLOW;
      assertThat(client.call("INCR", key)).isEqualTo(1L);
    }
  }
}
