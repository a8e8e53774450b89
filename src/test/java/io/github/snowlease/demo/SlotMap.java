package io.github.snowlease.demo;

import io.github.snowlease.BitLayout;
import io.github.snowlease.LeaseStore.LedgerEntry;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.Slot;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.UnaryOperator;

/** Draws who holds which slot, as the ledger in the store has it. */
final class SlotMap {
  private static final String MARGIN = "             ";

  private SlotMap() {}

  /**
   * Draws the clusters that were ever used, one line each.
   *
   * @param ledger the store's entries
   * @param now the store's time
   * @param names one letter for the holder of each slot
   * @param highlight how to make a letter stand out
   */
  static List<String> draw(
      BitLayout layout,
      Map<Slot, LedgerEntry> ledger,
      long now,
      Map<Slot, String> names,
      UnaryOperator<String> highlight) {
    int nodes = 1 << layout.nodeBits();
    int clusters = 1 << layout.clusterBits();
    TreeSet<Integer> used = new TreeSet<>();
    ledger.keySet().forEach(slot -> used.add(slot.cluster()));

    List<String> lines = new ArrayList<>();
    StringBuilder scale = new StringBuilder("   slot map  ");
    for (int node = 0; node < nodes; node += 8) {
      scale.append(String.format("%-9s", node == 0 ? "node 0" : Integer.toString(node)));
    }
    lines.add(scale.toString().stripTrailing());
    boolean freed = false;
    for (int cluster : used) {
      StringBuilder row = new StringBuilder(String.format("  cluster %2d ", cluster));
      for (int node = 0; node < nodes; node++) {
        if (node % 8 == 0 && node > 0) {
          row.append(' ');
        }
        Slot slot = new Slot(cluster, node);
        LedgerEntry entry = ledger.get(slot);
        if (entry == null) {
          row.append('·');
        } else if (entry.held() && now <= entry.until() + LeaseTerms.GRACE) {
          row.append(highlight.apply(names.getOrDefault(slot, "?")));
        } else {
          freed = true;
          row.append('o');
        }
      }
      lines.add(row.toString());
    }
    lines.add(
        MARGIN
            + "· never used"
            + (freed ? "   o free again, its last timestamp remembered" : "")
            + "   "
            + (clusters - used.size())
            + " more clusters unused");
    return lines;
  }
}
