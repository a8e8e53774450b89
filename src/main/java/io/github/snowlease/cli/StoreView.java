package io.github.snowlease.cli;

import io.github.snowlease.BitLayout;
import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.Slot;
import io.github.snowlease.file.FileLeaseStoreProvider;
import io.github.snowlease.file.FolderInspector;
import io.github.snowlease.redis.RedisInspector;
import io.github.snowlease.redis.RedisLeaseStore;
import io.github.snowlease.redis.RedisLeaseStoreProvider;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A namespace as an operator sees it, whichever store keeps it. */
final class StoreView implements AutoCloseable {
  private final LeaseStore store;
  private final LeaseTerms terms;
  private final BitLayout layout;
  private final @Nullable RedisInspector redis;
  private final @Nullable FolderInspector folder;

  private StoreView(
      LeaseStore store,
      LeaseTerms terms,
      BitLayout layout,
      @Nullable RedisInspector redis,
      @Nullable FolderInspector folder) {
    this.store = store;
    this.terms = terms;
    this.layout = layout;
    this.redis = redis;
    this.folder = folder;
  }

  /**
   * Opens a store.
   *
   * @throws IllegalArgumentException if there is none of this scheme
   */
  static StoreView open(NamespaceOptions options, LeaseTerms terms) {
    RedisLeaseStoreProvider redis = new RedisLeaseStoreProvider();
    if (redis.supports(options.scheme())) {
      RedisLeaseStore store = (RedisLeaseStore) redis.open(options.store(), terms);
      return new StoreView(store, terms, options.layout(), new RedisInspector(store), null);
    }
    FileLeaseStoreProvider files = new FileLeaseStoreProvider();
    if (files.supports(options.scheme())) {
      FolderInspector inspector =
          new FolderInspector(FileLeaseStoreProvider.folder(options.store()));
      LeaseStore store = files.open(options.store(), terms);
      return new StoreView(store, terms, options.layout(), null, inspector);
    }
    if (options.scheme().equals("none")) {
      throw new IllegalArgumentException(
          "store=none keeps no leases, so there is nothing to see, create or take back: name a Redis"
              + " or a folder with --store or SNOWFLAKE_STORE");
    }
    throw new IllegalArgumentException(
        "store must be a URI of Redis or a folder, such as redis://localhost:6379 or file:slots; see"
            + " SNOWFLAKE_STORE");
  }

  LeaseStore store() {
    return store;
  }

  LeaseTerms terms() {
    return terms;
  }

  @Nullable RedisInspector redis() {
    return redis;
  }

  @Nullable FolderInspector folder() {
    return folder;
  }

  /** Where the namespace is, without secrets. */
  String where() {
    // Stores show as Kind[place].
    String text = store.toString();
    int bracket = text.indexOf('[');
    String place = bracket < 0 ? text : text.substring(bracket + 1, text.length() - 1);
    return "namespace " + terms.namespace() + " in " + place;
  }

  /** Reads the ledger and the clock, and no leases. */
  Snapshot glance() {
    return new Snapshot(await(store.time(terms)), ledger(), Map.of(), List.of());
  }

  /** Reads everything that there is to know. */
  Snapshot read() {
    Map<String, String> ledger = ledger();
    // A folder that does not exist is not made only to ask it for the time.
    long now = isMissingFolder() ? System.currentTimeMillis() : await(store.time(terms));
    List<Slot> slots = slots();
    Map<Slot, Snapshot.Lease> leases = new HashMap<>();
    if (redis != null) {
      redis
          .leases(terms, slots)
          .forEach(
              (slot, lease) ->
                  leases.put(slot, new Snapshot.Lease(lease.text(), lease.lifeMillis() < 0, null)));
    } else if (folder != null) {
      folder
          .leases(terms, slots)
          .forEach(
              (slot, lease) ->
                  leases.put(
                      slot, new Snapshot.Lease(lease.text(), lease.isBlock(), lease.isAlive())));
    }
    return new Snapshot(now, ledger, leases, slots);
  }

  /** Whether leases would be kept in a folder that nobody has made yet. */
  boolean isMissingFolder() {
    return folder != null && !folder.exists(terms);
  }

  /** Reads the fields of the ledger alone. */
  Map<String, String> ledger() {
    if (redis != null) {
      return redis.ledger(terms);
    }
    return folder == null ? Map.of() : folder.ledger(terms);
  }

  /** Takes a slot back, unless its field has changed since it was read. */
  boolean evict(Slot slot, String seen) {
    if (redis != null) {
      return redis.evict(terms, slot, seen);
    }
    return folder != null && folder.evict(terms, slot, seen);
  }

  private List<Slot> slots() {
    List<Slot> slots = new ArrayList<>();
    for (int cluster = 0; cluster < 1 << layout.clusterBits(); cluster++) {
      for (int node = 0; node < 1 << layout.nodeBits(); node++) {
        slots.add(new Slot(cluster, node));
      }
    }
    return slots;
  }

  /** Waits for an answer, which every store gives within the timeout of a command. */
  static <T> T await(CompletionStage<T> answer) {
    try {
      return answer.toCompletableFuture().join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof LeaseStoreException known) {
        throw known;
      }
      throw e;
    }
  }

  @Override
  public void close() {
    store.close();
  }
}
