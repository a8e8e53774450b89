/** Violations of the architecture, for its self-test. */
package io.github.snowlease.architecture.planted;
