package io.github.snowlease;

import org.jspecify.annotations.Nullable;

/**
 * No id could be minted within {@code maxWait}, or ever again. The message names the state, the
 * slot and the age of the last renewal.
 */
public final class NoLeaseException extends SnowflakeException {
  private static final long serialVersionUID = 1L;

  /** Why no id could be minted. */
  public enum Reason {
    /** No lease has been granted yet. */
    NOT_YET,
    /** The window ended, or the lease was lost, and no new one was granted in time. */
    LOST,
    /** More ids were asked for than the layout allows. */
    SATURATED,
    /** The store's clock went back; ids wait until it has caught up. */
    CLOCK_HELD,
    /** {@code close()} was called; no id will be minted any more. */
    CLOSED,
    /** The caller was interrupted while it would have had to wait; its interrupt flag is set. */
    INTERRUPTED
  }

  private final Reason reason;

  NoLeaseException(Reason reason, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.reason = reason;
  }

  /**
   * Why no id could be minted.
   *
   * @return the reason
   */
  public Reason reason() {
    return reason;
  }
}
