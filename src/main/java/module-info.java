/** Snowflake ids whose worker slots are leased in Redis. */
module io.github.snowlease {
  exports io.github.snowlease;
  exports io.github.snowlease.file;
  exports io.github.snowlease.redis;

  requires transitive lettuce.core;
  requires io.netty.buffer;
  requires io.netty.codec;
  requires io.netty.handler;
  requires io.netty.transport;
  requires org.slf4j;
  requires static info.picocli;
  requires static java.logging;
  requires static org.crac;
  requires static transitive org.jspecify;

  uses io.github.snowlease.LeaseStoreProvider;

  provides io.github.snowlease.LeaseStoreProvider with
      io.github.snowlease.file.FileLeaseStoreProvider,
      io.github.snowlease.redis.RedisLeaseStoreProvider;
}
