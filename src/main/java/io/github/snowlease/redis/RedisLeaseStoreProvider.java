package io.github.snowlease.redis;

import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseStoreProvider;
import io.github.snowlease.LeaseTerms;
import java.time.Duration;

/**
 * Opens stores in Redis, for {@link java.util.ServiceLoader}: {@code redis://}, {@code rediss://},
 * {@code redis-socket://} and {@code redis-sentinel://}. Code that wants a Redis store itself uses
 * {@link RedisLeaseStore#builder()}.
 */
public final class RedisLeaseStoreProvider implements LeaseStoreProvider {
  /** Creates a provider; it keeps no state. */
  public RedisLeaseStoreProvider() {}

  @Override
  public boolean supports(String scheme) {
    return StoreUri.isScheme(scheme);
  }

  @Override
  public LeaseStore open(String uri, LeaseTerms terms) {
    return RedisLeaseStore.builder()
        .uri(uri)
        .commandTimeout(Duration.ofMillis(terms.commandTimeout()))
        .build();
  }
}
