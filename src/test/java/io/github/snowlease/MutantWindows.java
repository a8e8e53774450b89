package io.github.snowlease;

/** Windows with other bounds than those that were granted, for mutants. */
final class MutantWindows {
  private MutantWindows() {}

  /** The window's slot, from one tick to another, both included. */
  static LeaseWindow between(BitLayout layout, LeaseWindow window, long firstTick, long lastTick) {
    int node = (int) (window.idOf(0) >>> layout.sequenceBits());
    long epoch = layout.epochMillis();
    long tick = layout.tickMillis();
    return LeaseWindow.of(
        layout, new Slot(0, node), epoch + firstTick * tick, epoch + (lastTick + 1) * tick - 1);
  }
}
