package io.github.snowlease;

import java.io.Serializable;

/**
 * A place in the fleet: a (cluster, node) pair that one process leases at a time. Immutable.
 *
 * @param cluster the cluster id, {@code >= 0}
 * @param node the node id within the cluster, {@code >= 0}
 */
public record Slot(int cluster, int node) implements Serializable {
  /**
   * Checks the ranges that hold for every layout; a layout narrows them further.
   *
   * @throws IllegalArgumentException if a part is negative
   */
  public Slot {
    if (cluster < 0 || node < 0) {
      throw new IllegalArgumentException(
          "cluster and node must be >= 0: cluster=" + cluster + " node=" + node);
    }
  }

  /** Returns {@code cluster:node}, the form in which stores and messages name a slot. */
  @Override
  public String toString() {
    return cluster + ":" + node;
  }
}
