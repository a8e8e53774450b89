package io.github.snowlease;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/** A store that passes everything on; a mutant changes what it must. */
class MutantStore implements LeaseStore {
  protected final LeaseStore network;

  MutantStore(LeaseStore network) {
    this.network = network;
  }

  @Override
  public CompletionStage<ClaimReply> claim(LeaseTerms terms, Claim claim) {
    return network.claim(terms, claim);
  }

  @Override
  public CompletionStage<RenewReply> renew(LeaseTerms terms, Renewal renewal) {
    return network.renew(terms, renewal);
  }

  @Override
  public CompletionStage<Boolean> release(LeaseTerms terms, Release release) {
    return network.release(terms, release);
  }

  @Override
  public CompletionStage<Map<Slot, LedgerEntry>> readLedger(LeaseTerms terms) {
    return network.readLedger(terms);
  }

  @Override
  public CompletionStage<Long> time(LeaseTerms terms) {
    return network.time(terms);
  }

  @Override
  public CompletionStage<Boolean> createNamespace(LeaseTerms terms) {
    return network.createNamespace(terms);
  }

  @Override
  public CompletionStage<List<String>> warnings(LeaseTerms terms) {
    return network.warnings(terms);
  }

  @Override
  public void close() {
    network.close();
  }
}
