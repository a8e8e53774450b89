/**
 * Real processes, a real Redis, and everything that can go wrong between them, at random: see
 * {@link io.github.snowlease.chaos.ChaosTest}.
 */
@NullMarked
package io.github.snowlease.chaos;

import org.jspecify.annotations.NullMarked;
