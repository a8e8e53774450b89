package io.github.snowlease.architecture.planted.file;

import io.github.snowlease.architecture.planted.redis.RedisStore;

/** A store that closes a circle. */
public abstract class FileStore {
  RedisStore other;
}
