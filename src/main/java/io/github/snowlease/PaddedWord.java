package io.github.snowlease;

/**
 * Keeps the generator's word on a cache line of its own: every minting thread writes it, and a
 * neighbour that is only read would travel with it. The fields around are never read.
 */
@SuppressWarnings("unused")
abstract class PaddedWord extends PaddingBefore {
  volatile long word;
  private long after0;
  private long after1;
  private long after2;
  private long after3;
  private long after4;
  private long after5;
  private long after6;
  private long after7;
}

/** A superclass's fields stand before those of its subclasses. */
@SuppressWarnings("unused")
abstract class PaddingBefore {
  private long before0;
  private long before1;
  private long before2;
  private long before3;
  private long before4;
  private long before5;
  private long before6;
  private long before7;
}
