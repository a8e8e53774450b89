package io.github.snowlease.redis;

import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.LeaseStoreException.Reason;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Looks at a server before it is used. */
final class ServerCheck {
  private static final int OLDEST_MAJOR = 5;
  private static final Pattern VERSION = Pattern.compile("(?m)^redis_version:((\\d+)\\S*)");
  private static final Pattern SENTINEL = Pattern.compile("(?m)^redis_mode:sentinel\\b");
  private static final Pattern CLUSTER = Pattern.compile("(?m)^redis_mode:cluster\\b");

  private ServerCheck() {}

  /**
   * Refuses a server that is too old. A user without the right to INFO is let through: the scripts
   * do without it too.
   *
   * @return whether the server is a node of a cluster, as far as it tells
   */
  static CompletionStage<Boolean> isCluster(Peer peer, String where) {
    return peer.commands()
        .info("server")
        .handle((info, failure) -> judge(info, failure, where))
        .thenCompose(judged -> judged);
  }

  private static CompletionStage<Boolean> judge(
      String info, @Nullable Throwable failure, String where) {
    if (failure != null) {
      LeaseStoreException refusal = RedisErrors.beforeSending(failure, where);
      return refusal.reason() == Reason.DENIED
          ? CompletableFuture.completedFuture(false)
          : CompletableFuture.failedFuture(refusal);
    }
    Matcher version = VERSION.matcher(info);
    if (version.find() && Integer.parseInt(version.group(2)) < OLDEST_MAJOR) {
      return CompletableFuture.failedFuture(
          new LeaseStoreException(
              Reason.UNSUPPORTED,
              where
                  + " is Redis "
                  + version.group(1)
                  + ", and leases need Redis 5 or newer, or Valkey: upgrade it",
              null));
    }
    if (SENTINEL.matcher(info).find()) {
      return CompletableFuture.failedFuture(
          new LeaseStoreException(
              Reason.UNSUPPORTED,
              where
                  + " is a Sentinel, which keeps no leases: use redis-sentinel://host:port#name with"
                  + " the name of the master that it watches",
              null));
    }
    return CompletableFuture.completedFuture(CLUSTER.matcher(info).find());
  }
}
