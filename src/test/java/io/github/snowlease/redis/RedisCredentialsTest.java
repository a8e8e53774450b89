package io.github.snowlease.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseStore.Granted;
import io.github.snowlease.LeaseStore.Renewed;
import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.LeaseStoreException.Reason;
import io.github.snowlease.testing.RedisExtension;
import io.github.snowlease.testing.RedisServer;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.DisplayNameGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Users and passwords that change while a store is open. */
@ExtendWith(RedisExtension.class)
@DisplayNameGeneration(DisplayNameGenerator.ReplaceUnderscores.class)
class RedisCredentialsTest {
  @BeforeEach
  void setUser(RedisServer redis) {
    redis.command("ACL", "SETUSER", "app", "reset", "on", ">old", "~*", "+@all");
  }

  @Test
  void A_new_password_is_given_with_the_next_connection_and_the_lease_goes_on(RedisServer redis) {
    AtomicReference<String> password = new AtomicReference<>("old");
    RedisCredentialsProvider provider =
        RedisCredentialsProvider.from(() -> RedisCredentials.just("app", password.get()));
    try (LeaseStore store =
        RedisLeaseStore.builder().uri(redis.uri()).credentials(provider).build()) {
      Leasing leasing = new Leasing(store, Leasing.terms());
      await().ignoreExceptions().until(() -> leasing.claim() instanceof Granted);

      redis.command("ACL", "SETUSER", "app", "resetpass", ">new");
      // Redis leaves those alone who are connected.
      assertThat(leasing.renew()).isInstanceOf(Renewed.class);
      redis.command("CLIENT", "KILL", "USER", "app");
      LeaseStoreException refused =
          await()
              .until(
                  () -> catchThrowableOfType(LeaseStoreException.class, leasing::renew),
                  failure -> failure != null && failure.reason() == Reason.UNAUTHENTICATED);
      assertThat(refused).hasMessageContaining("WRONGPASS");
      password.set("new");

      await().ignoreExceptions().until(() -> leasing.renew() instanceof Renewed);
    }
  }

  @Test
  void Credentials_that_come_in_a_stream_are_given_on_the_connection_that_stands(
      RedisServer redis) {
    redis.command("ACL", "SETUSER", "next", "reset", "on", ">new", "~*", "+@all");
    Sinks.Many<RedisCredentials> stream = Sinks.many().replay().latest();
    stream.tryEmitNext(RedisCredentials.just("app", "old")).orThrow();
    RedisCredentialsProvider provider =
        new RedisCredentialsProvider() {
          @Override
          public Mono<RedisCredentials> resolveCredentials() {
            return credentials().next();
          }

          @Override
          public boolean supportsStreaming() {
            return true;
          }

          @Override
          public Flux<RedisCredentials> credentials() {
            return stream.asFlux();
          }
        };
    try (LeaseStore store =
        RedisLeaseStore.builder().uri(redis.uri()).credentials(provider).build()) {
      Leasing leasing = new Leasing(store, Leasing.terms());
      await().ignoreExceptions().until(() -> leasing.claim() instanceof Granted);
      String before = connection(redis, "app");

      stream.tryEmitNext(RedisCredentials.just("next", "new")).orThrow();

      await().until(() -> connection(redis, "next").equals(before));
      redis.command("ACL", "DELUSER", "app");
      assertThat(leasing.renew()).isInstanceOf(Renewed.class);
    }
  }

  /** The id of the one connection of a user. */
  private static String connection(RedisServer redis, String user) {
    return redis
        .command("CLIENT", "LIST")
        .lines()
        .filter(line -> line.contains("user=" + user + " ") || line.endsWith("user=" + user))
        .map(line -> line.substring(0, line.indexOf(' ')))
        .findFirst()
        .orElse("none");
  }
}
