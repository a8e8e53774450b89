package io.github.snowlease;

import org.jspecify.annotations.Nullable;

/** The root of what this library throws; unchecked. */
public class SnowflakeException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param message the rule, then name=value, then what to do
   * @param cause what led to it, or null
   */
  public SnowflakeException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
