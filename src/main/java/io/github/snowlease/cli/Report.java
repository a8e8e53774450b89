package io.github.snowlease.cli;

import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.LeaseStoreException.Reason;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.cli.Finding.Level;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Collects findings, each once. */
final class Report {
  private final LeaseTerms terms;
  private final List<Finding> findings = new ArrayList<>();

  Report(LeaseTerms terms) {
    this.terms = terms;
  }

  List<Finding> findings() {
    return List.copyOf(findings);
  }

  void ok(String about, String text) {
    add(new Finding(Level.OK, about, text));
  }

  void warn(String about, String text) {
    add(new Finding(Level.WARN, about, text));
  }

  void fail(String about, @Nullable String text) {
    add(new Finding(Level.FAIL, about, String.valueOf(text)));
  }

  private void add(Finding finding) {
    if (!findings.contains(finding)) {
      findings.add(finding);
    }
  }

  boolean hasFailed(String about) {
    return findings.stream()
        .anyMatch(finding -> finding.level() == Level.FAIL && finding.about().equals(about));
  }

  /** Looks, and reports what the store says if it refuses. */
  boolean tryTo(String about, Runnable look) {
    try {
      look.run();
      return true;
    } catch (LeaseStoreException e) {
      fail(about, e);
      return false;
    }
  }

  void fail(String about, LeaseStoreException e) {
    String text = String.valueOf(e.getMessage());
    if (e.reason() == Reason.WRONG_TYPE && !text.contains(terms.keyPrefix())) {
      text += ": namespace=" + terms.namespace() + " key=" + terms.keyPrefix() + ":ledger";
    }
    fail(topicOf(e, about), text);
  }

  private static String topicOf(LeaseStoreException e, String about) {
    return switch (e.reason()) {
      case DENIED -> "rights";
      case WRONG_TYPE -> "keys";
      case UNSUPPORTED -> "version";
      case TOO_FEW_REPLICAS -> "replicas";
      case UNREACHABLE, UNAUTHENTICATED, NO_REPLY -> "connection";
      case UNAVAILABLE, OTHER -> about;
    };
  }
}
