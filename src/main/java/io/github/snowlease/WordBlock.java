package io.github.snowlease;

/**
 * Words of one tick that were reserved at once, and with the window that they were reserved in. To
 * the lease they count as minted.
 */
record WordBlock(LeaseWindow window, long firstWord, long lastWord) {
  int length() {
    return (int) (lastWord - firstWord) + 1;
  }

  /** The ids that follow are the next greater ones: the sequence is the low end of an id. */
  long firstId() {
    return window.idOf(firstWord);
  }

  void copyTo(long[] ids, int from) {
    long id = firstId();
    for (int i = from, end = from + length(); i < end; i++) {
      ids[i] = id++;
    }
  }
}
