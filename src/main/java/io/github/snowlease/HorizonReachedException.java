package io.github.snowlease;

/** The timestamp bits of the layout have run out: {@link BitLayout#horizon()} has passed. */
public final class HorizonReachedException extends SnowflakeException {
  private static final long serialVersionUID = 1L;

  HorizonReachedException(BitLayout layout) {
    super(
        "ids end at the horizon of the layout: horizon="
            + layout.horizon()
            + " layout="
            + layout
            + "; move the table to a layout with a later epoch or more timestamp bits",
        null);
  }
}
