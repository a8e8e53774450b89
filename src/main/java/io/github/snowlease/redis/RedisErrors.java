package io.github.snowlease.redis;

import static io.github.snowlease.LeaseStoreException.Reason.DENIED;
import static io.github.snowlease.LeaseStoreException.Reason.NO_REPLY;
import static io.github.snowlease.LeaseStoreException.Reason.OTHER;
import static io.github.snowlease.LeaseStoreException.Reason.UNAUTHENTICATED;
import static io.github.snowlease.LeaseStoreException.Reason.UNAVAILABLE;
import static io.github.snowlease.LeaseStoreException.Reason.UNREACHABLE;
import static io.github.snowlease.LeaseStoreException.Reason.UNSUPPORTED;
import static io.github.snowlease.LeaseStoreException.Reason.WRONG_TYPE;

import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.LeaseStoreException.Reason;
import io.github.snowlease.LeaseTerms;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.cluster.PartitionSelectorException;
import java.io.IOException;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CancellationException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Says in one line what went wrong with Redis and what to do, never with a secret. */
final class RedisErrors {
  /** How common.lua marks the command that failed within a script, and its key. */
  private static final Pattern WITHIN_SCRIPT =
      Pattern.compile(
          "\\b(TIME|HMGET|HGET|HSET|SET|GET|PTTL|PEXPIREAT|PERSIST|DEL|EXISTS) (\\S*): (.*)");

  /** Where the script stands is of no use to the reader. */
  private static final Pattern SCRIPT_POSITION =
      Pattern.compile("(?i),? *script: [0-9a-f]{40}.*|@?user_script: ?\\d+: *");

  /** Redis repeats the arguments of an unknown command, and AUTH has a password among them. */
  private static final Pattern ARGUMENTS = Pattern.compile("(?i),? with args beginning with.*");

  /** A connection that was ended by the other side. */
  private static final Pattern BROKEN = Pattern.compile("(?i)reset|closed|broken pipe|prematurely");

  private static final Pattern DENIED_COMMAND = Pattern.compile("run the '([^']+)' command");
  private static final Pattern UNKNOWN_COMMAND =
      Pattern.compile("(?i)unknown command .?([a-z]+)|unknown redis command called");

  /** A sign in Redis's error text, the kind of failure, and what to do about it. */
  private record Rule(String sign, Reason reason, String advice) {}

  /** In this order: a text may carry several signs, and the first that fits is the cause. */
  private static final List<Rule> RULES =
      List.of(
          // First: its text speaks of passwords too.
          new Rule(
              "protected mode",
              UNAUTHENTICATED,
              "it is in protected mode and lets in only local clients; set a password or bind address"
                  + " in Redis"),
          new Rule(
              "NOAUTH",
              UNAUTHENTICATED,
              "it demands a password; put user and password into the store's URI"),
          new Rule(
              "WRONGPASS",
              UNAUTHENTICATED,
              "user or password are wrong, or the user is disabled; check those in the store's URI"),
          new Rule("invalid password", UNAUTHENTICATED, "check the password in the store's URI"),
          new Rule(
              "without any password configured",
              UNAUTHENTICATED,
              "it has no password; take the one out of the store's URI, or set one in Redis"),
          new Rule(
              "no password is set",
              UNAUTHENTICATED,
              "it has no password; take the one out of the store's URI, or set one in Redis"),
          new Rule(
              "DB index is out of range",
              UNSUPPORTED,
              "it has no database of this number; correct the one at the end of the store's URI"),
          new Rule(
              "SELECT is not allowed in cluster mode",
              UNSUPPORTED,
              "a cluster has database 0 only; take the number off the end of the store's URI"),
          new Rule(
              "WRONGTYPE",
              WRONG_TYPE,
              "the key holds something else; choose another namespace, or move that key away"),
          new Rule(
              "READONLY",
              UNAVAILABLE,
              "it is a replica; point the store at the master, or at Sentinel or the cluster"),
          new Rule("LOADING", UNAVAILABLE, "it is loading its data; it serves once that is done"),
          new Rule(
              "OOM",
              UNAVAILABLE,
              "it is out of memory, so it grants no new lease, while holders go on renewing; raise"
                  + " maxmemory or free memory"),
          new Rule(
              "MISCONF",
              UNAVAILABLE,
              "it takes no writes because it cannot save to disk; look into Redis's log, free disk"
                  + " space or correct its directory"),
          new Rule(
              "BUSY",
              UNAVAILABLE,
              "a script of another application keeps it busy; it serves once that has ended, or after"
                  + " SCRIPT KILL"),
          new Rule("TRYAGAIN", UNAVAILABLE, "the cluster is moving the slot; it passes by itself"),
          new Rule(
              "CLUSTERDOWN",
              UNAVAILABLE,
              "the cluster does not serve this slot now; if it lasts, look at CLUSTER INFO"),
          new Rule(
              "MASTERDOWN",
              UNAVAILABLE,
              "it is a replica without its master; point the store at the master"),
          new Rule(
              "NOREPLICAS",
              UNAVAILABLE,
              "it lacks the replicas that its min-replicas-to-write demands; bring them back"),
          new Rule(
              "max number of clients",
              UNAVAILABLE,
              "it has as many clients as it allows; raise maxclients or close idle ones"),
          new Rule(
              "MOVED",
              UNSUPPORTED,
              "it is a node of a cluster; give the store a RedisClusterClient, or let the user run"
                  + " +info so that the store sees what it is"),
          new Rule(
              "ASK ",
              UNSUPPORTED,
              "it is a node of a cluster; give the store a RedisClusterClient, or let the user run"
                  + " +info so that the store sees what it is"));

