package io.github.snowlease;

import java.util.List;

/** The settings, each with the names under which it is found: the one place where they stand. */
@SuppressWarnings("ImmutableEnumChecker") // List.of is immutable
enum Setting {
  STORE("store", "redis://localhost:6379", "SNOWFLAKE_STORE"),
  NAMESPACE("namespace", "snowflake", "SNOWFLAKE_NAMESPACE"),
  CLUSTER_ID("clusterId", "any", "SNOWFLAKE_CLUSTER_ID"),
  NODE_ID("nodeId", "any", "SNOWFLAKE_NODE_ID"),
  LEASE_TTL("leaseTtl", "30s", "SNOWFLAKE_NODE_TTL", "SNOWFLAKE_LEASE_TTL"),
  HEARTBEAT_INTERVAL("heartbeatInterval", "3s", "SNOWFLAKE_HEARTBEAT_INTERVAL"),
  ACQUIRE_TIMEOUT("acquireTimeout", "60s", "SNOWFLAKE_ACQUIRE_TIMEOUT"),
  MAX_WAIT("maxWait", "1s", "SNOWFLAKE_MAX_WAIT"),
  MAX_CLOCK_SKEW("maxClockSkew", "5s", "SNOWFLAKE_MAX_CLOCK_SKEW"),
  MIN_REPLICAS("minReplicas", "0", "SNOWFLAKE_MIN_REPLICAS"),
  TRUST_EMPTY_REDIS("trustEmptyRedis", "false", "SNOWFLAKE_TRUST_EMPTY_REDIS"),
  CLOSE_ON_JVM_EXIT("closeOnJvmExit", "false", "SNOWFLAKE_CLOSE_ON_JVM_EXIT"),
  LAYOUT("layout", "standard", "SNOWFLAKE_LAYOUT"),
  ORDERING("ordering", "total", "SNOWFLAKE_ORDERING");

  /** The name in the builder and in messages. */
  final String title;

  /** The system property. */
  final String property;

  /** The environment variables; of several, any may be set, but not to different values. */
  final List<String> variables;

  /** What holds if nothing is set. */
  final String defaultText;

  Setting(String title, String defaultText, String... variables) {
    this.title = title;
    this.defaultText = defaultText;
    this.variables = List.of(variables);
    StringBuilder name = new StringBuilder("snowflake.");
    for (int i = 0; i < title.length(); i++) {
      char c = title.charAt(i);
      if (Character.isUpperCase(c)) {
        name.append('-');
      }
      name.append(Character.toLowerCase(c));
    }
    this.property = name.toString();
  }
}
