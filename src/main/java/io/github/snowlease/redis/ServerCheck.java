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

  private ServerCheck() {}

  /**
   * Refuses a server that is too old. A user without the right to INFO is let through: the scripts
   * do without it too.
   */
  static CompletionStage<Peer> check(Peer peer, String where) {
    return peer.commands()
        .info("server")
        .handle(
            (info, failure) -> {
              LeaseStoreException refusal =
                  failure == null
                      ? refuseOld(info, where)
                      : RedisErrors.beforeSending(failure, where);
              return refusal == null || refusal.reason() == Reason.DENIED
                  ? CompletableFuture.completedFuture(peer)
                  : CompletableFuture.<Peer>failedFuture(refusal);
            })
        .thenCompose(checked -> checked);
  }

  /** As {@link #check}; a connection of our own is closed when the server is refused. */
  static CompletionStage<Peer> orClose(Peer peer, String where) {
    return check(peer, where)
        .whenComplete(
            (checked, failure) -> {
              if (failure != null) {
                peer.close();
              }
            });
  }

  private static @Nullable LeaseStoreException refuseOld(String info, String where) {
    Matcher version = VERSION.matcher(info);
    if (version.find() && Integer.parseInt(version.group(2)) < OLDEST_MAJOR) {
      return new LeaseStoreException(
          Reason.UNSUPPORTED,
          where
              + " is Redis "
              + version.group(1)
              + ", and leases need Redis 5 or newer, or Valkey: upgrade it",
          null);
    }
    return null;
  }
}
