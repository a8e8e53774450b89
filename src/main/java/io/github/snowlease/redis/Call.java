package io.github.snowlease.redis;

import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** One run of a script: by its digest, and by its source where Redis does not know it yet. */
final class Call {
  private final Script script;
  private final ScriptOutputType type;
  private final String[] keys;
  private final String[] arguments;

  Call(Script script, ScriptOutputType type, String[] keys, String... arguments) {
    this.script = script;
    this.type = type;
    this.keys = keys;
    this.arguments = arguments;
  }

  /** Sends the script; the reply comes later. */
  <R> CompletionStage<R> send(Peer peer, Exchange<?> exchange) {
    CompletionStage<R> reply =
        exchange.track(peer.commands().<R>evalsha(script.digest(), type, keys, arguments));
    return reply.exceptionallyCompose(
        failure ->
            failure instanceof RedisNoScriptException
                ? exchange.track(peer.commands().<R>eval(script.text(), type, keys, arguments))
                : CompletableFuture.failedFuture(failure));
  }
}
