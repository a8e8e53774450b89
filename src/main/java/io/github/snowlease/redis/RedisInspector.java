package io.github.snowlease.redis;

import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.Slot;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Looks at what a {@link RedisLeaseStore} keeps, for the command line of this library, which is the
 * only caller meant: it may change with any version.
 *
 * <p>Every method waits for Redis, for the timeout of a command at most.
 */
public final class RedisInspector {
  /** So many keys are asked for in one go. */
  private static final int BATCH = 2_048;

  private final RedisLeaseStore store;

  /**
   * What lies where the lease of a slot is kept.
   *
   * @param text its text, empty if it is no text
   * @param lifeMillis when it ends by itself, in milliseconds; -1 if never
   */
  public record Lease(String text, long lifeMillis) {}

  /**
   * Looks through a store.
   *
   * @param store the store, which the caller closes
   */
  public RedisInspector(RedisLeaseStore store) {
    this.store = store;
  }

  /**
   * Reads all fields of the ledger.
   *
   * @param terms names the namespace
   * @return the fields; none if there is no ledger
   * @throws LeaseStoreException if Redis does not answer, or refuses
   */
  public Map<String, String> ledger(LeaseTerms terms) {
    return await(
        terms, (peer, exchange) -> exchange.track(peer.commands().hgetall(Keys.ledger(terms))));
  }

  /**
   * Reads lease keys.
   *
   * @param terms names the namespace
   * @param slots of which slots
   * @return those that exist
   * @throws LeaseStoreException if Redis does not answer, or refuses
   */
  public Map<Slot, Lease> leases(LeaseTerms terms, Collection<Slot> slots) {
    Map<Slot, Lease> leases = new HashMap<>();
    List<Slot> all = new ArrayList<>(slots);
    for (int from = 0; from < all.size(); from += BATCH) {
      List<Slot> batch = all.subList(from, Math.min(all.size(), from + BATCH));
      leases.putAll(
          RedisInspector.<Map<Slot, Lease>>await(
              store, terms, (peer, exchange) -> leases(terms, batch, peer, exchange)));
    }
    return leases;
  }

  private static CompletionStage<Map<Slot, Lease>> leases(
      LeaseTerms terms, List<Slot> slots, Peer peer, Exchange<?> exchange) {
    RedisClusterAsyncCommands<String, String> redis = peer.commands();
    CompletionStage<Map<Slot, Lease>> all = CompletableFuture.completedFuture(new HashMap<>());
    for (Slot slot : slots) {
      String key = Keys.lease(terms, slot);
      CompletionStage<@Nullable String> text = textOrForeign(exchange.track(redis.get(key)));
      CompletionStage<Long> life = exchange.track(redis.pttl(key));
      CompletionStage<@Nullable Lease> lease =
          text.thenCombine(
              life, (value, millis) -> value == null ? null : new Lease(value, millis));
      all =
          all.thenCombine(
              lease,
              (found, one) -> {
                if (one != null) {
                  found.put(slot, one);
                }
                return found;
              });
    }
    return all;
  }

  private static CompletionStage<@Nullable String> textOrForeign(
      CompletionStage<@Nullable String> reply) {
    return reply.exceptionallyCompose(
        failure ->
            failure instanceof RedisCommandExecutionException
                    && String.valueOf(failure.getMessage()).startsWith("WRONGTYPE")
                ? CompletableFuture.completedFuture("")
                : CompletableFuture.failedFuture(failure));
  }

  /**
   * Reads what the server tells of itself.
   *
   * @param terms names the namespace
   * @return the fields of INFO
   * @throws LeaseStoreException if Redis does not answer, or refuses
   */
  public Map<String, String> info(LeaseTerms terms) {
    // In a cluster, of the node that keeps the namespace: the others are nobody's concern.
    return fields(
        await(
            terms,
            (peer, exchange) ->
                peer.writer(Keys.ledger(terms))
                    .thenCompose(node -> exchange.track(node.commands().info()))));
  }

  /**
   * Reads what a node tells of its cluster.
   *
   * @param terms names the namespace
   * @return the fields of CLUSTER INFO
   * @throws LeaseStoreException if Redis does not answer, or refuses
   */
  public Map<String, String> clusterInfo(LeaseTerms terms) {
    return fields(
        await(
            terms,
            (peer, exchange) ->
                peer.writer(Keys.ledger(terms))
                    .thenCompose(node -> exchange.track(node.commands().clusterInfo()))));
  }

  private static Map<String, String> fields(String text) {
    Map<String, String> fields = new HashMap<>();
    text.lines()
        .filter(line -> !line.startsWith("#") && line.indexOf(':') > 0)
        .forEach(
            line ->
                fields.put(
                    line.substring(0, line.indexOf(':')),
                    line.substring(line.indexOf(':') + 1).strip()));
    return fields;
  }

  /**
   * Sends a script by its source, as the store does when Redis has forgotten it: after a restart, a
   * failover or a SCRIPT FLUSH.
   *
   * @param terms names the namespace
   * @throws LeaseStoreException if Redis does not answer, or refuses
   */
  public void evaluate(LeaseTerms terms) {
    String unused =
        await(
            terms,
            (peer, exchange) ->
                exchange.track(
                    peer.commands()
                        .<String>eval(
                            Script.TIME.text(),
                            ScriptOutputType.VALUE,
                            Keys.of(terms, List.of()))));
  }

  /**
   * Deletes what a namespace keeps, which must be one that nobody else knows of.
   *
   * @param terms names the namespace
   * @param slots the slots that were leased
   * @throws LeaseStoreException if Redis does not answer, or refuses
   */
  public void drop(LeaseTerms terms, List<Slot> slots) {
    Long unused =
        await(
            terms, (peer, exchange) -> exchange.track(peer.commands().del(Keys.of(terms, slots))));
  }

  /**
   * Takes back a slot whose holder is dead: its fence stays.
   *
   * @param terms names the namespace
   * @param slot the slot
   * @param seen its field in the ledger, as it was read; if it has changed, nothing is done
   * @return whether the slot was taken back
   * @throws LeaseStoreException if Redis does not answer, or refuses
   */
  public boolean evict(LeaseTerms terms, Slot slot, String seen) {
    String[] keys = Keys.of(terms, List.of(slot));
    Call call = new Call(Script.EVICT, ScriptOutputType.INTEGER, keys, slot.toString(), seen);
    return await(
        terms,
        (peer, exchange) -> call.<Long>send(peer, exchange).thenApply(evicted -> evicted == 1));
  }

  private <T> T await(LeaseTerms terms, Exchange.Question<T> question) {
    return await(store, terms, question);
  }

  private static <T> T await(
      RedisLeaseStore store, LeaseTerms terms, Exchange.Question<T> question) {
    try {
      return Exchange.start(store.link, terms, question).answer().join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof LeaseStoreException known) {
        throw known;
      }
      throw e;
    }
  }
}
