/** What snowlease is judged by, each sentence a test on a real Redis. */
@NullMarked
package io.github.snowlease.acceptance;

import org.jspecify.annotations.NullMarked;
