/**
 * The demonstration that {@code mvn -q test-compile exec:java} runs: real processes lease slots in
 * a real Redis, one is killed, one frozen while another takes its slot, and every id is compared.
 */
@NullMarked
package io.github.snowlease.demo;

import org.jspecify.annotations.NullMarked;
