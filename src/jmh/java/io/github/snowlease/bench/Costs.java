package io.github.snowlease.bench;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.github.snowlease.Snowflake;
import io.github.snowlease.SnowflakeBuilder;
import io.github.snowlease.redis.RedisLeaseStore;
import io.github.snowlease.testing.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.slf4j.LoggerFactory;

/**
 * What everything but an id costs: starting, claims and renewals in Redis, threads and heap, and a
 * whole fleet that starts at once. Runs a Redis of its own.
 */
public final class Costs {
  private static final int STARTS = 50;
  private static final int FLEET = 1_024;

  private final RedisServer redis;

  private Costs(RedisServer redis) {
    this.redis = redis;
  }

  /** Measures and prints. */
  public static void main(String[] args) throws InterruptedException {
    // A thousand connections at once are told of one by one, and so is the end of the server.
    ((Logger) LoggerFactory.getLogger("io")).setLevel(Level.OFF);
    try (RedisServer redis = RedisServer.launch()) {
      System.out.println("Redis " + redis.version());
      Costs costs = new Costs(redis);
      costs.firstStart();
      costs.laterStarts();
      costs.renewals();
      costs.fleet();
    }
    System.exit(0);
  }

  private SnowflakeBuilder builder(String namespace) {
    return Snowflake.builder().store(redis.uri()).namespace(namespace);
  }

  private void firstStart() {
    builder("first").createNamespace();
    redis.command("CONFIG", "RESETSTAT");
    Set<String> threadsBefore = threads();
    long heapBefore = heap();
    long start = System.nanoTime();
    Snowflake snowflake = builder("first").start();
    print("first start, ms", (System.nanoTime() - start) / 1e6);
    snowflake.nextId();
    Set<String> added = threads();
    added.removeAll(threadsBefore);
    System.out.println("threads of an instance: " + added);
    print("heap with the classes of Lettuce and Netty, KiB", (heap() - heapBefore) / 1024.0);
    snowflake.close();
  }

  private void laterStarts() throws InterruptedException {
    builder("later").createNamespace();
    List<Snowflake> open = new ArrayList<>();
    List<Double> millis = new ArrayList<>();
    redis.command("CONFIG", "RESETSTAT");
    long heapBefore = heap();
    for (int i = 0; i < STARTS; i++) {
      long start = System.nanoTime();
      open.add(builder("later").start());
      millis.add((System.nanoTime() - start) / 1e6);
    }
    print("a later start, median ms", millis.stream().sorted().toList().get(STARTS / 2));
    print("heap of an instance with its client, KiB", (heap() - heapBefore) / 1024.0 / STARTS);
    System.out.println("commands of " + STARTS + " starts and of their scripts:");
    printCommands();
    redis.command("CONFIG", "RESETSTAT");
    open.forEach(Snowflake::close);
    System.out.println("commands of " + STARTS + " closings:");
    printCommands();
  }

  private void renewals() throws InterruptedException {
    builder("renewed").createNamespace();
    List<Snowflake> open = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      open.add(
          builder("renewed")
              .leaseTtl(Duration.ofSeconds(10))
              .heartbeatInterval(Duration.ofMillis(100))
              .start());
    }
    Thread.sleep(500); // what the starts still ask for, their warnings, is not to be counted
    redis.command("CONFIG", "RESETSTAT");
    Thread.sleep(3_000); // the span that is measured
    System.out.println("commands of renewals, ten holders every 100 ms for 3 s:");
    printCommands();
    open.forEach(Snowflake::close);
  }

  /** As many as the standard layout has slots, each with a connection of its own. */
  private void fleet() {
    builder("fleet").createNamespace();
    RedisURI uri = RedisURI.create(redis.uri());
    RedisClient client = RedisClient.create(uri);
    redis.command("CONFIG", "RESETSTAT");
    long start = System.nanoTime();
    List<CompletableFuture<Snowflake>> starts = new ArrayList<>();
    for (int i = 0; i < FLEET; i++) {
      starts.add(
          Snowflake.builder()
              .store(RedisLeaseStore.using(client, uri))
              .namespace("fleet")
              .startAsync());
    }
    List<Snowflake> open = starts.stream().map(CompletableFuture::join).toList();
    print(
        FLEET + " managers at once: until all have a slot, ms", (System.nanoTime() - start) / 1e6);
    long slots =
        open.stream().map(ids -> ids.parse(ids.nextId())).map(Costs::slot).distinct().count();
    print("different slots", (double) slots);
    printCommands();
  }

  private static String slot(io.github.snowlease.SnowflakeId id) {
    return id.cluster() + "/" + id.node();
  }

  private static void print(String what, double value) {
    System.out.println(what + ": " + String.format(Locale.ROOT, "%,.1f", value));
  }

  private void printCommands() {
    redis
        .command("INFO", "commandstats")
        .lines()
        .filter(line -> line.startsWith("cmdstat_") && !line.contains("config|resetstat"))
        .map(line -> "  " + line.substring("cmdstat_".length()).replaceAll(",rejected.*", ""))
        .forEach(System.out::println);
  }

  private static Set<String> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static long heap() {
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }
}
