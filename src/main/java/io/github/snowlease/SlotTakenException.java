package io.github.snowlease;

/** The one slot that was asked for by cluster id and node id has another holder. */
public final class SlotTakenException extends SnowflakeException {
  private static final long serialVersionUID = 1L;

  private final Slot slot;
  private final String holder;

  SlotTakenException(Slot slot, String holder) {
    super(
        "a slot has one holder at a time: slot="
            + slot
            + " holder="
            + (holder.isEmpty() ? "unknown" : holder)
            + "; give this process another node id, leave the node id out to lease any free slot, or"
            + " stop the holder",
        null);
    this.slot = slot;
    this.holder = holder;
  }

  /**
   * The slot that was asked for.
   *
   * @return the slot
   */
  public Slot slot() {
    return slot;
  }

  /**
   * What the store tells of its holder, for people to read.
   *
   * @return the holder's host, pid and application as the store shows them, or an empty string
   */
  public String holder() {
    return holder;
  }
}
