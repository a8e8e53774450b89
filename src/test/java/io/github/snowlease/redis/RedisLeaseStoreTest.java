package io.github.snowlease.redis;

import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseStoreContract;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.testing.RedisExtension;
import io.github.snowlease.testing.RedisServer;
import io.github.snowlease.testing.RespClient;
import java.io.IOException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.ExtendWith;

/** The laws, on one Redis over TCP. */
@ExtendWith(RedisExtension.class)
class RedisLeaseStoreTest extends LeaseStoreContract {
  private static LeaseStore store;
  private static RespClient redis;

  @BeforeAll
  static void connect(RedisServer server) throws IOException {
    store = RedisLeaseStore.builder().uri(server.uri()).build();
    redis = server.connect();
  }

  @AfterAll
  static void disconnect() throws IOException {
    store.close();
    redis.close();
  }

  @Override
  protected LeaseStore store() {
    return store;
  }

  @Override
  protected BackDoor backDoor(LeaseTerms terms) {
    return new RedisBackDoor(redis, terms);
  }
}
