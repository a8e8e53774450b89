package io.github.snowlease.bench;

import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.Slot;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Grants whatever is asked for, on the host's clock: so that the leased facade can be measured
 * without a server. It protects nothing.
 */
final class MemoryStore implements LeaseStore {
  @Override
  public CompletionStage<ClaimReply> claim(LeaseTerms terms, Claim claim) {
    long now = System.currentTimeMillis();
    return CompletableFuture.completedFuture(
        new Granted(now, claim.candidates().get(0), now + terms.window(), 1, false));
  }

  @Override
  public CompletionStage<RenewReply> renew(LeaseTerms terms, Renewal renewal) {
    long now = System.currentTimeMillis();
    return CompletableFuture.completedFuture(new Renewed(now, now + terms.window(), 1));
  }

  @Override
  public CompletionStage<Boolean> release(LeaseTerms terms, Release release) {
    return CompletableFuture.completedFuture(true);
  }

  @Override
  public CompletionStage<Map<Slot, LedgerEntry>> readLedger(LeaseTerms terms) {
    return CompletableFuture.completedFuture(Map.of());
  }

  @Override
  public CompletionStage<Long> time(LeaseTerms terms) {
    return CompletableFuture.completedFuture(System.currentTimeMillis());
  }

  @Override
  public CompletionStage<Boolean> createNamespace(LeaseTerms terms) {
    return CompletableFuture.completedFuture(true);
  }

  @Override
  public CompletionStage<List<String>> warnings(LeaseTerms terms) {
    return CompletableFuture.completedFuture(List.of());
  }

  @Override
  public void close() {}
}
