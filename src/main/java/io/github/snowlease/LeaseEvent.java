package io.github.snowlease;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A change of {@link LeaseState}, as told to a {@link LeaseListener}. Immutable. */
public final class LeaseEvent {
  private final LeaseState from;
  private final LeaseState to;
  private final @Nullable Slot slot;
  private final String reason;

  LeaseEvent(LeaseState from, LeaseState to, @Nullable Slot slot, String reason) {
    this.from = from;
    this.to = to;
    this.slot = slot;
    this.reason = reason;
  }

  /**
   * The state before.
   *
   * @return the state before
   */
  public LeaseState from() {
    return from;
  }

  /**
   * The state after. It may have changed again by the time the listener hears of it.
   *
   * @return the state after
   */
  public LeaseState to() {
    return to;
  }

  /**
   * The slot that was won, is held, or was lost.
   *
   * @return the slot, or empty if there is none
   */
  public Optional<Slot> slot() {
    return Optional.ofNullable(slot);
  }

  /**
   * Why, in a few words for people.
   *
   * @return the reason
   */
  public String reason() {
    return reason;
  }

  @Override
  public String toString() {
    return from + " -> " + to + (slot == null ? "" : " slot=" + slot) + ": " + reason;
  }
}
