package io.github.snowlease.redis;

import io.github.snowlease.LeaseStoreContract.BackDoor;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.Slot;
import io.github.snowlease.testing.RespClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reaches the keys of a namespace with a client that knows nothing of the store. */
final class RedisBackDoor implements BackDoor {
  private final RespClient redis;
  private final LeaseTerms terms;

  RedisBackDoor(RespClient redis, LeaseTerms terms) {
    this.redis = redis;
    this.terms = terms;
  }

  @Override
  public Map<String, String> ledger() {
    List<?> pairs = (List<?>) call("HGETALL", ledgerKey());
    Map<String, String> fields = new HashMap<>();
    for (int i = 0; i < pairs.size(); i += 2) {
      fields.put(pairs.get(i).toString(), pairs.get(i + 1).toString());
    }
    return fields;
  }

  @Override
  public void set(String field, String value) {
    call("HSET", ledgerKey(), field, value);
  }

  @Override
  public void unset(String field) {
    call("HDEL", ledgerKey(), field);
  }

  @Override
  public void forget() {
    call("DEL", ledgerKey());
    for (int cluster = 0; cluster < 32; cluster++) {
      String[] del = new String[33];
      del[0] = "DEL";
      for (int node = 0; node < 32; node++) {
        del[node + 1] = leaseKey(new Slot(cluster, node));
      }
      call(del);
    }
  }

  @Override
  public @Nullable String lease(Slot slot) {
    return (String) call("GET", leaseKey(slot));
  }

  @Override
  public long leaseLife(Slot slot) {
    return (Long) call("PTTL", leaseKey(slot));
  }

  @Override
  public void block(Slot slot, String text) {
    call("SET", leaseKey(slot), text);
  }

  @Override
  public void putForeignThing(Slot slot) {
    removeLease(slot);
    call("RPUSH", leaseKey(slot), "a", "b");
  }

  @Override
  public void removeLease(Slot slot) {
    call("DEL", leaseKey(slot));
  }

  private String ledgerKey() {
    return "{" + terms.namespace() + "}:ledger";
  }

  private String leaseKey(Slot slot) {
    return "{" + terms.namespace() + "}:nodes:" + slot.cluster() + ":" + slot.node();
  }

  private Object call(String... command) {
    try {
      return redis.call(command);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
