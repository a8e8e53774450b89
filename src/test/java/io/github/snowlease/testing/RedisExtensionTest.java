package io.github.snowlease.testing;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;

@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class RedisExtensionTest {

  @RegisterExtension
  static final RedisExtension REDIS = RedisExtension.with("databases 5", "requirepass secret");

  private static int port;

  @Test
  @Order(1)
  void givesAServerWithTheSettingsAskedFor(RedisServer redis) {
    port = redis.port();
    assertThat(redis.command("CONFIG", "GET", "databases")).isEqualTo("databases\n5");
    redis.kill();
  }

  @Test
  @Order(2)
  void givesAllTestsOfAClassTheSameServerAndBringsItBack(RedisServer redis) {
    assertThat(redis.port()).isEqualTo(port);
    assertThat(redis.command("PING")).isEqualTo("PONG");
  }

  @Nested
  class Inside {
    @Test
    void sharesTheServerOfTheClassAround(RedisServer redis) {
      assertThat(redis.port()).isEqualTo(port);
    }
  }
}
