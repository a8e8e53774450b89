package io.github.snowlease;

import java.time.Instant;

/** This host's clock and the store's differ by more than {@code maxClockSkew}. */
public final class ClockSkewException extends SnowflakeException {
  private static final long serialVersionUID = 1L;

  ClockSkewException(long hostMillis, long storeMillis, long maxClockSkew) {
    super(
        "the clocks of host and store must agree within maxClockSkew="
            + maxClockSkew
            + "ms: host="
            + Instant.ofEpochMilli(hostMillis)
            + " store="
            + Instant.ofEpochMilli(storeMillis)
            + " difference="
            + (hostMillis - storeMillis)
            + "ms; synchronize both with NTP",
        null);
  }
}
