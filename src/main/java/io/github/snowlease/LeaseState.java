package io.github.snowlease;

/**
 * Where a process stands with its lease.
 *
 * <pre>
 *   ACQUIRING ──granted──▶ HELD ──clocks disagree──▶ SUSPENDED
 *       ▲  ▲                │ ▲                        │   │
 *       │  └─────lost───────┘ └────────all is well─────┘   │
 *       └───────────────────────lost───────────────────────┘
 *   any ──close──▶ CLOSED
 * </pre>
 */
public enum LeaseState {
  /** Looking for a slot; no id is minted. */
  ACQUIRING,
  /** Holding a slot; ids are minted while the window lasts. */
  HELD,
  /**
   * Holding a slot, but this process may be a copy or have been frozen; no id is minted meanwhile.
   */
  SUSPENDED,
  /**
   * Over, for good; with {@link SnowflakeBuilder#closeOnJvmExit}, ids are still minted for a grace.
   */
  CLOSED
}
