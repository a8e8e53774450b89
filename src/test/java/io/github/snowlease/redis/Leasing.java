package io.github.snowlease.redis;

import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseStore.Claim;
import io.github.snowlease.LeaseStore.ClaimReply;
import io.github.snowlease.LeaseStore.Granted;
import io.github.snowlease.LeaseStore.Holder;
import io.github.snowlease.LeaseStore.Release;
import io.github.snowlease.LeaseStore.RenewReply;
import io.github.snowlease.LeaseStore.Renewal;
import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.Slot;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A process that leases, as a test drives it step by step, with the wall clock for an estimate. */
final class Leasing {
  static final Slot SLOT = new Slot(3, 7);

  private final LeaseStore store;
  private final LeaseTerms terms;
  private Claim wish;
  private Granted grant;

  Leasing(LeaseStore store, LeaseTerms terms) {
    this.store = store;
    this.terms = terms;
  }

  /**
   * Terms of a namespace of their own, with the longest command timeout: the first test pays for a
   * cold client.
   */
  static LeaseTerms terms() {
    return terms(0, 2_000);
  }

  static LeaseTerms terms(int minReplicas, long commandTimeout) {
    String namespace = "test-" + UUID.randomUUID();
    return new LeaseTerms(namespace, "41/5/5/12", 30_000, 5_000, minReplicas, commandTimeout, true);
  }

  ClaimReply claim() {
    return claim(SLOT);
  }

  ClaimReply claim(Slot... candidates) {
    wish =
        new Claim(
            hex(32),
            hex(16),
            System.currentTimeMillis(),
            -1,
            grant == null ? 0 : grant.rev(),
            List.of(candidates),
            holder());
    ClaimReply reply = get(store.claim(terms, wish));
    if (reply instanceof Granted granted) {
      grant = granted;
    }
    return reply;
  }

  RenewReply renew() {
    return get(renewLater());
  }

  CompletionStage<RenewReply> renewLater() {
    return store.renew(
        terms,
        new Renewal(
            wish.token(),
            grant.slot(),
            grant.until(),
            List.of(wish.nonce()),
            wish.nonce(),
            System.currentTimeMillis(),
            grant.rev(),
            holder()));
  }

  boolean release() {
    return get(store.release(terms, new Release(wish.token(), grant.now(), List.of(grant.slot()))));
  }

  private static Holder holder() {
    return new Holder("host", 1, "test", 1_700_000_000_000L, "0");
  }

  static <T> T get(CompletionStage<T> stage) {
    try {
      return stage.toCompletableFuture().get(10, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof LeaseStoreException failure) {
        throw failure;
      }
      throw new AssertionError("a stage fails with nothing but LeaseStoreException", e.getCause());
    } catch (InterruptedException | TimeoutException e) {
      throw new AssertionError("no answer", e);
    }
  }

  static String hex(int digits) {
    return (UUID.randomUUID().toString() + UUID.randomUUID()).replace("-", "").substring(0, digits);
  }
}
