/** Snowflake ids whose worker slots are leased in Redis. */
module io.github.snowlease {
  exports io.github.snowlease;

  requires lettuce.core;
  requires org.slf4j;
  requires static org.crac;
  requires static transitive org.jspecify;
}
