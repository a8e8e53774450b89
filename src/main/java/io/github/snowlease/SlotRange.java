package io.github.snowlease;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** The slots that a process may lease: all of a layout, those of one cluster, or just one. */
final class SlotRange {
  /** More would make the ledger too large to read in one go. */
  private static final int MAX_SLOTS = 1 << 16;

  private final @Nullable Integer cluster;

  /** {@code cluster << nodeBits | node} of the first slot: up to 60 bits. */
  private final long firstIndex;

  private final int size;
  private final int nodeBits;

  private SlotRange(@Nullable Integer cluster, long firstIndex, int size, int nodeBits) {
    this.cluster = cluster;
    this.firstIndex = firstIndex;
    this.size = size;
    this.nodeBits = nodeBits;
  }

  /** Both ids may be null for any; a node id needs a cluster id. */
  static SlotRange of(BitLayout layout, @Nullable Integer cluster, @Nullable Integer node) {
    requireFits("clusterId", cluster, layout.clusterBits());
    requireFits("nodeId", node, layout.nodeBits());
    if (cluster == null) {
      if (node != null) {
        throw new IllegalArgumentException("nodeId needs a clusterId: nodeId=" + node);
      }
      return new SlotRange(
          null, 0, checkedSize(layout.clusterBits() + layout.nodeBits()), layout.nodeBits());
    }
    long base = (long) cluster << layout.nodeBits();
    if (node != null) {
      return new SlotRange(cluster, base + node, 1, layout.nodeBits());
    }
    return new SlotRange(cluster, base, checkedSize(layout.nodeBits()), layout.nodeBits());
  }

  private static void requireFits(String name, @Nullable Integer id, int bits) {
    if (id != null && (id < 0 || id >>> bits != 0)) {
      throw new IllegalArgumentException(
          name + " must be 0 to " + ((1 << bits) - 1) + " in this layout: " + name + "=" + id);
    }
  }

  private static int checkedSize(int bits) {
    if (bits > 16) {
      throw new IllegalArgumentException(
          "a lease chooses among at most "
              + MAX_SLOTS
              + " slots: the layout and ids leave 2^"
              + bits
              + "; set clusterId, or use a layout with fewer cluster and node bits");
    }
    return 1 << bits;
  }

  int size() {
    return size;
  }

  boolean isPinned() {
    return size == 1;
  }

  boolean contains(Slot slot) {
    if (slot.node() >>> nodeBits != 0) {
      return false; // a slot of another layout, which would pass for one of the next cluster
    }
    long offset = (((long) slot.cluster() << nodeBits) | slot.node()) - firstIndex;
    return offset >= 0 && offset < size;
  }

  private Slot slot(int offset) {
    long index = firstIndex + offset;
    return new Slot((int) (index >>> nodeBits), (int) (index & ((1L << nodeBits) - 1)));
  }

  List<Slot> all() {
    List<Slot> slots = new ArrayList<>(size);
    for (int offset = 0; offset < size; offset++) {
      slots.add(slot(offset));
    }
    return slots;
  }

  /** Up to {@code count} different slots in random order; each slot is as likely as any other. */
  List<Slot> sample(int count, Random random) {
    if (count >= size) {
      List<Slot> slots = all();
      Collections.shuffle(slots, random);
      return slots;
    }
    List<Slot> slots = new ArrayList<>(count);
    BitSet chosen = new BitSet(size);
    while (slots.size() < count) {
      int offset = random.nextInt(size);
      if (!chosen.get(offset)) {
        chosen.set(offset);
        slots.add(slot(offset));
      }
    }
    return slots;
  }

  @Override
  public String toString() {
    if (size == 1) {
      return slot(0).toString();
    }
    return slot(0)
        + ".."
        + slot(size - 1)
        + (cluster == null ? "" : " (clusterId=" + cluster + ")");
  }
}
