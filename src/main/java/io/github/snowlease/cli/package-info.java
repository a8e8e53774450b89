/** The command line, for people who operate a fleet: not part of the library's interface. */
@NullMarked
package io.github.snowlease.cli;

import org.jspecify.annotations.NullMarked;
