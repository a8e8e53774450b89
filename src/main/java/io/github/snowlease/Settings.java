package io.github.snowlease;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The settings of one start, resolved and checked against each other: builder, then system
 * property, then environment, then default. A value that breaks a rule is refused with the rule,
 * the value and where it came from; nothing is rewritten silently.
 */
final class Settings {
  private static final Pattern DURATION = Pattern.compile("(\\d{1,9}(?:\\.\\d{1,3})?)(ms|s|m|h)?");
  private static final String WHOLE_NUMBER = "a whole number >= 0 is needed";

  /** An id that was left open; no setting takes a negative number. */
  private static final Integer ANY = -1;

  private static final String SANE_DURATION = "a duration is whole milliseconds, 0 to 1 day";
  private static final Duration MAX_DURATION = Duration.ofDays(1);
  private static final long MAX_COMMAND_TIMEOUT = 2_000;
  private static final long MAX_HEARTBEAT = 3_000;
  private static final long MIN_ACQUIRE_TIMEOUT = 60_000;

  /** A value and where it came from. */
  private record Sourced<T>(T value, String origin) {
    String show(Setting setting) {
      return setting.title + "=" + (value.equals(ANY) ? "any" : value) + " (from " + origin + ")";
    }
  }

  private final Map<Setting, Object> built;
  private final UnaryOperator<@Nullable String> properties;
  private final UnaryOperator<@Nullable String> environment;

  final String store;
  final BitLayout layout;
  final @Nullable Integer clusterId;
  final @Nullable Integer nodeId;
  final SlotRange range;
  final LeaseTerms terms;
  final LeaseTimings timings;
  final boolean closeOnJvmExit;
  final Ordering ordering;

  /**
   * Resolves and checks.
   *
   * @param built what the builder was told
   * @param properties system properties by name
   * @param environment environment variables by name
   * @throws IllegalArgumentException if a value cannot be read or breaks a rule
   */
  @SuppressWarnings("NullAway") // UnaryOperator<@Nullable String> takes names that are never null
  Settings(
      Map<Setting, Object> built,
      UnaryOperator<@Nullable String> properties,
      UnaryOperator<@Nullable String> environment) {
    this.built = new EnumMap<>(Setting.class);
    this.built.putAll(built);
    this.properties = properties;
    this.environment = environment;

    this.store = read(Setting.STORE, text -> text).value();
    this.ordering = read(Setting.ORDERING, Settings::ordering).value();
    Sourced<BitLayout> layoutSetting = read(Setting.LAYOUT, BitLayout::of);
    this.layout = layoutSetting.value();
    Sourced<Integer> cluster = read(Setting.CLUSTER_ID, Settings::idOrAny);
    Sourced<Integer> node = read(Setting.NODE_ID, Settings::idOrAny);
    this.clusterId = cluster.value().equals(ANY) ? null : cluster.value();
    this.nodeId = node.value().equals(ANY) ? null : node.value();
    this.range =
        checked(
            () -> SlotRange.of(layout, clusterId, nodeId),
            cluster.show(Setting.CLUSTER_ID)
                + " "
                + node.show(Setting.NODE_ID)
                + " "
                + layoutSetting.show(Setting.LAYOUT));

    if (isUnleased() && (clusterId == null || nodeId == null)) {
      throw new IllegalArgumentException(
          "store=none leases nothing, so clusterId and nodeId must both be set, to a pair that no other"
              + " process has: "
              + cluster.show(Setting.CLUSTER_ID)
              + " "
              + node.show(Setting.NODE_ID));
    }

    Sourced<String> namespace = read(Setting.NAMESPACE, text -> text);
    Sourced<Duration> leaseTtl = readDuration(Setting.LEASE_TTL);
    Sourced<Duration> skew = readDuration(Setting.MAX_CLOCK_SKEW);
    Sourced<Integer> minReplicas = read(Setting.MIN_REPLICAS, Settings::count);
    boolean trustEmpty = read(Setting.TRUST_EMPTY_REDIS, Settings::flag).value();
    long maxClockSkew = skew.value().toMillis();
    if (maxClockSkew < 1_100) {
      throw new IllegalArgumentException(
          "maxClockSkew must be >= 1.1s, as the store needs time to answer: "
              + skew.show(Setting.MAX_CLOCK_SKEW));
    }
    this.terms =
        checked(
            () ->
                new LeaseTerms(
                    namespace.value(),
                    layout.toString(),
                    leaseTtl.value().toMillis(),
                    maxClockSkew,
                    minReplicas.value(),
                    Math.min(MAX_COMMAND_TIMEOUT, maxClockSkew - 1_000),
                    trustEmpty),
            namespace.show(Setting.NAMESPACE) + " " + leaseTtl.show(Setting.LEASE_TTL));

    Sourced<Duration> heartbeat = readDuration(Setting.HEARTBEAT_INTERVAL);
    long heartbeatMillis =
        isDefault(heartbeat)
            ? Math.min(MAX_HEARTBEAT, terms.window() / 5)
            : heartbeat.value().toMillis();
    if (heartbeatMillis < 100) {
      throw new IllegalArgumentException(
          "heartbeatInterval must be >= 100ms: " + heartbeat.show(Setting.HEARTBEAT_INTERVAL));
    }
    if (2.4 * heartbeatMillis + terms.commandTimeout() > terms.window()) {
      throw new IllegalArgumentException(
          "2.4 x heartbeatInterval + commandTimeout must be <= leaseTtl - 5s, so that one renewal may"
              + " fail: "
              + heartbeat.show(Setting.HEARTBEAT_INTERVAL)
              + " commandTimeout="
              + terms.commandTimeout()
              + "ms "
              + leaseTtl.show(Setting.LEASE_TTL));
    }

    Sourced<Duration> acquire = readDuration(Setting.ACQUIRE_TIMEOUT);
    long needed = terms.quarantine() + 5_000;
    long acquireMillis =
        isDefault(acquire) ? Math.max(MIN_ACQUIRE_TIMEOUT, needed) : acquire.value().toMillis();
    if (acquireMillis < needed && !trustEmpty) {
      throw new IllegalArgumentException(
          "acquireTimeout must be >= leaseTtl + 3 x maxClockSkew = "
              + needed
              + "ms, so that a start outlasts the quarantine of an empty store: "
              + acquire.show(Setting.ACQUIRE_TIMEOUT)
              + " "
              + leaseTtl.show(Setting.LEASE_TTL)
              + " "
              + skew.show(Setting.MAX_CLOCK_SKEW));
    }
    long maxWaitMillis = readDuration(Setting.MAX_WAIT).value().toMillis();
    this.timings = new LeaseTimings(heartbeatMillis, acquireMillis, maxWaitMillis);
    this.closeOnJvmExit = read(Setting.CLOSE_ON_JVM_EXIT, Settings::flag).value();
  }

