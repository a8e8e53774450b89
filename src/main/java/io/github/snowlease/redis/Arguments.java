package io.github.snowlease.redis;

import io.github.snowlease.LeaseTerms;
import io.github.snowlease.Slot;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The ARGV of a script, in the order that its header gives. */
final class Arguments {
  private final LeaseTerms terms;
  private final List<String> values = new ArrayList<>();

  private Arguments(LeaseTerms terms) {
    this.terms = terms;
  }

  static Arguments of(LeaseTerms terms) {
    return new Arguments(terms);
  }

  /** The arguments that memory.lua reads, which come first. */
  Arguments memory(long seenRev, long estimate) {
    return add(terms.layout())
        .add(seenRev, estimate, terms.quarantine())
        .add(terms.trustEmptyStore() ? "1" : "0");
  }

  Arguments add(String... texts) {
    Collections.addAll(values, texts);
    return this;
  }

  Arguments add(long... numbers) {
    for (long number : numbers) {
      values.add(Long.toString(number));
    }
    return this;
  }

  Arguments add(List<Slot> slots) {
    slots.forEach(slot -> values.add(slot.toString()));
    return this;
  }

  String[] toArray() {
    return values.toArray(String[]::new);
  }
}
