package io.github.snowlease;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;

/** Every id of a run, exactly, and the stretch of time in which each grant of a slot was used. */
final class SimIds {
  /** Ids that one process minted on one grant. */
  static final class Use {
    final int owner;
    final long slotBits;
    final long firstTick;
    long lowest = Long.MAX_VALUE;
    long highest = Long.MIN_VALUE;

    Use(int owner, long slotBits, long firstTick) {
      this.owner = owner;
      this.slotBits = slotBits;
      this.firstTick = firstTick;
    }
  }

  private long[] table = new long[1 << 15];
  private final List<Use> uses = new ArrayList<>();
  private int count;
  private int duplicates;

  /** Takes note of an id; returns false if it was minted before. */
  boolean add(long id) {
    if (2 * count > table.length) {
      grow();
    }
    if (insert(table, id)) {
      count++;
      return true;
    }
    duplicates++;
    return false;
  }

  private void grow() {
    long[] larger = new long[2 * table.length];
    for (long id : table) {
      if (id != 0) {
        insert(larger, id);
      }
    }
    table = larger;
  }

  /** Ids are never 0: the epoch of the simulation's layouts lies before its time. */
  private static boolean insert(long[] table, long id) {
    int mask = table.length - 1;
    int at = (int) ((id * 0x9E3779B97F4A7C15L) >>> 40) & mask;
    while (table[at] != 0) {
      if (table[at] == id) {
        return false;
      }
      at = (at + 1) & mask;
    }
    table[at] = id;
    return true;
  }

  void add(Use use) {
    uses.add(use);
  }

  int count() {
    return count;
  }

  /** Ids that were minted twice. */
  int duplicates() {
    return duplicates;
  }

  /**
   * Pairs of grants of one slot that were used in overlapping stretches of time: a duplicate in the
   * making, even if by chance no two ids met.
   */
  int overlaps() {
    return describeOverlaps(overlap -> {});
  }

  int describeOverlaps(Consumer<String> listener) {
    List<Use> used = new ArrayList<>(uses);
    used.removeIf(use -> use.highest < use.lowest);
    used.sort(
        Comparator.<Use>comparingLong(use -> use.slotBits).thenComparingLong(use -> use.lowest));
    int overlaps = 0;
    Use reaching = null;
    for (Use use : used) {
      if (reaching == null || reaching.slotBits != use.slotBits) {
        reaching = use;
        continue;
      }
      if (use.lowest <= reaching.highest) {
        overlaps++;
        listener.accept(
            "overlap in slot "
                + use.slotBits
                + ": process "
                + reaching.owner
                + " minted from "
                + reaching.lowest
                + " to "
                + reaching.highest
                + ", process "
                + use.owner
                + " from "
                + use.lowest
                + " to "
                + use.highest);
      }
      if (use.highest > reaching.highest) {
        reaching = use;
      }
    }
    return overlaps;
  }
}
