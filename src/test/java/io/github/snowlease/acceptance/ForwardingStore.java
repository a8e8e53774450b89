package io.github.snowlease.acceptance;

import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.Slot;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** A store in front of a real one, for tests that lose, delay or spoil its answers. */
abstract class ForwardingStore implements LeaseStore {
  private final LeaseStore store;

  ForwardingStore(LeaseStore store) {
    this.store = store;
  }

  /** Asks the real store, or does otherwise. */
  abstract <T> CompletionStage<T> ask(String question, Supplier<CompletionStage<T>> send);

  @Override
  public CompletionStage<ClaimReply> claim(LeaseTerms terms, Claim claim) {
    return ask("claim", () -> store.claim(terms, claim));
  }

  @Override
  public CompletionStage<RenewReply> renew(LeaseTerms terms, Renewal renewal) {
    return ask("renew", () -> store.renew(terms, renewal));
  }

  @Override
  public CompletionStage<Boolean> release(LeaseTerms terms, Release release) {
    return ask("release", () -> store.release(terms, release));
  }

  @Override
  public CompletionStage<Map<Slot, LedgerEntry>> readLedger(LeaseTerms terms) {
    return ask("readLedger", () -> store.readLedger(terms));
  }

  @Override
  public CompletionStage<Long> time(LeaseTerms terms) {
    return ask("time", () -> store.time(terms));
  }

  @Override
  public CompletionStage<Boolean> createNamespace(LeaseTerms terms) {
    return store.createNamespace(terms);
  }

  @Override
  public CompletionStage<List<String>> warnings(LeaseTerms terms) {
    return store.warnings(terms);
  }

  /** Leaves the real store open, as several may stand in front of it. */
  @Override
  public void close() {}
}
