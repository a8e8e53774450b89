package io.github.snowlease.redis;

import io.github.snowlease.LeaseTerms;
import io.github.snowlease.Slot;
import java.util.List;

/** The names of the keys of a namespace, as {@code docs/redis.md} publishes them. */
final class Keys {
  private Keys() {}

  static String ledger(LeaseTerms terms) {
    return terms.keyPrefix() + ":ledger";
  }

  static String lease(LeaseTerms terms, Slot slot) {
    return terms.keyPrefix() + ":nodes:" + slot.cluster() + ":" + slot.node();
  }

  /** The ledger first, then the lease keys in the order of the slots: what a script declares. */
  static String[] of(LeaseTerms terms, List<Slot> slots) {
    String[] keys = new String[slots.size() + 1];
    keys[0] = ledger(terms);
    for (int i = 0; i < slots.size(); i++) {
      keys[i + 1] = lease(terms, slots.get(i));
    }
    return keys;
  }
}
