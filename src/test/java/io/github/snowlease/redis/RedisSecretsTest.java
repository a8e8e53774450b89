package io.github.snowlease.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.PatternLayout;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.AppenderBase;
import io.github.snowlease.LeaseStore;
import io.github.snowlease.Snowflake;
import io.github.snowlease.SnowflakeBuilder;
import io.github.snowlease.testing.RedisExtension;
import io.github.snowlease.testing.RedisServer;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.DisplayNameGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;

/** All that can be read of a whole life, with every logger at TRACE: no password and no token. */
@ExtendWith(RedisExtension.class)
@DisplayNameGeneration(DisplayNameGenerator.ReplaceUnderscores.class)
class RedisSecretsTest {
  private static final String PASSWORD = "sesame-1f77c2";
  private static final String WRONG = "barley-90aa4e";

  private String namespace = "";

  @SuppressWarnings("JdkObsolete") // written by several threads
  private final StringBuffer seen = new StringBuffer();

  private final Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
  private final List<Appender<ILoggingEvent>> console = new ArrayList<>();
  private final Recorder recorder = new Recorder();

  @BeforeEach
  void record() {
    root.iteratorForAppenders().forEachRemaining(console::add);
    console.forEach(root::detachAppender);
    recorder.start();
    root.addAppender(recorder);
    root.setLevel(Level.TRACE);
  }

  @AfterEach
  void goOn() {
    root.setLevel(Level.WARN);
    root.detachAppender(recorder);
    console.forEach(root::addAppender);
  }

  @Test
  void A_whole_life_shows_neither_password_nor_token(RedisServer redis) throws Exception {
    redis.command("ACL", "SETUSER", "app", "on", ">" + PASSWORD, "~*", "+@all");
    // The first connection of a cold client may take longer than it may.
    await().ignoreExceptions().until(() -> create(redis));
    see(catchThrowable(() -> builder(redis, WRONG).start()));
    see(catchThrowable(() -> builder(redis, WRONG + "%zz").start()));

    Snowflake ids = builder(redis, PASSWORD).start();
    ids.nextId();
    String slot = ids.status().slot().orElseThrow().toString();
    String lease = redis.command("GET", "{" + namespace + "}:nodes:" + slot);
    String token = lease.substring("{\"token\":\"".length(), lease.indexOf("\",\"host\""));
    awaitRenewal(ids);
    seeStateOf(ids);

    // The password changes and the connection breaks: every attempt fails until it is set back.
    redis.command("ACL", "SETUSER", "app", "resetpass", ">" + WRONG);
    redis.command("CLIENT", "KILL", "USER", "app");
    await().until(() -> ids.status().toString().contains("WRONGPASS") || logged("WRONGPASS"));
    seeStateOf(ids);
    redis.command("ACL", "SETUSER", "app", "resetpass", ">" + PASSWORD);
    awaitRenewal(ids);
    redis.command("DEL", "{" + namespace + "}:ledger");
    redis.command("SET", "{" + namespace + "}:ledger", "foreign");
    await().until(() -> logged("WRONGTYPE"));
    redis.command("DEL", "{" + namespace + "}:ledger");
    ids.close();
    see(catchThrowable(ids::nextId));
    seeStateOf(ids);

    assertThat(seen)
        .as("what was recorded")
        .contains("io.lettuce.core.protocol.CommandHandler", "Buffer: ", "snowlease-redis-");
    assertThat(token).matches("[0-9a-f]{32}");
    assertThat(linesWith(PASSWORD)).isEmpty();
    assertThat(linesWith(WRONG)).isEmpty();
    assertThat(linesWith(token)).isEmpty();
  }

  private boolean create(RedisServer redis) {
    namespace = "secrets-" + UUID.randomUUID();
    builder(redis, PASSWORD).createNamespace();
    return true;
  }

  private SnowflakeBuilder builder(RedisServer redis, String password) {
    return Snowflake.builder()
        .store(redis.uri().replace("//", "//app:" + password + "@"))
        .namespace(namespace)
        .leaseTtl(Duration.ofSeconds(10));
  }

  private static void awaitRenewal(Snowflake ids) {
    long asked = System.nanoTime();
    await()
        .atMost(Duration.ofSeconds(20))
        .until(
            () ->
                ids.status().sinceRenewal().orElse(Duration.ofHours(1)).toNanos()
                    < System.nanoTime() - asked);
  }

  private boolean logged(String word) {
    return seen.indexOf(word) >= 0;
  }

  private void see(Throwable failure) {
    assertThat(failure).isNotNull();
    StringWriter text = new StringWriter();
    failure.printStackTrace(new PrintWriter(text));
    seen.append(text).append('\n');
  }

  private void seeStateOf(Snowflake ids) throws Exception {
    seen.append(ids).append('\n').append(ids.status()).append('\n');
    Thread.getAllStackTraces().keySet().forEach(t -> seen.append(t.getName()).append('\n'));
    seen.append(ManagementFactory.getPlatformMBeanServer().queryNames(null, null)).append('\n');
    LeaseStore store = RedisLeaseStore.builder().uri("redis://app:" + PASSWORD + "@[::1]").build();
    seen.append(store).append('\n');
    store.close();
  }

  private List<String> linesWith(String secret) {
    return seen.toString().lines().filter(line -> line.contains(secret)).toList();
  }

  /** Writes each event with its stack trace, its thread and its logger. */
  private final class Recorder extends AppenderBase<ILoggingEvent> {
    private final PatternLayout layout = new PatternLayout();

    @Override
    public void start() {
      LoggerContext context = root.getLoggerContext();
      setContext(context);
      layout.setContext(context);
      layout.setPattern("%level [%thread] %logger: %msg%n%ex{full}");
      layout.start();
      super.start();
    }

    @Override
    protected void append(ILoggingEvent event) {
      seen.append(layout.doLayout(event));
    }
  }
}
