package io.github.snowlease.redis;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledExecutorService;

/** The way to the Redis that keeps a namespace. Methods return at once and never throw. */
interface Link {
  /**
   * Finds an open connection.
   *
   * @param ledger the ledger's key, which in a cluster tells the server
   * @param oneConnection whether all commands must use one connection, as WAIT demands
   * @return the connection; a failure means that nothing was sent
   */
  CompletionStage<Peer> connect(String ledger, boolean oneConnection);

  /** Tells that a connection is of no use any more: silent, or to a server that cannot serve. */
  void giveUp(Peer peer);

  /** What runs deadlines. */
  ScheduledExecutorService timer();

  /** Where Redis is, without secrets. */
  String where();

  /** Closes connections of the store's own until the next question; returns within a second. */
  void disconnect();

  /** Gives up what is the store's own; idempotent, returns within a second. */
  void close();
}
