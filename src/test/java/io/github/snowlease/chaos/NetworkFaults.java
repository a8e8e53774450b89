package io.github.snowlease.chaos;

import java.util.EnumMap;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** One kind of fault at a time befalls every other script that is called through the proxy. */
final class NetworkFaults implements RespProxy.Plan {
  private final Random random;
  private final Map<NetworkFault, Integer> fired = new EnumMap<>(NetworkFault.class);
  private @Nullable NetworkFault active;

  NetworkFaults(long seed) {
    random = new Random(seed);
  }

  /** Begins one, unless another is under way. */
  synchronized boolean begin(NetworkFault fault) {
    if (active != null) {
      return false;
    }
    active = fault;
    return true;
  }

  synchronized void end() {
    active = null;
  }

  synchronized int fired(NetworkFault fault) {
    return fired.getOrDefault(fault, 0);
  }

  @Override
  public synchronized @Nullable NetworkFault next(String command) {
    NetworkFault fault = active;
    if (fault == null || !command.startsWith("EVAL") || random.nextBoolean()) {
      return null;
    }
    fired.merge(fault, 1, Integer::sum);
    return fault;
  }

  @Override
  public synchronized long delayMillis() {
    return random.nextLong(200, 15_000);
  }
}
