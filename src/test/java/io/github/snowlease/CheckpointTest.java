package io.github.snowlease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.snowlease.testing.RedisExtension;
import io.github.snowlease.testing.RedisServer;
import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import org.crac.Core;
import org.crac.Resource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The hooks of a checkpoint, called by hand; the steps inside are in NodeLeaseManagerTest. */
@ExtendWith(RedisExtension.class)
class CheckpointTest {
  private final RedisServer redis;

  CheckpointTest(RedisServer redis) {
    this.redis = redis;
  }

  @Test
  void checkpointHandsTheSlotBackAtTheLastIdAndClosesEveryConnection() {
    try (Snowflake ids = start("dropped")) {
      String leased = ledgerOf("dropped", ids);
      String token = leased.split("\\|", -1)[1];
      assertThat(token).matches("[0-9a-f]{32}");
      Slot slot = ids.status().slot().orElseThrow();
      long last = ids.parse(ids.nextId()).timestamp().toEpochMilli();

      ids.beforeCheckpoint();

      String released = redis.command("HGET", "{dropped}:ledger", slot.toString());
      assertThat(released).startsWith(last + "||");
      assertThat(redis.command("EXISTS", "{dropped}:nodes:" + slot)).isEqualTo("0");
      assertThat(ids.status().isReady()).isFalse();
      await().untilAsserted(() -> assertThat(connections()).isEqualTo(1)); // the one that asks
      assertThatThrownBy(ids::nextId)
          .isInstanceOfSatisfying(
              NoLeaseException.class,
              e -> assertThat(e.reason()).isEqualTo(NoLeaseException.Reason.LOST));
      assertThat(connections()).isEqualTo(1);
    }
  }

  @Test
  void restoreLeasesAnewWithAnotherTokenAndIdsGoOnAboveTheOldOnes() {
    try (Snowflake ids = start("restored")) {
      String before = ledgerOf("restored", ids);
      long last = ids.nextId();
      ids.beforeCheckpoint();

      ids.afterRestore();

      await().until(() -> ids.status().isReady());
      assertThat(ids.nextId()).isGreaterThan(last);
      String after = ledgerOf("restored", ids);
      assertThat(after.split("\\|", -1)[1])
          .matches("[0-9a-f]{32}")
          .isNotEqualTo(before.split("\\|", -1)[1]);
      assertThat(after.split("\\|", -1)[2]).isNotEqualTo(before.split("\\|", -1)[2]);
    }
  }

  @Test
  void callThatWaitsDuringTheCheckpointGetsItsIdAfterTheRestore() {
    try (Snowflake ids = start("waiting")) {
      ids.beforeCheckpoint();
      CompletableFuture<Long> waiting = CompletableFuture.supplyAsync(ids::nextId);
      ids.afterRestore();
      assertThat(waiting).succeedsWithin(Duration.ofSeconds(10)).isNotNull();
    }
  }

  @Test
  void hooksAfterCloseDoNothing() {
    Snowflake ids = start("closed");
    ids.close();
    ids.beforeCheckpoint();
    ids.afterRestore();
    assertThat(ids.status().state()).isEqualTo(LeaseState.CLOSED);
    assertThatThrownBy(ids::nextId).isInstanceOf(NoLeaseException.class);
  }

  @Test
  void closeBetweenTheHooksEndsAsEver() {
    Snowflake ids = start("closed-between");
    ids.beforeCheckpoint();
    ids.close();
    ids.afterRestore();
    assertThat(ids.status().state()).isEqualTo(LeaseState.CLOSED);
  }

  @Test
  void hookIsAResourceThatRunsBothSteps() throws Exception {
    List<String> steps = new ArrayList<>();
    Resource hook =
        (Resource) CheckpointHook.register(() -> steps.add("before"), () -> steps.add("after"));
    hook.beforeCheckpoint(Core.getGlobalContext());
    hook.afterRestore(Core.getGlobalContext());
    assertThat(steps).containsExactly("before", "after");
  }

  @Test
  void withoutOrgCracOnTheClassPathIdsAreMintedAllTheSame() throws Exception {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    // Left open: the threads of a client that is being closed still load classes.
    ClassLoader loader = withoutCrac();
    try {
      thread.setContextClassLoader(loader);
      assertThatThrownBy(() -> loader.loadClass(Core.class.getName()))
          .isInstanceOf(ClassNotFoundException.class);
      Object builder =
          loader.loadClass(Snowflake.class.getName()).getMethod("builder").invoke(null);
      builder = call(builder, "store", String.class, redis.uri());
      builder = call(builder, "namespace", String.class, "without-crac");
      builder = call(builder, "trustEmptyRedis", boolean.class, true);
      try (AutoCloseable ids =
          (AutoCloseable) builder.getClass().getMethod("start").invoke(builder)) {
        assertThat(ids.getClass()).isNotEqualTo(Snowflake.class);
        assertThat(((LongSupplier) ids).getAsLong()).isPositive();
      }
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  private static Object call(Object target, String method, Class<?> type, Object argument)
      throws NoSuchMethodException, IllegalAccessException, InvocationTargetException {
    return target.getClass().getMethod(method, type).invoke(target, argument);
  }

  /** The class path of this test but for org.crac, in a loader that sees nothing else. */
  private static ClassLoader withoutCrac() throws MalformedURLException {
    List<URL> urls = new ArrayList<>();
    for (String entry :
        System.getProperty("java.class.path").split(Pattern.quote(File.pathSeparator), -1)) {
      if (!Path.of(entry).getFileName().toString().startsWith("crac-")) {
        urls.add(Path.of(entry).toUri().toURL());
      }
    }
    return new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
  }

  private Snowflake start(String namespace) {
    return Snowflake.builder()
        .store(redis.uri())
        .namespace(namespace)
        .trustEmptyRedis(true)
        .start();
  }

  /** The ledger's field of the slot that is held: {@code until|token|nonce}. */
  private String ledgerOf(String namespace, Snowflake ids) {
    Slot slot = ids.status().slot().orElseThrow();
    return redis.command("HGET", "{" + namespace + "}:ledger", slot.toString());
  }

  private long connections() {
    return redis.command("CLIENT", "LIST").lines().filter(l -> l.startsWith("id=")).count();
  }
}