  private RedisErrors() {}

  /** Translates why there is no connection; nothing was asked. */
  static LeaseStoreException beforeSending(Throwable failure, String where) {
    LeaseStoreException known = known(failure, where, "namespace");
    if (known != null) {
      return known;
    }
    Throwable root = chain(failure).get(chain(failure).size() - 1);
    String detail = root.getMessage() == null ? root.getClass().getSimpleName() : root.getMessage();
    if (isNoRedis(root)) {
      return new LeaseStoreException(
          UNSUPPORTED,
          where + ": what answers there is no Redis; check the host and the port",
          harmless(failure));
    }
    String advice = "check that it runs, and the way to it";
    if (root instanceof UnknownHostException) {
      advice = "check the name of the host, and that this machine can look it up";
    } else if (detail.contains("using sentinel")) {
      advice =
          "the Sentinels know no master of that name, or none answers; check the name after #, and"
              + " that they run";
    } else if (where.contains(" redis:") && BROKEN.matcher(detail).find()) {
      advice += "; if it demands TLS on this port, use rediss://";
    }
    return new LeaseStoreException(
        UNREACHABLE,
        where + " cannot be reached (" + oneLine(detail) + "): " + advice,
        harmless(failure));
  }

  /** No connection came about in time. */
  static LeaseStoreException tooSlow(String where, LeaseTerms terms) {
    // A server without TLS waits for the end of the line that it takes a handshake for.
    boolean tls = where.contains(" rediss");
    return new LeaseStoreException(
        UNREACHABLE,
        where
            + " cannot be reached: no connection within "
            + terms.commandTimeout()
            + "ms; check that it runs, and the way to it"
            + (tls ? "; if it does not speak TLS on this port, use redis:// or its TLS port" : ""),
        null);
  }

  /** Whether bytes came that no Redis sends. */
  private static boolean isNoRedis(Throwable failure) {
    return String.valueOf(failure.getMessage()).startsWith("Invalid first byte");
  }

  /** Translates what came of a question that was sent. */
  static LeaseStoreException afterSending(
      Throwable failure, String where, LeaseTerms terms, Peer peer) {
    if (peer.root() != peer && hasMoved(failure)) {
      return new LeaseStoreException(
          UNAVAILABLE,
          where + ": the cluster has moved the slot to another node, which is asked next",
          failure);
    }
    LeaseStoreException known = known(failure, where, terms.keyPrefix());
    if (known != null) {
      return known;
    }
    List<Throwable> chain = chain(failure);
    Throwable root = chain.get(chain.size() - 1);
    if (root instanceof PartitionSelectorException) {
      return noNode(where, harmless(failure));
    }
    if (root instanceof RedisException
        || root instanceof IOException
        || root instanceof CancellationException) {
      return noReply(where, terms, harmless(failure));
    }
    return new LeaseStoreException(
        OTHER, where + " failed: " + oneLine(String.valueOf(root)), harmless(failure));
  }

