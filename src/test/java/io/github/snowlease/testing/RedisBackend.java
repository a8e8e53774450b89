package io.github.snowlease.testing;

/** One redis-server that can be stopped and started again on its port: a process or a container. */
interface RedisBackend extends AutoCloseable {

  /** Starts it; returns before it answers. */
  void start();

  /** Whether it runs, frozen or not. */
  boolean isRunning();

  /** Its process id on the machine that runs it. */
  long pid();

  /** SIGTERM, and the wait for its end. */
  void terminate();

  /** SIGKILL, and the wait for its end. */
  void kill();

  /** Freezes it. */
  void pause();

  /** Thaws it. */
  void resume();

  /** Throws its data away; it must not run. */
  void deleteData();

  /** What it wrote to its log, for an error message. */
  String log();

  /** Ends it and removes what it left. */
  @Override
  void close();
}