  /** Whether ids are assigned by hand, and no store is asked. */
  boolean isUnleased() {
    return store.equalsIgnoreCase(UnleasedStore.NAME);
  }

  private static boolean isDefault(Sourced<?> setting) {
    return setting.origin().equals("default");
  }

  private Sourced<Duration> readDuration(Setting setting) {
    return read(setting, Settings::duration);
  }

  @SuppressWarnings("unchecked") // the builder's methods are typed
  private <T> Sourced<T> read(Setting setting, Function<String, T> parser) {
    Object fromBuilder = built.get(setting);
    if (fromBuilder != null) {
      return checked(
          () -> {
            T value = (T) fromBuilder;
            if (value instanceof Duration duration) {
              requireSane(duration);
            } else if (value instanceof Integer number && number < 0) {
              throw new IllegalArgumentException(WHOLE_NUMBER);
            }
            return new Sourced<>(value, "builder");
          },
          setting.title + "=" + shown(setting, fromBuilder.toString()) + " (from builder)");
    }
    String text = properties.apply(setting.property);
    String origin = "system property " + setting.property;
    if (text == null) {
      for (String variable : setting.variables) {
        String found = environment.apply(variable);
        if (found == null) {
          continue;
        }
        if (text != null && !found.strip().equals(text.strip())) {
          throw new IllegalArgumentException(
              setting.title
                  + " must be set once: "
                  + origin
                  + "="
                  + shown(setting, text)
                  + " environment variable "
                  + variable
                  + "="
                  + shown(setting, found));
        }
        text = found;
        origin = "environment variable " + variable;
      }
    }
    if (text == null) {
      text = setting.defaultText;
      origin = "default";
    }
    String stripped = text.strip();
    String from = origin;
    return checked(
        () -> {
          if (stripped.isEmpty()) {
            throw new IllegalArgumentException(setting.title + " must not be empty");
          }
          return new Sourced<>(parser.apply(stripped), from);
        },
        setting.title + "=" + shown(setting, stripped) + " (from " + from + ")");
  }

  /** A store's URI may carry a password. */
  private static String shown(Setting setting, String text) {
    return setting == Setting.STORE ? "…" : text;
  }

  private interface Check<T> {
    T run();
  }

  private static <T> T checked(Check<T> check, String where) {
    try {
      return check.run();
    } catch (IllegalArgumentException | DateTimeParseException | ArithmeticException e) {
      throw new IllegalArgumentException(e.getMessage() + ": " + where, e);
    }
  }

  private static int idOrAny(String text) {
    return text.equalsIgnoreCase("any") ? ANY : count(text);
  }

  private static int count(String text) {
    if (!text.matches("\\d{1,9}")) {
      throw new IllegalArgumentException(WHOLE_NUMBER);
    }
    return Integer.parseInt(text);
  }

  private static boolean flag(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new IllegalArgumentException("true or false is needed");
    };
  }

  private static Ordering ordering(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "total" -> Ordering.TOTAL;
      case "per-thread" -> Ordering.PER_THREAD;
      default -> throw new IllegalArgumentException("total or per-thread is needed");
    };
  }

  /** Reads {@code 30}, {@code 30s}, {@code 1500ms}, {@code PT30S}; a bare number means seconds. */
  static Duration duration(String text) {
    Matcher matcher = DURATION.matcher(text.toLowerCase(Locale.ROOT));
    if (!matcher.matches()) {
      try {
        return requireSane(Duration.parse(text));
      } catch (DateTimeParseException e) {
        throw new IllegalArgumentException("a duration is like 30, 30s, 1500ms or PT30S", e);
      }
    }
    String unit = matcher.group(2);
    long millisPerUnit =
        switch (unit == null ? "s" : unit) {
          case "ms" -> 1;
          case "m" -> 60_000;
          case "h" -> 3_600_000;
          default -> 1_000;
        };
    BigDecimal millis =
        new BigDecimal(matcher.group(1)).multiply(BigDecimal.valueOf(millisPerUnit));
    if (millis.stripTrailingZeros().scale() > 0) {
      throw new IllegalArgumentException(SANE_DURATION);
    }
    return requireSane(Duration.ofMillis(millis.longValueExact()));
  }

  private static Duration requireSane(Duration duration) {
    if (duration.isNegative()
        || duration.compareTo(MAX_DURATION) > 0
        || !duration.truncatedTo(ChronoUnit.MILLIS).equals(duration)) {
      throw new IllegalArgumentException(SANE_DURATION);
    }
    return duration;
  }
}
