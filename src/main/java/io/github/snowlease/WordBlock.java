package io.github.snowlease;

/**
 * Words of one tick that were reserved at once, and with the window that they were reserved in. To
 * the lease they count as minted.
 */
record WordBlock(LeaseWindow window, long firstWord, long lastWord) {
  int length() {
    return (int) (lastWord - firstWord) + 1;
  }

  /** Words of one tick differ in the sequence alone, which is the low end of the id. */
  void copyTo(long[] ids, int from) {
    long id = window.idOf(firstWord);
    for (int i = from, end = from + length(); i < end; i++) {
      ids[i] = id++;
    }
  }
}
