package io.github.snowlease.architecture.planted;

import io.github.snowlease.architecture.planted.redis.RedisStore;
import io.lettuce.core.RedisClient;

/** A core class that knows what it must not know. */
public abstract class Core {
  RedisClient client;
  RedisStore store;
  String allowed;
}
