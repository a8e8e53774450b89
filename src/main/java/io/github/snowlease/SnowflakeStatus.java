package io.github.snowlease;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The lease at one moment, for health checks and people. Immutable. */
public final class SnowflakeStatus {
  private final LeaseState state;
  private final @Nullable Slot slot;
  private final @Nullable Instant windowEnd;
  private final @Nullable Duration sinceRenewal;
  private final @Nullable Duration clockSkew;
  private final int failures;
  private final @Nullable SnowflakeException lastFailure;
  private final Instant horizon;

  SnowflakeStatus(
      LeaseState state,
      @Nullable Slot slot,
      @Nullable Instant windowEnd,
      @Nullable Duration sinceRenewal,
      @Nullable Duration clockSkew,
      int failures,
      @Nullable SnowflakeException lastFailure,
      Instant horizon) {
    this.state = state;
    this.slot = slot;
    this.windowEnd = windowEnd;
    this.sinceRenewal = sinceRenewal;
    this.clockSkew = clockSkew;
    this.failures = failures;
    this.lastFailure = lastFailure;
    this.horizon = horizon;
  }

  /**
   * Where the lease stands.
   *
   * @return the state
   */
  public LeaseState state() {
    return state;
  }

  /**
   * Whether ids can be minted: for a readiness probe.
   *
   * @return true if a slot is held and its window has not ended
   */
  public boolean isReady() {
    return state == LeaseState.HELD;
  }

  /**
   * The slot that is held.
   *
   * @return the slot, or empty if none is held
   */
  public Optional<Slot> slot() {
    return Optional.ofNullable(slot);
  }

  /**
   * The end of the present window in the store's time: no id carries a later timestamp.
   *
   * @return the end, or empty if no slot is held
   */
  public Optional<Instant> windowEnd() {
    return Optional.ofNullable(windowEnd);
  }

  /**
   * The time since the store last granted or extended the window.
   *
   * @return the age of the last renewal, or empty if there was none
   */
  public Optional<Duration> sinceRenewal() {
    return Optional.ofNullable(sinceRenewal);
  }

  /**
   * This host's wall clock minus the store's clock.
   *
   * @return the difference, or empty if the store was never heard of
   */
  public Optional<Duration> clockSkew() {
    return Optional.ofNullable(clockSkew);
  }

  /**
   * How many questions to the store have failed in a row.
   *
   * @return 0 if the last one succeeded
   */
  public int failures() {
    return failures;
  }

  /**
   * Why the last question failed or was refused.
   *
   * @return the failure, or empty if the last one succeeded
   */
  public Optional<SnowflakeException> lastFailure() {
    return Optional.ofNullable(lastFailure);
  }

  /**
   * The end of the layout.
   *
   * @return the last instant that an id can carry
   */
  public Instant horizon() {
    return horizon;
  }

  @Override
  public String toString() {
    return "state="
        + state
        + " slot="
        + (slot == null ? "none" : slot)
        + " windowEnd="
        + (windowEnd == null ? "none" : windowEnd)
        + " sinceRenewal="
        + (sinceRenewal == null ? "none" : sinceRenewal.toMillis() + "ms")
        + " clockSkew="
        + (clockSkew == null ? "unknown" : clockSkew.toMillis() + "ms")
        + " failures="
        + failures
        + " lastFailure="
        + (lastFailure == null ? "none" : lastFailure.getMessage())
        + " horizon="
        + horizon;
  }
}
