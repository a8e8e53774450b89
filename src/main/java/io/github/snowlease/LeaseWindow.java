package io.github.snowlease;

/**
 * What a grant permits: ids of one slot whose timestamp lies in {@code [lo, until]}. Immutable.
 *
 * <p>Bounds are kept as state words of the generator ({@code tick << sequenceBits | sequence}), so
 * that the check of an id is two comparisons. Tick t of u ms is usable if and only if it lies
 * wholly inside: {@code t·u >= lo} and {@code (t + 1)·u - 1 <= until}, which is what makes two
 * windows with {@code until < lo'} share no id even if their ends fall inside one tick.
 */
final class LeaseWindow {
  /** Permits nothing. */
  static final LeaseWindow NONE = new LeaseWindow(0, 1, 0, 0, 0);

  /** The first word that may be minted. */
  final long firstWord;

  /** The last word that may be minted; below {@link #firstWord} if none may. */
  final long lastWord;

  private final long slotBits;
  private final int sequenceBits;
  private final int timestampShift;

  private LeaseWindow(
      long slotBits, long firstWord, long lastWord, int sequenceBits, int timestampShift) {
    this.slotBits = slotBits;
    this.firstWord = firstWord;
    this.lastWord = lastWord;
    this.sequenceBits = sequenceBits;
    this.timestampShift = timestampShift;
  }

  /** The window of a grant; {@code lo} and {@code until} in milliseconds since 1970, inclusive. */
  static LeaseWindow of(BitLayout layout, Slot slot, long lo, long until) {
    long tick = layout.tickMillis();
    long firstTick = Math.max(0, -Math.floorDiv(layout.epochMillis() - lo, tick));
    long endTick = Math.floorDiv(until + 1 - layout.epochMillis(), tick);
    long lastTick = Math.min(endTick - 1, layout.maxTick());
    if (lastTick < firstTick) {
      return NONE;
    }
    // The largest long is left out: with a sign bit it would look like the generator's CLOSED, and
    // its successor would be negative.
    return new LeaseWindow(
        layout.slotBits(slot),
        firstTick << layout.sequenceBits(),
        Math.min(((lastTick + 1) << layout.sequenceBits()) - 1, Long.MAX_VALUE - 1),
        layout.sequenceBits(),
        layout.timestampShift());
  }

  /** The id of a word: the word cut at the sequence, with the slot's bits between. */
  long idOf(long word) {
    return ((word >>> sequenceBits) << timestampShift)
        | slotBits
        | (word & ((1L << sequenceBits) - 1));
  }

  /** Whether this permits all that another window does, and the same slot only. */
  boolean isExtensionOf(LeaseWindow other) {
    return other.isEmpty()
        || (slotBits == other.slotBits
            && firstWord == other.firstWord
            && lastWord >= other.lastWord);
  }

  /** The last tick that may be minted in; 0 if none may. */
  long lastTick() {
    return lastWord >>> sequenceBits;
  }

  boolean isEmpty() {
    return lastWord < firstWord;
  }
}
