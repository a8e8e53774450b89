/** What holds the architecture, and violations of it to see that it is held. */
package io.github.snowlease.architecture;
