package io.github.snowlease;

import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** All slots of the allowed range were taken for as long as {@code acquireTimeout}. */
public final class NoFreeNodeException extends SnowflakeException {
  private static final long serialVersionUID = 1L;

  private final int slots;
  private final int held;
  private final @Nullable Duration retryAfter;

  NoFreeNodeException(String range, int slots, int held, int unusable, long waitMillis) {
    super(
        "every process needs a free slot: range="
            + range
            + " slots="
            + slots
            + " held="
            + held
            + " unusable="
            + unusable
            + " nextFreeIn="
            + (waitMillis < 0 ? "unknown" : waitMillis + "ms")
            + "; stop processes that are not needed, or use a layout with more node bits for a new"
            + " table",
        null);
    this.slots = slots;
    this.held = held;
    this.retryAfter = waitMillis < 0 ? null : Duration.ofMillis(waitMillis);
  }

  /**
   * How many slots the allowed range has.
   *
   * @return the number of slots
   */
  public int slots() {
    return slots;
  }

  /**
   * How many of them were held or not yet free again when they were last read.
   *
   * @return the number of slots
   */
  public int held() {
    return held;
  }

  /**
   * When a slot may come free.
   *
   * @return the time until the first lease ends unless it is renewed; empty if nobody knows
   */
  public Optional<Duration> retryAfter() {
    return Optional.ofNullable(retryAfter);
  }
}