  /** The cluster has no node for the namespace. */
  static LeaseStoreException noNode(String where, @Nullable Throwable cause) {
    return new LeaseStoreException(
        UNAVAILABLE,
        where
            + ": no node of the cluster serves the namespace's hash slot now; if it lasts, look at"
            + " CLUSTER INFO",
        cause);
  }

  /** No reply came in time, or the connection broke before it came. */
  static LeaseStoreException noReply(String where, LeaseTerms terms, @Nullable Throwable cause) {
    return new LeaseStoreException(
        NO_REPLY,
        where
            + (cause == null
                ? " did not answer within " + terms.commandTimeout() + "ms"
                : " was asked, and the connection broke before it answered")
            + "; whether it did what it was asked is unknown; if it lasts, check its load and the"
            + " network",
        cause);
  }

  /** Fewer replicas than demanded hold the write. */
  static LeaseStoreException tooFewReplicas(String where, LeaseTerms terms, long acknowledged) {
    return new LeaseStoreException(
        Reason.TOO_FEW_REPLICAS,
        where
            + ": "
            + acknowledged
            + " replicas hold the lease, so it does not count: minReplicas="
            + terms.minReplicas()
            + "; bring replicas back, or lower minReplicas",
        null);
  }

  /** Whether another connection may find a server, or a user, that can do better. */
  static boolean isOfThisServer(LeaseStoreException failure) {
    if (failure.reason() == UNAUTHENTICATED) {
      return true;
    }
    String text = failure.getCause() == null ? null : failure.getCause().getMessage();
    return (text != null && (text.contains("READONLY") || text.contains("MASTERDOWN")))
        || hasMoved(failure);
  }

  private static boolean hasMoved(Throwable failure) {
    return chain(failure).stream()
        .map(t -> String.valueOf(t.getMessage()))
        .anyMatch(text -> text.startsWith("MOVED ") || text.startsWith("ASK "));
  }

  private static @Nullable LeaseStoreException known(
      Throwable failure, String where, String keyPrefix) {
    for (Throwable t : chain(failure)) {
      if (t instanceof LeaseStoreException translated) {
        return translated;
      }
      if (t.getMessage() != null
          && (t instanceof RedisCommandExecutionException || isFarewell(t))) {
        return reply(t, where, keyPrefix);
      }
      if (t instanceof SSLException) {
        return tls(t, where);
      }
      if (lacksNativeTransport(t)) {
        return new LeaseStoreException(
            UNSUPPORTED,
            where
                + ": unix sockets need Netty's native transport; add"
                + " io.netty:netty-transport-native-epoll (Linux) or -kqueue (macOS) with the"
                + " classifier of the platform",
            t);
      }
    }
    return null;
  }

  /** Whether Redis said this unasked, before it closed the connection. */
  private static boolean isFarewell(Throwable failure) {
    String text = String.valueOf(failure.getMessage());
    return failure instanceof RedisException
        && (text.startsWith("DENIED Redis is running in protected mode")
            || text.startsWith("ERR max number of clients"));
  }

  /** Whether Lettuce refuses a unix socket, for which Java's own channels do not serve it. */
  static boolean lacksNativeTransport(Throwable failure) {
    return failure instanceof IllegalStateException
        && String.valueOf(failure.getMessage()).contains("epoll");
  }

  /**
   * Whether a connection was refused so fast that Lettuce had not yet looked for the handler that
   * would have told why. What it throws then can be known by its text only; another attempt tells.
   */
  static boolean hidesItsCause(Throwable failure) {
    for (Throwable t = failure; t != null; t = t.getCause()) {
      if (t instanceof IllegalStateException
          && String.valueOf(t.getMessage()).contains("RedisHandshakeHandler not registered")) {
        return true;
      }
    }
    return false;
  }

  private static LeaseStoreException tls(Throwable failure, String where) {
    if (failure.getClass().getSimpleName().equals("NotSslRecordException")) {
      return new LeaseStoreException(
          UNSUPPORTED,
          where + " does not speak TLS on this port: use redis:// or its TLS port",
          harmless(failure));
    }
    String detail = oneLine(String.valueOf(failure.getMessage()));
    return new LeaseStoreException(
        UNAUTHENTICATED,
        where + ": TLS failed (" + detail + "): " + tlsAdvice(detail),
        harmless(failure));
  }

