package io.github.snowlease.architecture.planted.redis;

import io.github.snowlease.architecture.planted.Core;
import io.github.snowlease.architecture.planted.file.FileStore;
import io.lettuce.core.RedisClient;

/** A store that knows another one beside what it may know. */
public abstract class RedisStore {
  Core core;
  RedisClient client;
  FileStore other;
}
