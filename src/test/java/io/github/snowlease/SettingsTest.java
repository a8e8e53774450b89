package io.github.snowlease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class SettingsTest {

  /** What a user set, where. */
  private static final class Sources {
    final Map<Setting, Object> builder = new EnumMap<>(Setting.class);
    final Map<String, String> properties = new HashMap<>();
    final Map<String, String> environment = new HashMap<>();

    Sources builder(Setting setting, Object value) {
      builder.put(setting, value);
      return this;
    }

    Sources property(String name, String value) {
      properties.put(name, value);
      return this;
    }

    Sources environment(String name, String value) {
      environment.put(name, value);
      return this;
    }

    Settings resolve() {
      return new Settings(builder, properties::get, environment::get);
    }

    void refused(String message) {
      assertThatIllegalArgumentException().isThrownBy(this::resolve).withMessage(message);
    }
  }

  private static Sources set() {
    return new Sources();
  }

  // ---- defaults and names

  @Test
  void holdsTheDefaultsOfTheDesign() {
    Settings settings = set().resolve();
    assertThat(settings.store).isEqualTo("redis://localhost:6379");
    assertThat(settings.layout).isEqualTo(BitLayout.standard());
    assertThat(settings.clusterId).isNull();
    assertThat(settings.nodeId).isNull();
    assertThat(settings.range).hasToString("0:0..31:31");
    assertThat(settings.terms)
        .isEqualTo(
            new LeaseTerms(
                "snowflake", BitLayout.standard().toString(), 30_000, 5_000, 0, 2_000, false));
    assertThat(settings.timings).isEqualTo(new LeaseTimings(3_000, 60_000, 1_000));
  }

  @Test
  void pinsTheNamesThatUsersSet() {
    assertThat(
            Arrays.stream(Setting.values())
                .map(s -> s.property + " " + String.join(",", s.variables) + " " + s.defaultText))
        .containsExactly(
            "snowflake.store SNOWFLAKE_STORE redis://localhost:6379",
            "snowflake.namespace SNOWFLAKE_NAMESPACE snowflake",
            "snowflake.cluster-id SNOWFLAKE_CLUSTER_ID any",
            "snowflake.node-id SNOWFLAKE_NODE_ID any",
            "snowflake.lease-ttl SNOWFLAKE_NODE_TTL,SNOWFLAKE_LEASE_TTL 30s",
            "snowflake.heartbeat-interval SNOWFLAKE_HEARTBEAT_INTERVAL 3s",
            "snowflake.acquire-timeout SNOWFLAKE_ACQUIRE_TIMEOUT 60s",
            "snowflake.max-wait SNOWFLAKE_MAX_WAIT 1s",
            "snowflake.max-clock-skew SNOWFLAKE_MAX_CLOCK_SKEW 5s",
            "snowflake.min-replicas SNOWFLAKE_MIN_REPLICAS 0",
            "snowflake.trust-empty-redis SNOWFLAKE_TRUST_EMPTY_REDIS false",
            "snowflake.close-on-jvm-exit SNOWFLAKE_CLOSE_ON_JVM_EXIT false",
            "snowflake.layout SNOWFLAKE_LAYOUT standard",
            "snowflake.ordering SNOWFLAKE_ORDERING total");
  }

  /** A value of each setting that differs from its default and is legal on its own. */
  private static String text(Setting setting) {
    return switch (setting) {
      case STORE -> "redis://example:1234";
      case NAMESPACE -> "orders";
      case CLUSTER_ID -> "3";
      case NODE_ID -> "7";
      case LEASE_TTL -> "20s";
      case HEARTBEAT_INTERVAL -> "2s";
      case ACQUIRE_TIMEOUT -> "90s";
      case MAX_WAIT -> "250ms";
      case MAX_CLOCK_SKEW -> "4s";
      case MIN_REPLICAS -> "2";
      case TRUST_EMPTY_REDIS, CLOSE_ON_JVM_EXIT -> "true";
      case LAYOUT -> "twitter";
      case ORDERING -> "per-thread";
    };
  }

  private static Object value(Setting setting) {
    return switch (setting) {
      case STORE, NAMESPACE -> text(setting);
      case CLUSTER_ID, NODE_ID, MIN_REPLICAS -> Integer.valueOf(text(setting));
      case LEASE_TTL, HEARTBEAT_INTERVAL, ACQUIRE_TIMEOUT, MAX_WAIT, MAX_CLOCK_SKEW ->
          Settings.duration(text(setting));
      case TRUST_EMPTY_REDIS, CLOSE_ON_JVM_EXIT -> true;
      case LAYOUT -> BitLayout.twitter();
      case ORDERING -> Ordering.PER_THREAD;
    };
  }

  /** What came of a setting. */
  private static Object resolved(Setting setting, Settings settings) {
    return switch (setting) {
      case STORE -> settings.store;
      case NAMESPACE -> settings.terms.namespace();
      case CLUSTER_ID -> settings.clusterId;
      case NODE_ID -> settings.nodeId;
      case LEASE_TTL -> Duration.ofMillis(settings.terms.leaseTtl());
      case HEARTBEAT_INTERVAL -> Duration.ofMillis(settings.timings.heartbeatMillis());
      case ACQUIRE_TIMEOUT -> Duration.ofMillis(settings.timings.acquireTimeoutMillis());
      case MAX_WAIT -> Duration.ofMillis(settings.timings.maxWaitMillis());
      case MAX_CLOCK_SKEW -> Duration.ofMillis(settings.terms.maxClockSkew());
      case MIN_REPLICAS -> settings.terms.minReplicas();
      case TRUST_EMPTY_REDIS -> settings.terms.trustEmptyStore();
      case CLOSE_ON_JVM_EXIT -> settings.closeOnJvmExit;
      case LAYOUT -> settings.layout;
      case ORDERING -> settings.ordering;
    };
  }

  private static Sources around(Setting setting) {
    Sources sources = set();
    return setting == Setting.NODE_ID ? sources.builder(Setting.CLUSTER_ID, 3) : sources;
  }

  @ParameterizedTest
  @EnumSource
  void takesEachSettingFromTheBuilder(Setting setting) {
    Settings settings = around(setting).builder(setting, value(setting)).resolve();
    assertThat(resolved(setting, settings)).isEqualTo(value(setting));
  }

  @ParameterizedTest
  @EnumSource
  void takesEachSettingFromItsSystemProperty(Setting setting) {
    Settings settings = around(setting).property(setting.property, text(setting)).resolve();
    assertThat(resolved(setting, settings)).isEqualTo(value(setting));
  }

  @ParameterizedTest
  @EnumSource
  void takesEachSettingFromEachOfItsEnvironmentVariables(Setting setting) {
    for (String variable : setting.variables) {
      Settings settings = around(setting).environment(variable, text(setting)).resolve();
      assertThat(resolved(setting, settings)).as(variable).isEqualTo(value(setting));
    }
  }

  @ParameterizedTest
  @EnumSource
  void prefersTheBuilderToThePropertyToTheEnvironment(Setting setting) {
    String variable = setting.variables.get(0);
    Sources sources = around(setting).environment(variable, "garbage £");
    sources.property(setting.property, text(setting));
    assertThat(resolved(setting, sources.resolve())).isEqualTo(value(setting));
    sources.property(setting.property, "garbage £").builder(setting, value(setting));
    assertThat(resolved(setting, sources.resolve())).isEqualTo(value(setting));
  }

  @ParameterizedTest
  @EnumSource
  void ignoresSpaceAroundAText(Setting setting) {
    Settings settings =
        around(setting).property(setting.property, "  " + text(setting) + "\n").resolve();
    assertThat(resolved(setting, settings)).isEqualTo(value(setting));
  }

  @Test
  void takesAnyForAnIdThatIsNotGiven() {
    Settings settings =
        set()
            .environment("SNOWFLAKE_CLUSTER_ID", "any")
            .property("snowflake.node-id", "ANY")
            .resolve();
    assertThat(settings.clusterId).isNull();
    assertThat(settings.nodeId).isNull();
  }

  // ---- two variables of one setting

  @Test
  void takesTheLeaseTtlFromEitherVariableAndFromBothIfTheyAgree() {
    Sources sources = set().environment("SNOWFLAKE_NODE_TTL", "20");
    assertThat(sources.resolve().terms.leaseTtl()).isEqualTo(20_000);
    sources.environment("SNOWFLAKE_LEASE_TTL", " 20 ");
    assertThat(sources.resolve().terms.leaseTtl()).isEqualTo(20_000);
  }

  @Test
  void refusesTwoLeaseTtlsThatContradict() {
    set()
        .environment("SNOWFLAKE_NODE_TTL", "20")
        .environment("SNOWFLAKE_LEASE_TTL", "30")
        .refused(
            "leaseTtl must be set once: environment variable SNOWFLAKE_NODE_TTL=20 environment"
                + " variable SNOWFLAKE_LEASE_TTL=30");
  }

  @Test
  void doesNotLookAtContradictingVariablesThatAPropertyOverrides() {
    Settings settings =
        set()
            .environment("SNOWFLAKE_NODE_TTL", "20")
            .environment("SNOWFLAKE_LEASE_TTL", "30")
            .property("snowflake.lease-ttl", "40")
            .resolve();
    assertThat(settings.terms.leaseTtl()).isEqualTo(40_000);
  }

  // ---- durations

  @ParameterizedTest
  @CsvSource({
    "30, 30000", "30s, 30000", "30S, 30000", "1500ms, 1500", "1.5, 1500", "1.5s, 1500",
    "0.001, 1", "0, 0", "2m, 120000", "1h, 3600000", "24h, 86400000", "PT30S, 30000",
    "pt1.5s, 1500", "P1D, 86400000", "PT1M, 60000"
  })
  void readsDurations(String text, long millis) {
    assertThat(Settings.duration(text)).isEqualTo(Duration.ofMillis(millis));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "s",
        "-1",
        "+1",
        "1 s",
        "1d",
        "1,5s",
        "1e3",
        "0x10",
        "٣s",
        "1.2345s",
        "PT",
        "P1Y",
        "30 seconds",
        "1234567890",
        "infinity"
      })
  void refusesATextThatIsNoDuration(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Settings.duration(text))
        .withMessage("a duration is like 30, 30s, 1500ms or PT30S");
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT-1S", "25h", "999999999h", "P2D", "PT0.0001S", "1.5ms", "0.5ms"})
  void refusesADurationThatIsNegativeTooLongOrTooFine(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Settings.duration(text))
        .withMessage("a duration is whole milliseconds, 0 to 1 day");
    set()
        .property("snowflake.max-wait", text)
        .refused(
            "a duration is whole milliseconds, 0 to 1 day: maxWait="
                + text
                + " (from system property snowflake.max-wait)");
  }

  @Test
  void refusesADurationOfTheBuilderThatIsNegativeTooLongOrTooFine() {
    for (Duration duration :
        List.of(
            Duration.ofMillis(-1),
            Duration.ofDays(2),
            Duration.ofSeconds(Long.MAX_VALUE),
            Duration.ofNanos(1))) {
      set()
          .builder(Setting.MAX_WAIT, duration)
          .refused(
              "a duration is whole milliseconds, 0 to 1 day: maxWait="
                  + duration
                  + " (from builder)");
    }
  }

  // ---- single values

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "snowflake.cluster-id| -1| a whole number >= 0 is needed: clusterId=-1",
        "snowflake.cluster-id| three| a whole number >= 0 is needed: clusterId=three",
        "snowflake.node-id| 1234567890| a whole number >= 0 is needed: nodeId=1234567890",
        "snowflake.min-replicas| 1.5| a whole number >= 0 is needed: minReplicas=1.5",
        "snowflake.min-replicas| any| a whole number >= 0 is needed: minReplicas=any",
        "snowflake.trust-empty-redis| yes| true or false is needed: trustEmptyRedis=yes",
        "snowflake.lease-ttl| soon"
            + "| a duration is like 30, 30s, 1500ms or PT30S: leaseTtl=soon",
        "snowflake.namespace| ''| namespace must not be empty: namespace=",
        "snowflake.layout| mine"
            + "| layout must be standard, twitter, javascript-safe, fastapi-best-architecture or"
            + " like epoch=1704067200000,tick=1,bits=41/5/5/12: layout=mine: layout=mine",
        "snowflake.layout| epoch=0,tick=1,bits=41/5/5/13"
            + "| timestampBits + clusterBits + nodeBits + sequenceBits must be <= 63: 41 + 5 + 5 +"
            + " 13 = 64: layout=epoch=0,tick=1,bits=41/5/5/13",
      })
  void refusesAValueAndNamesItAndItsOrigin(String property, String value, String message) {
    set().property(property, value).refused(message + " (from system property " + property + ")");
  }

  @ParameterizedTest
  @EnumSource(names = {"CLUSTER_ID", "NODE_ID", "MIN_REPLICAS"})
  void refusesANegativeNumberOfTheBuilder(Setting setting) {
    for (int negative : new int[] {-1, -5, Integer.MIN_VALUE}) {
      around(setting)
          .builder(setting, negative)
          .refused(
              "a whole number >= 0 is needed: "
                  + setting.title
                  + "="
                  + negative
                  + " (from builder)");
    }
  }

  @Test
  void refusesAnIdThatDoesNotFitTheLayout() {
    set()
        .environment("SNOWFLAKE_CLUSTER_ID", "32")
        .refused(
            "clusterId must be 0 to 31 in this layout: clusterId=32: clusterId=32 (from environment"
                + " variable SNOWFLAKE_CLUSTER_ID) nodeId=any (from default)"
                + " layout=epoch=1704067200000,tick=1,bits=41/5/5/12 (from default)");
  }

  @Test
  void refusesANodeIdWithoutAClusterId() {
    set()
        .builder(Setting.NODE_ID, 7)
        .refused(
            "nodeId needs a clusterId: nodeId=7: clusterId=any (from default) nodeId=7 (from"
                + " builder) layout=epoch=1704067200000,tick=1,bits=41/5/5/12 (from default)");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a b", "x{}", "{a}{b}", "a}b{", "{", "ns*", "ns\n2", "é", "a{b{c}}"})
  void refusesANameThatIsNoNamespace(String name) {
    set()
        .builder(Setting.NAMESPACE, name)
        .refused(
            "namespace must match [A-Za-z0-9._:-]+ with at most one non-empty {...}: namespace="
                + name
                + ": namespace="
                + name
                + " (from builder) leaseTtl=PT30S (from default)");
  }

  @ParameterizedTest
  @CsvSource({"orders, {orders}", "{orders}, {orders}", "a:{b}.c-d_9, a:{b}.c-d_9"})
  void takesANamespaceWithAndWithoutAHashTag(String name, String prefix) {
    assertThat(set().builder(Setting.NAMESPACE, name).resolve().terms.keyPrefix())
        .isEqualTo(prefix);
  }

  // ---- settings against each other

  @ParameterizedTest
  @CsvSource({"9s, PT9S, 9000", "10500ms, PT10.5S, 10500", "0, PT0S, 0"})
  void refusesALeaseTtlThatIsTooShortOrNotWholeSeconds(String text, String shown, long millis) {
    set()
        .environment("SNOWFLAKE_NODE_TTL", text)
        .refused(
            "leaseTtl must be whole seconds and >= 10s: leaseTtl="
                + millis
                + "ms: namespace=snowflake (from default) leaseTtl="
                + shown
                + " (from environment variable SNOWFLAKE_NODE_TTL)");
  }

  @Test
  void refusesAHeartbeatThatLeavesNoTimeForAFailedRenewal() {
    set()
        .environment("SNOWFLAKE_NODE_TTL", "20")
        .builder(Setting.HEARTBEAT_INTERVAL, Duration.ofMillis(5_417))
        .refused(
            "2.4 x heartbeatInterval + commandTimeout must be <= leaseTtl - 5s, so that one renewal"
                + " may fail: heartbeatInterval=PT5.417S (from builder) commandTimeout=2000ms"
                + " leaseTtl=PT20S (from environment variable SNOWFLAKE_NODE_TTL)");
    Settings settings =
        set()
            .environment("SNOWFLAKE_NODE_TTL", "20")
            .builder(Setting.HEARTBEAT_INTERVAL, Duration.ofMillis(5_416))
            .resolve();
    assertThat(settings.timings.heartbeatMillis()).isEqualTo(5_416);
  }

  @Test
  void refusesAHeartbeatThatIsTooFast() {
    set()
        .environment("SNOWFLAKE_HEARTBEAT_INTERVAL", "99ms")
        .refused(
            "heartbeatInterval must be >= 100ms: heartbeatInterval=PT0.099S (from environment"
                + " variable SNOWFLAKE_HEARTBEAT_INTERVAL)");
  }

  @Test
  void shortensTheDefaultHeartbeatToAFifthOfTheWindow() {
    assertThat(
            set()
                .builder(Setting.LEASE_TTL, Duration.ofSeconds(10))
                .resolve()
                .timings
                .heartbeatMillis())
        .isEqualTo(1_000);
  }

  @Test
  void refusesAClockSkewThatLeavesTheStoreNoTimeToAnswer() {
    set()
        .property("snowflake.max-clock-skew", "1099ms")
        .refused(
            "maxClockSkew must be >= 1.1s, as the store needs time to answer: maxClockSkew=PT1.099S"
                + " (from system property snowflake.max-clock-skew)");
  }

  @ParameterizedTest
  @CsvSource({"1100, 100", "2500, 1500", "3000, 2000", "60000, 2000"})
  void fitsTheCommandTimeoutToTheClockSkew(long skewMillis, long timeoutMillis) {
    Settings settings =
        set().builder(Setting.MAX_CLOCK_SKEW, Duration.ofMillis(skewMillis)).resolve();
    assertThat(settings.terms.commandTimeout()).isEqualTo(timeoutMillis);
  }

  @Test
  void refusesAnAcquireTimeoutThatEndsBeforeTheQuarantine() {
    Sources sources =
        set()
            .builder(Setting.ACQUIRE_TIMEOUT, Duration.ofMillis(44_999))
            .environment("SNOWFLAKE_MAX_CLOCK_SKEW", "5");
    sources.refused(
        "acquireTimeout must be >= leaseTtl + 3 x maxClockSkew = 45000ms, so that a start outlasts"
            + " the quarantine of an empty store: acquireTimeout=PT44.999S (from builder)"
            + " leaseTtl=PT30S (from default) maxClockSkew=PT5S (from environment variable"
            + " SNOWFLAKE_MAX_CLOCK_SKEW)");
    sources.builder(Setting.TRUST_EMPTY_REDIS, true);
    assertThat(sources.resolve().timings.acquireTimeoutMillis()).isEqualTo(44_999);
  }

  @Test
  void lengthensTheDefaultAcquireTimeoutBeyondTheQuarantine() {
    Settings settings = set().builder(Setting.LEASE_TTL, Duration.ofMinutes(2)).resolve();
    assertThat(settings.timings.acquireTimeoutMillis()).isEqualTo(135_000);
  }

  // ---- secrets and hostile input

  @Test
  void neverShowsTheStoresUri() {
    set()
        .environment("SNOWFLAKE_STORE", "  ")
        .refused("store must not be empty: store=… (from environment variable SNOWFLAKE_STORE)");
    assertThat(set().environment("SNOWFLAKE_STORE", " redis://u:p@host ").resolve().store)
        .isEqualTo("redis://u:p@host");
  }

  @Property(tries = 300)
  void showsNoPasswordWhateverElseIsWrong(@ForAll Setting wrong, @ForAll("hostile") String text) {
    Sources sources = set().builder(Setting.STORE, "redis://u:hunter2@host");
    if (wrong != Setting.STORE) {
      sources.property(wrong.property, text);
    }
    try {
      assertThat(sources.resolve().store).isEqualTo("redis://u:hunter2@host");
    } catch (IllegalArgumentException e) {
      for (Throwable t = e; t != null; t = t.getCause()) {
        assertThat(t.toString()).doesNotContain("hunter2");
      }
    }
  }

  @Property(tries = 500)
  void givesAValueOrARefusalThatNamesSettingAndOrigin(
      @ForAll Setting setting, @ForAll("hostile") String text, @ForAll boolean asProperty) {
    String variable = setting.variables.get(0);
    Sources sources = around(setting);
    if (asProperty) {
      sources.property(setting.property, text);
    } else {
      sources.environment(variable, text);
    }
    try {
      sources.resolve();
    } catch (IllegalArgumentException e) {
      assertThat(e)
          .hasMessageContaining(setting.title + "=")
          .hasMessageContaining(
              asProperty
                  ? "(from system property " + setting.property + ")"
                  : "(from environment variable " + variable + ")");
      return;
    }
    assertThat(text.strip()).isNotEmpty();
  }

  @Provide
  Arbitrary<String> hostile() {
    return Arbitraries.oneOf(
        Arbitraries.strings().ofMaxLength(30),
        Arbitraries.strings().withChars("0123456789.-+eEPTSMHmsh ").ofMaxLength(12),
        Arbitraries.strings().withChars("epochtikbs=,/0123456789-").ofMaxLength(45),
        Arbitraries.strings().withChars("{}az09:._-*\n\0").ofMaxLength(12),
        Arbitraries.strings().numeric().ofMinLength(1).ofMaxLength(25),
        Arbitraries.of(
            "",
            " ",
            "\0",
            "9".repeat(500),
            "a".repeat(1_000),
            "{".repeat(500),
            "PT9223372036854775807S",
            "P-106751991167300D",
            "2147483648",
            "999999999",
            "true ",
            "epoch=9999999999999999,tick=9999,bits=99/99/99/99",
            "epoch=0,tick=1000,bits=62/0/0/1",
            "epoch=0,tick=1,bits=1/30/30/2"));
  }

  // ---- the builder

  @Test
  void refusesASettingThatTheBuilderWasToldBefore() {
    Map<String, Consumer<SnowflakeBuilder>> setters = new HashMap<>();
    setters.put("store", b -> b.store("redis://a"));
    setters.put("namespace", b -> b.namespace("a"));
    setters.put("layout", b -> b.layout(BitLayout.standard()));
    setters.put("clusterId", b -> b.clusterId(1));
    setters.put("nodeId", b -> b.nodeId(1));
    setters.put("leaseTtl", b -> b.leaseTtl(Duration.ofSeconds(30)));
    setters.put("heartbeatInterval", b -> b.heartbeatInterval(Duration.ofSeconds(3)));
    setters.put("acquireTimeout", b -> b.acquireTimeout(Duration.ofSeconds(60)));
    setters.put("maxWait", b -> b.maxWait(Duration.ofSeconds(1)));
    setters.put("maxClockSkew", b -> b.maxClockSkew(Duration.ofSeconds(5)));
    setters.put("minReplicas", b -> b.minReplicas(0));
    setters.put("trustEmptyRedis", b -> b.trustEmptyRedis(false));
    setters.put("closeOnJvmExit", b -> b.closeOnJvmExit(false));
    setters.put("ordering", b -> b.ordering(Ordering.TOTAL));
    setters.put("listener", b -> b.listener(event -> {}));
    assertThat(setters).hasSize(Setting.values().length + 1);
    setters.forEach(
        (title, setter) -> {
          SnowflakeBuilder builder = Snowflake.builder();
          setter.accept(builder);
          assertThatIllegalStateException()
              .isThrownBy(() -> setter.accept(builder))
              .withMessage(title + " must be set once");
        });
  }

  @Test
  void refusesNothingForASetting() {
    assertThatNullPointerException()
        .isThrownBy(() -> Snowflake.builder().namespace(null))
        .withMessage("namespace");
    assertThatNullPointerException()
        .isThrownBy(() -> Snowflake.builder().listener(null))
        .withMessage("listener");
  }

  @Test
  void refusesToStartWithABrokenSettingBeforeItTouchesAStore() {
    SnowflakeBuilder builder =
        Snowflake.builder().store("redis://u:hunter2@localhost:1").clusterId(99);
    String message =
        "clusterId must be 0 to 31 in this layout: clusterId=99: clusterId=99 (from builder)"
            + " nodeId=any (from default)"
            + " layout=epoch=1704067200000,tick=1,bits=41/5/5/12 (from default)";
    assertThatIllegalArgumentException().isThrownBy(builder::start).withMessage(message);
    assertThatIllegalArgumentException().isThrownBy(builder::startAsync).withMessage(message);
    assertThatIllegalArgumentException().isThrownBy(builder::createNamespace).withMessage(message);
  }

  @Test
  void showsNothingOfAStoreWithoutAScheme() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Snowflake.builder().store("user:hunter2@localhost").start())
        .withMessage(
            "store must be a URI such as redis://localhost:6379 or file:slots, or none; see"
                + " snowflake.store and SNOWFLAKE_STORE");
  }

  @Test
  void readsTheSameInEveryLocale() {
    Locale before = Locale.getDefault();
    try {
      Locale.setDefault(Locale.forLanguageTag("tr-TR")); // where I is not the capital of i
      Settings settings =
          set()
              .property("snowflake.trust-empty-redis", "TRUE")
              .property("snowflake.max-wait", "1MS")
              .resolve();
      assertThat(settings.terms.trustEmptyStore()).isTrue();
      assertThat(settings.timings.maxWaitMillis()).isEqualTo(1);
    } finally {
      Locale.setDefault(before);
    }
  }
}
