package io.github.snowlease.redis;

import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

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

  /**
   * Sends the script.
   *
   * @param rest what is made of the reply; it is called as soon as the script was sent, once for
   *     each time it is sent, so that it can send what must follow on the same connection
   */
  <R, T> CompletionStage<T> send(
      Peer peer, Exchange<?> exchange, Function<CompletionStage<R>, CompletionStage<T>> rest) {
    return rest.apply(
            exchange.track(peer.commands().<R>evalsha(script.digest(), type, keys, arguments)))
        .exceptionallyCompose(
            failure ->
                isUnknownScript(failure)
                    ? rest.apply(
                        exchange.track(
                            peer.commands().<R>eval(script.text(), type, keys, arguments)))
                    : CompletableFuture.failedFuture(failure));
  }

  private static boolean isUnknownScript(Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    return cause instanceof RedisNoScriptException;
  }
}
