package io.github.snowlease;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/** A process's connection to Redis, through a network that does its worst. */
final class SimStore implements LeaseStore {
  private final SimProcess process;

  SimStore(SimProcess process) {
    this.process = process;
  }

  private <T> CompletionStage<T> ask(Object request, Function<SimLedgerModel, T> command) {
    process.step();
    CompletableFuture<Object> question = process.newQuestion();
    if (!process.isReplaying()) {
      process.world.send(process, process.newestQuestion(), request, command);
    }
    @SuppressWarnings("unchecked") // the command says what it returns
    CompletionStage<T> answer = (CompletionStage<T>) question;
    return answer;
  }

  @Override
  public CompletionStage<ClaimReply> claim(LeaseTerms terms, Claim claim) {
    return ask(claim, server -> server.claim(terms, claim));
  }

  @Override
  public CompletionStage<RenewReply> renew(LeaseTerms terms, Renewal renewal) {
    return ask(renewal, server -> server.renew(terms, renewal));
  }

  @Override
  public CompletionStage<Boolean> release(LeaseTerms terms, Release release) {
    return ask(release, server -> server.release(terms, release));
  }

  @Override
  public CompletionStage<Map<Slot, LedgerEntry>> readLedger(LeaseTerms terms) {
    return ask("ledger", SimLedgerModel::readLedger);
  }

  @Override
  public CompletionStage<Long> time(LeaseTerms terms) {
    return ask("time", server -> server.now);
  }

  @Override
  public CompletionStage<Boolean> createNamespace(LeaseTerms terms) {
    return ask("create", server -> server.createNamespace(terms));
  }

  @Override
  public CompletionStage<List<String>> warnings(LeaseTerms terms) {
    return CompletableFuture.completedFuture(List.of());
  }

  @Override
  public void close() {}
}
