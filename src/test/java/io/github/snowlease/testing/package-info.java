/**
 * What tests stand on: a real Redis ({@link io.github.snowlease.testing.RedisExtension}) and real
 * child processes ({@link io.github.snowlease.testing.JavaProcess}).
 */
@NullMarked
package io.github.snowlease.testing;

import org.jspecify.annotations.NullMarked;
