package io.github.snowlease;

import java.time.Instant;

/**
 * An id and its parts, as {@link BitLayout#parse} finds them. Immutable.
 *
 * @param value the id itself
 * @param timestamp the beginning of the tick in which it was minted
 * @param cluster the cluster id
 * @param node the node id
 * @param sequence the number within the tick, from 0
 */
public record SnowflakeId(long value, Instant timestamp, int cluster, int node, long sequence) {
  /**
   * The slot that minted the id.
   *
   * @return cluster and node
   */
  public Slot slot() {
    return new Slot(cluster, node);
  }
}