  private static String tlsAdvice(String detail) {
    if (detail.contains("PKIX") || detail.contains("trustAnchors")) {
      return "the authority of its certificate is not trusted; give the store its file with"
          + " trustCertificates, or put it into the JVM's trust store";
    }
    if (detail.contains("No subject alternative") || detail.contains("No name matching")) {
      return "its certificate is for another host; connect by a name that is in the certificate";
    }
    if (detail.contains("certificate_required") || detail.contains("bad_certificate")) {
      return "it demands a client certificate that it trusts; give the store one with"
          + " clientCertificate";
    }
    return "check the certificates, the authority that is trusted, and the host name";
  }

  /** Translates an error that Redis replied. */
  private static LeaseStoreException reply(Throwable failure, String where, String keyPrefix) {
    String text = oneLine(String.valueOf(failure.getMessage()));
    Matcher script = WITHIN_SCRIPT.matcher(text);
    boolean within = script.find();
    String what = within ? (script.group(1) + " " + script.group(2)).strip() : "";
    Throwable cause = harmless(failure);

    String missingRight = missingRight(text, within ? script.group(1) : null, keyPrefix);
    if (missingRight != null) {
      return new LeaseStoreException(
          DENIED,
          where
              + " denies the user "
              + missingRight
              + ": grant it with ACL SETUSER; docs/redis.md lists the least rights",
          cause);
    }
    Matcher unknown = UNKNOWN_COMMAND.matcher(text);
    if (unknown.find()) {
      String command = within ? script.group(1) : unknown.group(1);
      return new LeaseStoreException(
          UNSUPPORTED,
          where
              + " does not know the command "
              + (command == null ? "" : command.toUpperCase(Locale.ROOT))
              + ": it was renamed or disabled, or this is no Redis; leases need Redis 5 or newer, or"
              + " Valkey",
          cause);
    }
    for (Rule rule : RULES) {
      if (text.contains(rule.sign)) {
        String code = rule.sign.strip();
        return new LeaseStoreException(
            rule.reason,
            where
                + " refused"
                + (what.isEmpty() ? "" : " " + what)
                + (code.equals(code.toUpperCase(Locale.ROOT)) ? " (" + code + ")" : "")
                + ": "
                + rule.advice,
            cause);
      }
    }
    return new LeaseStoreException(OTHER, where + " refused: " + text, cause);
  }

  /** Names the right that the user lacks, or null if the error is another one. */
  private static @Nullable String missingRight(
      String text, @Nullable String scriptCommand, String keyPrefix) {
    if (text.contains("can't access at least one of the keys")
        || text.contains("permissions to access one of the keys")
        || text.contains("No permissions to access a key")) {
      return "the keys ~" + keyPrefix + ":*";
    }
    Matcher command = DENIED_COMMAND.matcher(text);
    if (command.find()) {
      return "+" + command.group(1).toLowerCase(Locale.ROOT);
    }
    if (text.contains("can't run this command") || text.contains("NOPERM")) {
      return scriptCommand == null
          ? "a right (" + text + ")"
          : "+" + scriptCommand.toLowerCase(Locale.ROOT);
    }
    return null;
  }

  private static String oneLine(String text) {
    String line = text.replaceAll("\\s+", " ").strip();
    line = ARGUMENTS.matcher(line).replaceFirst("");
    return SCRIPT_POSITION.matcher(line).replaceFirst("").strip();
  }

  /** The failure itself, unless it repeats what the user sent, which may be a password. */
  private static @Nullable Throwable harmless(Throwable failure) {
    for (Throwable t : chain(failure)) {
      if (ARGUMENTS.matcher(String.valueOf(t.getMessage())).find()) {
        return null;
      }
    }
    return failure;
  }

  private static List<Throwable> chain(Throwable failure) {
    List<Throwable> chain = new ArrayList<>();
    for (Throwable t = failure; t != null && chain.size() < 20; t = t.getCause()) {
      chain.add(t);
    }
    return chain;
  }
}
