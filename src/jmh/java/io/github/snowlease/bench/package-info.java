/**
 * Benchmarks of ids beside the peers: {@code mvn -Pbench verify}. {@link
 * io.github.snowlease.bench.Bench} runs everything and prints one table; {@code docs/benchmarks.md}
 * says what the columns mean.
 */
package io.github.snowlease.bench;
