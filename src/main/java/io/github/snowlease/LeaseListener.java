package io.github.snowlease;

/**
 * Hears of changes of the lease, in their order, after they have happened, on the one thread that
 * also renews the lease: return soon, for a listener that blocks for more than 5 s costs the lease.
 * What it throws is logged and otherwise ignored. It may call any method of {@link Snowflake},
 * {@link Snowflake#close()} too.
 */
@FunctionalInterface
public interface LeaseListener {
  /**
   * The state of the lease has changed.
   *
   * @param event what changed
   */
  void onChange(LeaseEvent event);
}
