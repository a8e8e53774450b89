package io.github.snowlease;

import org.jspecify.annotations.Nullable;

/** The store could not be asked, or refused to answer; the message says what to do. */
public final class LeaseStoreException extends SnowflakeException {
  private static final long serialVersionUID = 1L;

  /** What kind of failure it is. */
  public enum Reason {
    /** There is no connection; nothing was sent. */
    UNREACHABLE(false, false),
    /** Something was sent, and no answer came in time. */
    NO_REPLY(true, false),
    /** Fewer replicas than demanded acknowledged the write in time. */
    TOO_FEW_REPLICAS(true, false),
    /** The store cannot serve for the moment: loading, busy, failing over, read-only, full. */
    UNAVAILABLE(true, false),
    /** User, password or certificate are wrong or missing. */
    UNAUTHENTICATED(false, true),
    /** The user lacks a right. */
    DENIED(true, true),
    /** A key of the namespace holds something else. */
    WRONG_TYPE(true, true),
    /** The store cannot do this job at all: too old, or not what the URI says. */
    UNSUPPORTED(false, true),
    /** Anything else. */
    OTHER(true, false);

    private final boolean mayHaveRun;
    private final boolean needsOperator;

    Reason(boolean mayHaveRun, boolean needsOperator) {
      this.mayHaveRun = mayHaveRun;
      this.needsOperator = needsOperator;
    }
  }

  private final Reason reason;

  /**
   * Creates an exception.
   *
   * @param reason what kind of failure it is
   * @param message what happened and what to do, without secrets
   * @param cause what led to it, or null
   */
  public LeaseStoreException(Reason reason, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.reason = reason;
  }

  /**
   * What kind of failure it is.
   *
   * @return the reason
   */
  public Reason reason() {
    return reason;
  }

  /**
   * Says whether the store may have carried out what it was asked. False is a promise that it did
   * not.
   *
   * @return whether the outcome is unknown
   */
  public boolean mayHaveRun() {
    return reason.mayHaveRun;
  }

  /**
   * Says whether trying again is in vain until somebody changes a setting: then a start fails at
   * once.
   *
   * @return whether an operator is needed
   */
  public boolean needsOperator() {
    return reason.needsOperator;
  }
}
