package io.github.snowlease.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseStore.Granted;
import io.github.snowlease.LeaseStoreContract;
import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.testing.RedisServer;
import io.github.snowlease.testing.RespClient;
import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The laws, through a unix socket. The native transport that it needs is here for Linux alone. */
@EnabledOnOs(
    value = OS.LINUX,
    architectures = {"amd64", "x86_64"})
class RedisSocketTest extends LeaseStoreContract {
  private static RedisServer server;
  private static LeaseStore store;
  private static RespClient redis;

  @BeforeAll
  static void connect() throws IOException {
    server = RedisServer.launchProcess();
    store = RedisLeaseStore.builder().uri(uri("")).build();
    redis = server.connect();
  }

  @AfterAll
  static void disconnect() throws IOException {
    store.close();
    redis.close();
    server.close();
  }

  private static String uri(String userAndPassword) {
    return "redis-socket://" + userAndPassword + server.unixSocket().orElseThrow();
  }

  @Override
  protected LeaseStore store() {
    return store;
  }

  @Override
  protected BackDoor backDoor(LeaseTerms terms) {
    return new RedisBackDoor(redis, terms);
  }

  @Test
  void The_connection_is_one_of_the_socket() {
    assertThat(new Leasing(store, Leasing.terms()).claim()).isInstanceOf(Granted.class);

    assertThat(server.command("CLIENT", "LIST"))
        .containsPattern("addr=\\S*redis\\.sock:0 .*flags=U .*cmd=evalsha");
    assertThat(store).hasToString("RedisLeaseStore[Redis at " + uri("") + "]");
  }

  @Test
  void User_password_and_database_are_those_of_the_URI() {
    server.command("ACL", "SETUSER", "app", "on", ">secret", "~*", "+@all");
    LeaseTerms terms = Leasing.terms();
    try (LeaseStore other = RedisLeaseStore.builder().uri(uri("app:secret@") + "?db=3").build()) {
      assertThat(new Leasing(other, terms).claim()).isInstanceOf(Granted.class);

      assertThat(server.command("CLIENT", "LIST")).containsPattern("db=3 .*user=app");
      assertThat(server.command("EXISTS", terms.keyPrefix() + ":ledger")).isEqualTo("0");
      assertThat(other.toString()).doesNotContain("app", "secret").endsWith("?db=3]");
    }
  }

  @Test
  void Without_the_native_transport_the_error_names_it() throws Exception {
    try (URLClassLoader without = loaderWithoutNativeTransport()) {
      Class<?> alone = without.loadClass(Alone.class.getName());

      Object failure = alone.getMethod("claimAt", String.class).invoke(null, uri(""));

      assertThat((String) failure)
          .contains(
              "UNSUPPORTED",
              "Redis at " + uri(""),
              "native transport",
              "io.netty:netty-transport-native-epoll",
              "-kqueue");
    }
  }

  private static URLClassLoader loaderWithoutNativeTransport() {
    URL[] urls =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(entry -> !entry.contains("epoll"))
            .map(RedisSocketTest::url)
            .toArray(URL[]::new);
    return new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
  }

  private static URL url(String entry) {
    try {
      return Path.of(entry).toUri().toURL();
    } catch (MalformedURLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Runs where another class loader has classes of its own, and tells by what both know. */
  public static final class Alone {
    private Alone() {}

    public static String claimAt(String uri) {
      try (LeaseStore store = RedisLeaseStore.builder().uri(uri).build()) {
        return new Leasing(store, Leasing.terms()).claim().toString();
      } catch (LeaseStoreException e) {
        return e.reason() + " " + e.getMessage();
      }
    }
  }
}
