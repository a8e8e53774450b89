package io.github.snowlease;

/** The namespace was created with another layout, and ids of two layouts may be equal. */
public final class LayoutMismatchException extends SnowflakeException {
  private static final long serialVersionUID = 1L;

  LayoutMismatchException(String namespace, String stored, String own) {
    super(
        "a namespace has one layout: namespace="
            + namespace
            + " stored="
            + stored
            + " own="
            + own
            + "; set snowflake.layout to the stored one, or use another namespace for another table",
        null);
  }
}
