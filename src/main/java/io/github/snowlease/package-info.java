/**
 * Snowflake ids on slots leased by a fleet: the public API, the generator and the lease manager.
 *
 * <p>{@link io.github.snowlease.Snowflake} is the way in; {@link io.github.snowlease.LeaseStore} is
 * the way to another store.
 */
@NullMarked
package io.github.snowlease;

import org.jspecify.annotations.NullMarked;
