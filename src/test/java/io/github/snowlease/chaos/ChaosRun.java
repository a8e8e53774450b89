package io.github.snowlease.chaos;

import io.github.snowlease.BitLayout;
import io.github.snowlease.Snowflake;
import io.github.snowlease.testing.FakeTime;
import io.github.snowlease.testing.RedisServer;
import io.github.snowlease.testing.RespClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Directs one run: some processes that mint by way of a {@link RespProxy}, a master and a replica,
 * and one fault after another from a deck that is shuffled anew whenever it is used up. What
 * happens is drawn from the seed; when exactly it meets whom, a real machine decides.
 */
final class ChaosRun implements AutoCloseable {
  private static final int PROCESSES = 6;
  private static final int IDS_PER_SECOND = 70_000;
  private static final String LEDGER = "{chaos}:ledger";

  /** A quarantine, and the time to start. */
  private static final long SETTLING_MILLIS = 12_000;

  /** Eight slots for six processes, so that slots change hands. Windows of 5 s, H = 8.6 s. */
  private static final Map<String, String> SETTINGS =
      Map.of(
          "SNOWFLAKE_NAMESPACE", "chaos",
          "SNOWFLAKE_LAYOUT", "epoch=1704067200000,tick=1,bits=41/1/2/12",
          "SNOWFLAKE_LEASE_TTL", "10s",
          "SNOWFLAKE_MAX_CLOCK_SKEW", "1200ms",
          "SNOWFLAKE_HEARTBEAT_INTERVAL", "1s",
          "SNOWFLAKE_ACQUIRE_TIMEOUT", "30s");

  private final Path directory;
  private final Random random;
  private final long longestPauseMillis;
  private final NetworkFaults network;
  private final PriorityQueue<Event> agenda =
      new PriorityQueue<>((a, b) -> Long.signum(a.at - b.at));
  private final Map<ChaosFault, Integer> fired = new EnumMap<>(ChaosFault.class);
  private final List<Minter> all = new ArrayList<>();
  private final List<Minter> alive = new ArrayList<>();
  private RedisServer master;
  private RedisServer replica;
  private final RespProxy proxy;
  private String password = "";
  private boolean redisIsBusy;

  private record Event(long at, Runnable action) {}

  ChaosRun(Path directory, long seed, long longestPauseMillis) {
    this.directory = directory;
    this.longestPauseMillis = longestPauseMillis;
    random = new Random(seed);
    network = new NetworkFaults(seed);
    master = RedisServer.launchProcess();
    replica = RedisServer.launchProcess();
    proxy = new RespProxy(master.port(), network);
    follow();
    changePassword();
    createNamespace();
    for (int i = 0; i < PROCESSES; i++) {
      startProcess();
    }
  }

  private void createNamespace() {
    Snowflake.builder()
        .store(master.uri())
        .namespace(SETTINGS.get("SNOWFLAKE_NAMESPACE"))
        .layout(BitLayout.of(SETTINGS.get("SNOWFLAKE_LAYOUT")))
        .leaseTtl(Duration.ofSeconds(10))
        .maxClockSkew(Duration.ofMillis(1_200))
        .createNamespace();
  }

  // ---- The run

  /** Torments them for this long, then lets them recover, and ends them. */
  void run(Duration duration) throws InterruptedException {
    awaitAllMinting(Duration.ofSeconds(90));
    long end = System.nanoTime() + duration.toNanos();
    List<Enum<?>> deck = new ArrayList<>();
    long nextFault = System.nanoTime();
    while (System.nanoTime() < end || !hasAllFired()) {
      long now = System.nanoTime();
      if (now - end > TimeUnit.SECONDS.toNanos(60)) {
        return; // whoever asks sees what has not fired
      }
      while (!agenda.isEmpty() && agenda.peek().at - now <= 0) {
        agenda.remove().action.run();
      }
      if (now - nextFault >= 0) {
        if (deck.isEmpty()) {
          deck.addAll(List.of(ChaosFault.values()));
          deck.addAll(List.of(NetworkFault.values()));
          Collections.shuffle(deck, random);
        }
        Enum<?> fault = deck.remove(deck.size() - 1);
        if (!begin(fault)) {
          deck.add(random.nextInt(deck.size() + 1), fault);
        }
        nextFault = now + between(300, 2_500);
      }
      alive.forEach(Minter::listen);
      TimeUnit.MILLISECONDS.sleep(20);
    }
    recover();
  }

