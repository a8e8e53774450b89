package io.github.snowlease.redis;

import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Reads the URI of a store, and shows it without its secrets. */
final class StoreUri {
  private static final Set<String> SCHEMES =
      Set.of(
          RedisURI.URI_SCHEME_REDIS,
          RedisURI.URI_SCHEME_REDIS_SECURE,
          RedisURI.URI_SCHEME_REDIS_SOCKET,
          RedisURI.URI_SCHEME_REDIS_SENTINEL,
          RedisURI.URI_SCHEME_REDIS_SENTINEL_SECURE);

  private static final Pattern HOST_AND_PORT = Pattern.compile("([^:]+):(\\d{1,5})");

  private StoreUri() {}

  static boolean isScheme(String scheme) {
    return SCHEMES.contains(scheme);
  }

  /**
   * Reads a URI.
   *
   * @param text the URI, with credentials perhaps
   * @param commandTimeout what every step of connecting may take
   * @throws IllegalArgumentException if it cannot be read; the message shows its scheme alone
   */
  static RedisURI parse(String text, Duration commandTimeout) {
    int colon = text.indexOf(':');
    String scheme = colon < 0 ? "" : text.substring(0, colon).toLowerCase(Locale.ROOT);
    if (!isScheme(scheme)) {
      throw unreadable("its scheme is none of " + SCHEMES.stream().sorted().toList());
    }
    RedisURI uri;
    try {
      uri = RedisURI.create(text);
    } catch (RuntimeException e) {
      // The cause would repeat the URI, and with it the password.
      throw unreadable("scheme=" + scheme);
    }
    splitPort(uri);
    uri.setTimeout(commandTimeout);
    // Else one that hangs is waited for so long that the next one's turn never comes.
    uri.getSentinels().forEach(sentinel -> sentinel.setTimeout(commandTimeout));
    return uri;
  }

  /** Names with an underscore, as container networks have them, are left joined with their port. */
  private static void splitPort(RedisURI uri) {
    String host = uri.getHost();
    if (host == null || host.indexOf(':') < 0 || host.startsWith("[")) {
      return;
    }
    Matcher parts = HOST_AND_PORT.matcher(host);
    if (!parts.matches()) {
      throw unreadable("host and port cannot be told apart");
    }
    uri.setHost(parts.group(1));
    uri.setPort(Integer.parseInt(parts.group(2)));
  }

  private static IllegalArgumentException unreadable(String detail) {
    return new IllegalArgumentException(
        "store must be redis://[[user]:password@]host[:port][/database], rediss://…,"
            + " redis-socket://[[user]:password@]/path[?db=number]"
            + " or redis-sentinel://host[:port],…[/database]#master,"
            + " with special characters of a password percent-encoded: "
            + detail);
  }

  /** Where it points, without user, password and parameters. */
  static String describe(RedisURI uri) {
    String tls = uri.isSsl() ? "rediss" : "redis";
    if (uri.getSocket() != null) {
      return "Redis at redis-socket://" + uri.getSocket() + database(uri);
    }
    if (!uri.getSentinels().isEmpty()) {
      String sentinels =
          uri.getSentinels().stream()
              .map(sentinel -> sentinel.getHost() + ":" + sentinel.getPort())
              .collect(Collectors.joining(","));
      return "Redis at "
          + tls
          + "-sentinel://"
          + sentinels
          + database(uri)
          + "#"
          + uri.getSentinelMasterId();
    }
    return "Redis at " + tls + "://" + uri.getHost() + ":" + uri.getPort() + database(uri);
  }

  private static String database(RedisURI uri) {
    if (uri.getDatabase() == 0) {
      return "";
    }
    return (uri.getSocket() != null ? "?db=" : "/") + uri.getDatabase();
  }
}
