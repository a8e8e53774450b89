/** Leases kept in Redis, through Lettuce. */
@NullMarked
package io.github.snowlease.redis;

import org.jspecify.annotations.NullMarked;