  private void recover() throws InterruptedException {
    network.end();
    while (!agenda.isEmpty()) {
      agenda.remove().action.run();
    }
    // A quarantine, a lease that runs out, and a start.
    awaitAllMinting(Duration.ofSeconds(60));
    alive.forEach(minter -> minter.process.terminate());
    for (Minter minter : alive) {
      minter.process.awaitExit(Duration.ofSeconds(30));
      minter.listen();
    }
  }

  private void awaitAllMinting(Duration limit) throws InterruptedException {
    long deadline = System.nanoTime() + limit.toNanos();
    for (Minter minter : alive) {
      long before = minter.minted();
      while (minter.minted() <= before + IDS_PER_SECOND / 50) {
        if (System.nanoTime() - deadline > 0) {
          throw new IllegalStateException("mints no more: " + minter.said + " " + minter.process);
        }
        TimeUnit.MILLISECONDS.sleep(20);
      }
    }
  }

  private boolean hasAllFired() {
    return notFired().isEmpty();
  }

  /** The faults that never happened. */
  List<Enum<?>> notFired() {
    List<Enum<?>> missing = new ArrayList<>();
    for (ChaosFault fault : ChaosFault.values()) {
      if (!fired.containsKey(fault)
          && (fault != ChaosFault.HOST_CLOCK_STEPPED || FakeTime.isAvailable())) {
        missing.add(fault);
      }
    }
    for (NetworkFault fault : NetworkFault.values()) {
      if (network.fired(fault) == 0) {
        missing.add(fault);
      }
    }
    return missing;
  }

  /** What happened, how often. */
  Map<String, Integer> counts() {
    Map<String, Integer> counts = new TreeMap<>();
    fired.forEach((fault, count) -> counts.put(fault.name(), count));
    for (NetworkFault fault : NetworkFault.values()) {
      counts.put(fault.name(), network.fired(fault));
    }
    return counts;
  }

  /** What the processes said. */
  Map<String, Integer> said() {
    Map<String, Integer> said = new TreeMap<>();
    all.forEach(
        minter -> minter.said.forEach((what, count) -> said.merge(what, count, Integer::sum)));
    return said;
  }

  /** The records of all processes there were. */
  List<Path> records() {
    return all.stream().map(minter -> minter.record).filter(Files::exists).toList();
  }

  // ---- Faults

  /** Begins a fault; false if it cannot be just now. */
  private boolean begin(Enum<?> fault) {
    if (fault instanceof NetworkFault onTheWay) {
      if (!network.begin(onTheWay)) {
        return false;
      }
      in(between(2_000, 5_000), network::end);
      return true;
    }
    ChaosFault kind = (ChaosFault) fault;
    boolean begun =
        switch (kind) {
          case PROCESS_PAUSED, PROCESS_KILLED, PROCESS_TERMINATED, HOST_CLOCK_STEPPED ->
              torment(kind);
          default -> !redisIsBusy && disturbRedis(kind);
        };
    if (begun) {
      fired.merge(kind, 1, Integer::sum);
    }
    return begun;
  }

  private boolean torment(ChaosFault fault) {
    Minter victim = alive.get(random.nextInt(alive.size()));
    if (victim.isPaused() || victim.isLeaving) {
      return false;
    }
    switch (fault) {
      case PROCESS_PAUSED -> {
        victim.pause();
        in(
            random.nextInt(3) == 0 ? between(100, longestPauseMillis) : between(100, 7_000),
            victim::resume);
      }
      case PROCESS_KILLED -> {
        victim.process.kill();
        replaceLater(victim);
      }
      case PROCESS_TERMINATED -> {
        victim.process.terminate();
        replaceLater(victim);
      }
      case HOST_CLOCK_STEPPED -> {
        if (!FakeTime.isAvailable()) {
          return true; // notFired() knows
        }
        victim.setClock((random.nextBoolean() ? 1 : -1) * between(1, 3_600));
        in(between(2_000, 12_000), () -> victim.setClock(0));
      }
      default -> throw new IllegalArgumentException(fault.name());
    }
    return true;
  }

  private void replaceLater(Minter victim) {
    victim.isLeaving = true;
    in(
        between(0, 3_000),
        () -> {
          victim.process.awaitExit(Duration.ofSeconds(30));
          victim.listen();
          alive.remove(victim);
          startProcess();
        });
  }

