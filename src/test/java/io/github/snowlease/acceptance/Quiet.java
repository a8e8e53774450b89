package io.github.snowlease.acceptance;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** Keeps the warnings of those faults that a test makes on purpose out of its output. */
final class Quiet implements AutoCloseable {
  private final Logger logger = (Logger) LoggerFactory.getLogger("io.github.snowlease");
  private final @Nullable Level before = logger.getLevel();

  private Quiet() {}

  static Quiet begin() {
    Quiet quiet = new Quiet();
    quiet.logger.setLevel(Level.ERROR);
    return quiet;
  }

  @Override
  public void close() {
    logger.setLevel(before);
  }
}
