package io.github.snowlease.cli;

import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseStore.Claim;
import io.github.snowlease.LeaseStore.ClaimReply;
import io.github.snowlease.LeaseStore.Granted;
import io.github.snowlease.LeaseStore.Holder;
import io.github.snowlease.LeaseStore.Release;
import io.github.snowlease.LeaseStore.RenewReply;
import io.github.snowlease.LeaseStore.Renewal;
import io.github.snowlease.LeaseStore.Renewed;
import io.github.snowlease.LeaseStore.Skewed;
import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.Slot;
import io.github.snowlease.redis.RedisInspector;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;

/** What a service does from its start to its end; an error names what is missing. */
final class TrialLease {
  private final LeaseStore store;
  private final Report report;
  private final SecureRandom random = new SecureRandom();

  TrialLease(LeaseStore store, Report report) {
    this.store = store;
    this.report = report;
  }

  /**
   * Tries a namespace beside the real one: under the same rights to keys, on the same node of a
   * cluster, and also when the real one is full, in quarantine, or not there yet.
   */
  void besides(LeaseTerms real, RedisInspector redis) {
    LeaseTerms scratch =
        new LeaseTerms(
            real.keyPrefix() + ":doctor-" + hex(1),
            real.layout(),
            real.leaseTtl(),
            real.maxClockSkew(),
            real.minReplicas(),
            real.commandTimeout(),
            false);
    List<Slot> slots = List.of(new Slot(0, 0));
    try {
      boolean tried =
          report.tryTo(
              "lease",
              () -> {
                redis.evaluate(scratch);
                StoreView.await(store.createNamespace(scratch));
                if (lease(scratch, slots)) {
                  report.ok("lease", "a trial slot was leased, renewed and handed back");
                }
              });
      if (tried) {
        report.ok("rights", "all that leases need");
      }
    } finally {
      try {
        redis.drop(scratch, slots);
      } catch (LeaseStoreException e) {
        report.fail("lease", e);
      }
    }
  }

  /** Tries a slot of the namespace itself. */
  void within(LeaseTerms terms, List<Slot> free) {
    report.tryTo(
        "lease",
        () -> {
          if (lease(terms, free)) {
            report.ok("lease", "a free slot was leased, renewed and handed back");
          }
        });
  }

  private boolean lease(LeaseTerms terms, List<Slot> candidates) {
    String token = hex(2);
    String nonce = hex(1);
    Holder doctor =
        new Holder(
            "doctor",
            ProcessHandle.current().pid(),
            "snowlease doctor",
            System.currentTimeMillis(),
            "-");
    Claim claim = new Claim(token, nonce, System.currentTimeMillis(), -1, 0, candidates, doctor);
    ClaimReply reply;
    try {
      reply = StoreView.await(store.claim(terms, claim));
    } catch (LeaseStoreException e) {
      if (e.mayHaveRun()) {
        giveBack(terms, new Release(token, Release.UNKNOWN_GRANT, candidates));
      }
      throw e;
    }
    if (!(reply instanceof Granted grant)) {
      return reply instanceof Skewed ? tooFarOff(terms) : notGranted(reply);
    }
    Renewal renewal =
        new Renewal(
            token,
            grant.slot(),
            grant.until(),
            List.of(nonce),
            hex(1),
            grant.now(),
            grant.rev(),
            doctor);
    RenewReply renewed;
    boolean released;
    try {
      renewed = StoreView.await(store.renew(terms, renewal));
    } finally {
      released = giveBack(terms, new Release(token, grant.now() - 1, List.of(grant.slot())));
    }
    if (!(renewed instanceof Renewed)) {
      report.warn("lease", "a trial lease was not renewed: " + renewed + "; try again");
      return false;
    }
    return released;
  }

  private boolean tooFarOff(LeaseTerms terms) {
    if (!report.hasFailed("clock")) {
      report.warn(
          "lease",
          "a trial lease was refused, as this host's clock seemed more than maxClockSkew="
              + terms.maxClockSkew()
              + "ms off; try again, and if it lasts look at the network");
    }
    return false;
  }

  private boolean notGranted(ClaimReply reply) {
    report.warn(
        "lease",
        "a trial lease was not granted: " + reply.getClass().getSimpleName() + "; try again");
    return false;
  }

  private boolean giveBack(LeaseTerms terms, Release release) {
    try {
      boolean released = StoreView.await(store.release(terms, release));
      if (!released && release.lastIssued() != Release.UNKNOWN_GRANT) {
        report.warn("lease", "a trial slot could not be handed back; it comes free by itself");
      }
      return released;
    } catch (LeaseStoreException e) {
      report.fail("lease", e);
      return false;
    }
  }

  private String hex(int longs) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < longs; i++) {
      text.append(HexFormat.of().toHexDigits(random.nextLong()));
    }
    return text.toString();
  }
}