  private boolean disturbRedis(ChaosFault fault) {
    switch (fault) {
      case FLUSHALL -> {
        master.command("FLUSHALL");
        settle();
      }
      case SCRIPT_FLUSH -> master.command("SCRIPT", "FLUSH");
      case CLIENT_KILL -> endConnections();
      case REDIS_PAUSED -> {
        RedisServer paused = master;
        paused.pause();
        busyFor(between(500, 9_000), paused::resume);
      }
      case REDIS_RESTARTED -> {
        master.restart();
        Minter.admit(master, password);
        settle();
      }
      case REDIS_KILLED -> {
        master.kill();
        busyFor(
            between(0, 8_000),
            () -> {
              master.restart();
              Minter.admit(master, password);
              settle();
            });
      }
      case REDIS_RESTARTED_EMPTY -> {
        master.restartEmpty();
        Minter.admit(master, password);
        settle();
      }
      case LAGGING_REPLICA_PROMOTED -> {
        if (!replica.command("INFO", "replication").contains("master_link_status:up")) {
          return false;
        }
        replica.command("REPLICAOF", "NO", "ONE"); // from here on it lacks what the master is told
        busyFor(between(300, 4_000), this::promote);
      }
      case EVICTION -> {
        return evict();
      }
      case OUT_OF_MEMORY -> {
        master.command("CONFIG", "SET", "maxmemory", "1");
        busyFor(between(1_000, 7_000), () -> master.command("CONFIG", "SET", "maxmemory", "0"));
      }
      case PASSWORD_CHANGED -> {
        changePassword();
        endConnections();
      }
      case RIGHTS_TAKEN -> {
        master.command("ACL", "SETUSER", ChaosMinter.USER, "-eval", "-evalsha");
        busyFor(
            between(1_000, 7_000),
            () -> master.command("ACL", "SETUSER", ChaosMinter.USER, "+eval", "+evalsha"));
      }
      default -> throw new IllegalArgumentException(fault.name());
    }
    return true;
  }

  private void promote() {
    RedisServer old = master;
    old.kill();
    master = replica;
    replica = old;
    Minter.admit(master, password);
    proxy.setTarget(master.port());
    replica.restartEmpty();
    follow();
    settle();
  }

  private void follow() {
    replica.command("REPLICAOF", "127.0.0.1", Integer.toString(master.port()));
  }

  /** Fills Redis until something of ours is gone. */
  private boolean evict() {
    String used =
        master
            .command("INFO", "memory")
            .lines()
            .filter(line -> line.startsWith("used_memory:"))
            .findFirst()
            .orElseThrow()
            .substring("used_memory:".length())
            .strip();
    int before = ownKeys();
    master.command("CONFIG", "SET", "maxmemory-policy", "allkeys-random");
    master.command("CONFIG", "SET", "maxmemory", Long.toString(Long.parseLong(used) + 300_000));
    int after = before;
    for (int i = 0; i < 2_000 && after >= before; i++) {
      try {
        master.command("SET", "filling:" + i, "x".repeat(20_000));
      } catch (RespClient.RedisErrorException e) {
        break; // nothing is left that it could evict
      }
      after = ownKeys();
    }
    master.command("CONFIG", "SET", "maxmemory", "0");
    master.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
    for (String key : master.command("KEYS", "filling:*").split("\n", -1)) {
      master.command("DEL", key);
    }
    settle();
    return after < before;
  }

  private int ownKeys() {
    int ledger = Integer.parseInt(master.command("EXISTS", LEDGER));
    return ledger * 100 + master.command("KEYS", "{chaos}:nodes:*").split("\n", -1).length;
  }

  private void endConnections() {
    master.command("CLIENT", "KILL", "USER", ChaosMinter.USER);
  }

  private void changePassword() {
    password = Long.toHexString(random.nextLong());
    Minter.admit(master, password);
    try {
      Files.writeString(directory.resolve("password"), password);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void startProcess() {
    Map<String, String> settings = new HashMap<>(SETTINGS);
    settings.put("SNOWFLAKE_CLOSE_ON_JVM_EXIT", Boolean.toString(random.nextBoolean()));
    settings.put("SNOWFLAKE_ORDERING", random.nextBoolean() ? "total" : "per-thread");
    Minter minter =
        Minter.start(
            directory, all.size(), "redis://127.0.0.1:" + proxy.port(), IDS_PER_SECOND, settings);
    all.add(minter);
    alive.add(minter);
  }

  // ---- Time

  private long between(long least, long most) {
    return random.nextLong(least, most + 1);
  }

  private void in(long millis, Runnable action) {
    agenda.add(new Event(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis), action));
  }

  /** No other fault of Redis begins before this one has ended. */
  private void busyFor(long millis, Runnable action) {
    redisIsBusy = true;
    in(
        millis,
        () -> {
          redisIsBusy = false;
          action.run();
        });
  }

  /** After a loss of memory nobody is granted a slot for a while: let them get one. */
  private void settle() {
    busyFor(SETTLING_MILLIS, () -> {});
  }

  @Override
  public void close() {
    all.forEach(Minter::close);
    proxy.close();
    master.close();
    replica.close();
  }
}
