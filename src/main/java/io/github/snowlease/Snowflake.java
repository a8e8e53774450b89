package io.github.snowlease;

import io.github.snowlease.LeaseStore.Holder;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.util.Locale;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Mints 64-bit ids that no other process of the fleet mints, on a slot that it leases for as long
 * as it is open. Start one in each process, at boot, and share it:
 *
 * <pre>{@code
 * static final Snowflake IDS = Snowflake.start();
 * long id = IDS.nextId();
 * }</pre>
 *
 * <p><b>Guarantee.</b> No two ids of a namespace are equal, however long a process is paused and
 * whatever its clock does, as long as the store keeps what it has acknowledged. Where that cannot
 * be kept, {@link #nextId()} throws. {@code docs/safety.md} has the argument and what is not
 * protected.
 *
 * <p><b>Order.</b> Ids of one instance are linearizable: one that was returned before another call
 * began is smaller than that call's; unless {@link Ordering#PER_THREAD} was asked for, which says
 * less. Ids of different processes are ordered by their timestamps, as exactly as the store's clock
 * is known, that is to some milliseconds.
 *
 * <p><b>Checkpoints.</b> If the application brings {@code org.crac}, the slot is handed back before
 * a checkpoint of the process, and a slot is leased anew after; in between there is no lease.
 *
 * <p>Thread-safe. {@link #nextId()} takes no lock and allocates nothing; with {@link
 * Ordering#PER_THREAD}, some bytes for each block that it reserves.
 */
public final class Snowflake implements LongSupplier, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Snowflake.class);

  /** A first connection of a cold JVM may take longer than a command may. */
  private static final long CREATION_PATIENCE_NANOS = 3_000_000_000L;

  private static final long CLOSE_WAIT_MILLIS = 1_900;

  /** How long ids are still minted once the JVM exits. */
  private static final long EXIT_GRACE_MILLIS = 10_000;

  private static final Map<String, Integer> OPEN_NAMESPACES = new ConcurrentHashMap<>();

  private final LeaseStore store;
  private final SnowflakeGenerator generator;
  private final IdSource ids;
  private final BitLayout layout;
  private final String namespace;
  private final NodeLeaseManager manager;
  private final LeaseThread thread;

  /** Held on to, since whoever takes checkpoints refers to it weakly. */
  @SuppressWarnings({"unused", "FieldCanBeLocal"})
  private final @Nullable Object checkpointHook;

  /**
   * Completes when the store is closed too. Whoever waits only for the lease goes on while threads
   * of the client still end, and may take their classes away from them, as a redeployment does.
   */
  private final CompletableFuture<Void> closed;

  @SuppressWarnings("FutureReturnValueIgnored") // the callback is all
  private Snowflake(
      Settings settings, LeaseStore store, boolean ownsStore, LeaseListener listener) {
    TimeSource time = TimeSource.SYSTEM;
    this.store = store;
    this.layout = settings.layout;
    this.namespace = settings.terms.namespace();
    IdClock clock = new IdClock(time, layout.epochMillis(), layout.tickMillis());
    this.generator =
        new SnowflakeGenerator(
            layout, clock, time, settings.timings.maxWaitMillis() * 1_000_000, this::refuse);
    this.ids =
        settings.ordering == Ordering.PER_THREAD
            ? new StripedGenerator(generator, clock, layout)
            : generator;
    this.manager =
        new NodeLeaseManager(
            store,
            settings.terms,
            layout,
            settings.range,
            settings.timings,
            time,
            new SecureRandom(),
            clock,
            generator,
            thisProcess(time),
            listener);
    this.thread = new LeaseThread(manager, time, namespace);
    OPEN_NAMESPACES.merge(namespace, 1, Integer::sum);
    this.closed =
        manager
            .terminated()
            .whenComplete(
                (done, error) -> {
                  OPEN_NAMESPACES.computeIfPresent(namespace, (name, n) -> n == 1 ? null : n - 1);
                  if (ownsStore) {
                    store.close();
                  }
                });
    this.checkpointHook = registerForCheckpoints();
    if (settings.closeOnJvmExit) {
      drainOnExit();
    }
  }

  @SuppressWarnings("FutureReturnValueIgnored") // the callback is all
  private void drainOnExit() {
    Thread hook =
        new Thread(
            () -> {
              manager.drain(EXIT_GRACE_MILLIS);
              awaitTermination();
            },
            "snowlease-exit-" + namespace);
    try {
      Runtime.getRuntime().addShutdownHook(hook);
    } catch (IllegalStateException e) {
      return; // the JVM exits already
    }
    closed.whenComplete(
        (done, error) -> {
          try {
            Runtime.getRuntime().removeShutdownHook(hook);
          } catch (IllegalStateException e) {
            // The JVM exits: the hook is running.
          }
        });
  }

  private @Nullable Object registerForCheckpoints() {
    try {
      return CheckpointHook.register(this::beforeCheckpoint, this::afterRestore);
    } catch (NoClassDefFoundError e) {
      return null; // no org.crac, no checkpoints
    }
  }

  /**
   * Leases a slot with the settings of system properties and environment, and returns once ids can
   * be minted. See {@link SnowflakeBuilder#start()} for what it throws.
   *
   * @return the open generator, which the caller closes
   */
  public static Snowflake start() {
    return builder().start();
  }

  /**
   * Begins to collect settings.
   *
   * @return a new builder
   */
  public static SnowflakeBuilder builder() {
    return new SnowflakeBuilder();
  }

  static Snowflake start(
      Settings settings, @Nullable LeaseStore explicitStore, LeaseListener listener) {
    Snowflake snowflake = launch(settings, explicitStore, listener);
    try {
      snowflake.manager.started().get();
      return snowflake;
    } catch (InterruptedException e) {
      snowflake.close();
      Thread.currentThread().interrupt();
      throw new NoLeaseException(
          NoLeaseException.Reason.INTERRUPTED, "a start must not be interrupted: it was", e);
    } catch (ExecutionException e) {
      snowflake.awaitTermination();
      throw rethrowable(e.getCause());
    }
  }

  @SuppressWarnings("FutureReturnValueIgnored") // the callback is all
  static CompletableFuture<Snowflake> startAsync(
      Settings settings, @Nullable LeaseStore explicitStore, LeaseListener listener) {
    Snowflake snowflake = launch(settings, explicitStore, listener);
    // Async: what the application hangs on to the future must not run on the lease thread.
    CompletableFuture<Snowflake> result =
        snowflake.manager.started().thenApplyAsync(started -> snowflake);
    result.whenComplete(
        (started, error) -> {
          if (result.isCancelled()) {
            snowflake.close();
          }
        });
    return result;
  }

  @SuppressWarnings("FutureReturnValueIgnored") // the callback is all
  private static Snowflake launch(
      Settings settings, @Nullable LeaseStore explicitStore, LeaseListener listener) {
    LeaseStore store = explicitStore != null ? explicitStore : open(settings);
    Snowflake snowflake = new Snowflake(settings, store, explicitStore == null, listener);
    if (OPEN_NAMESPACES.getOrDefault(snowflake.namespace, 0) > 1) {
      log.warn(
          "One Snowflake a process is meant, as each leases a slot of its own: namespace={}"
              + " open={}; share one instance",
          snowflake.namespace,
          OPEN_NAMESPACES.get(snowflake.namespace));
    }
    snowflake.manager.started().thenRun(() -> warnAboutStore(settings, store));
    snowflake.thread.start();
    return snowflake;
  }

  @SuppressWarnings("FutureReturnValueIgnored") // the callback is all
  private static void warnAboutStore(Settings settings, LeaseStore store) {
    store
        .warnings(settings.terms)
        .thenAccept(warnings -> warnings.forEach(warning -> log.warn("{}", warning)));
  }

  private static LeaseStore open(Settings settings) {
    if (settings.isUnleased()) {
      return new UnleasedStore();
    }
    int colon = settings.store.indexOf(':');
    String scheme =
        (colon < 0 ? settings.store : settings.store.substring(0, colon)).toLowerCase(Locale.ROOT);
    for (LeaseStoreProvider provider :
        ServiceLoader.load(LeaseStoreProvider.class, LeaseStoreProvider.class.getClassLoader())) {
      if (provider.supports(scheme)) {
        return provider.open(settings.store, settings.terms);
      }
    }
    // The text before a colon could be a user's name, were the scheme forgotten: do not show it.
    throw new IllegalArgumentException(
        "store must be a URI such as redis://localhost:6379 or file:slots, or none; see"
            + " snowflake.store and SNOWFLAKE_STORE");
  }

  static void createNamespace(Settings settings, @Nullable LeaseStore explicitStore) {
    LeaseStore store = explicitStore != null ? explicitStore : open(settings);
    try {
      if (!askToCreateNamespace(settings.terms, store)) {
        throw new SnowflakeException(
            "a namespace is created once: namespace="
                + settings.terms.namespace()
                + " exists; start without creating it",
            null);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new SnowflakeException("creating a namespace must not be interrupted: it was", e);
    } catch (ExecutionException e) {
      throw rethrowable(e.getCause());
    } catch (TimeoutException e) {
      throw new LeaseStoreException(
          LeaseStoreException.Reason.NO_REPLY,
          "the store must answer when a namespace is created: it did not, and may have created it",
          e);
    } finally {
      if (explicitStore == null) {
        store.close();
      }
    }
  }

  /** Asks again for some seconds while it is sure that the store has not heard the question. */
  private static boolean askToCreateNamespace(LeaseTerms terms, LeaseStore store)
      throws InterruptedException, ExecutionException, TimeoutException {
    long begin = System.nanoTime();
    while (true) {
      try {
        return store
            .createNamespace(terms)
            .toCompletableFuture()
            .get(terms.commandTimeout() + 500, TimeUnit.MILLISECONDS);
      } catch (ExecutionException e) {
        boolean unheard =
            e.getCause() instanceof LeaseStoreException failure
                && failure.reason() == LeaseStoreException.Reason.UNREACHABLE;
        if (!unheard || System.nanoTime() - begin > CREATION_PATIENCE_NANOS) {
          throw e;
        }
        TimeUnit.MILLISECONDS.sleep(100);
      }
    }
  }

  /** The exception as the lease thread made it, with the caller's stack added. */
  private static RuntimeException rethrowable(@Nullable Throwable cause) {
    Throwable inner =
        cause instanceof CompletionException && cause.getCause() != null ? cause.getCause() : cause;
    if (inner instanceof RuntimeException known) {
      known.addSuppressed(new SnowflakeException("called from here", null));
      return known;
    }
    return new SnowflakeException("starting failed: " + inner, inner);
  }

  private static Holder thisProcess(TimeSource time) {
    String host = System.getenv("HOSTNAME");
    if (host == null || host.isBlank()) {
      try {
        host = InetAddress.getLocalHost().getHostName();
      } catch (UnknownHostException e) {
        host = "unknown";
      }
    }
    // The first word only: what follows are arguments, which may be secret.
    String command = System.getProperty("sun.java.command", "").split(" ", 2)[0];
    String app = command.substring(command.lastIndexOf('/') + 1);
    String version = Snowflake.class.getPackage().getImplementationVersion();
    return new Holder(
        host,
        ProcessHandle.current().pid(),
        app,
        time.wallMillis(),
        version == null ? "unknown" : version);
  }

  /**
   * Mints an id: greater than every id that this instance returned before this call began, or, with
   * {@link Ordering#PER_THREAD}, that it returned to this thread.
   *
   * <p>Waits if it must (the sequence of this tick is used up, or the lease is just being
   * regained), for {@code maxWait} at most.
   *
   * @return the id, {@code > 0}
   * @throws NoLeaseException if no id can be minted within {@code maxWait}, or ever, or if the
   *     thread is interrupted when it would have to wait (its interrupt flag stays set)
   * @throws HorizonReachedException if the layout has run out
   */
  public long nextId() {
    return ids.nextId();
  }

  /** The same as {@link #nextId()}. */
  @Override
  public long getAsLong() {
    return ids.nextId();
  }

  /**
   * Mints as many ids as the array holds, strictly increasing. Ids of other threads may lie between
   * them. Any length is possible; each time the sequence of a tick is used up, the call waits for
   * the next.
   *
   * @param ids is filled; if the call throws, none of its elements may be used
   * @throws NoLeaseException as {@link #nextId()}, where {@code maxWait} holds for each wait
   * @throws HorizonReachedException if the layout has run out
   */
  public void nextIds(long[] ids) {
    this.ids.nextIds(ids);
  }

  /**
   * Ids as a stream, strictly increasing: minted while it is read, in batches of 1,024 at most,
   * each when its first id is asked for. Whoever stops early leaves the rest of a batch unused. An
   * id that another call returns while a batch is read is greater than all of that batch; with
   * {@link Ordering#PER_THREAD}, if it is a call of the thread that reads.
   *
   * <p>The stream is sequential, and like any stream it is read once; {@link LongStream#iterator()}
   * makes an iterator of it, which threads must not share: they could get the same ids. Reading
   * waits and throws as {@link #nextIds} does.
   *
   * @param count how many, {@code >= 0}
   * @return the stream, which mints nothing before it is read
   * @throws IllegalArgumentException if count is negative
   */
  public LongStream ids(long count) {
    if (count < 0) {
      throw new IllegalArgumentException("count must not be negative: count=" + count);
    }
    return StreamSupport.longStream(new IdSpliterator(ids, count), false);
  }

  /**
   * Takes an id of this layout apart.
   *
   * @param id the id
   * @return its parts
   * @throws IllegalArgumentException if the layout has no such id
   */
  public SnowflakeId parse(long id) {
    return layout.parse(id);
  }

  /**
   * The layout of the ids.
   *
   * @return the layout
   */
  public BitLayout layout() {
    return layout;
  }

  /**
   * Where the lease stands: as of the last beat, which is less than about a second ago.
   *
   * @return the status
   */
  public SnowflakeStatus status() {
    return manager.status();
  }

  /**
   * Stops minting at once and for good, then hands the slot back. Returns within 2 s even if the
   * store hangs; then the slot comes free when its lease runs out. Idempotent, and may be called
   * from any thread.
   */
  @Override
  public void close() {
    long lastTick = generator.close();
    if (lastTick != SnowflakeGenerator.CLOSED) {
      manager.close(lastTick);
    }
    awaitTermination();
  }

  /** Hands the slot back and forgets whatever two processes restored from here must not share. */
  void beforeCheckpoint() {
    try {
      manager.suspend().get(CLOSE_WAIT_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new SnowflakeException("dropping a lease must not be interrupted: it was", e);
    } catch (ExecutionException | TimeoutException e) {
      throw new SnowflakeException(
          "a checkpoint must not hold a lease: it could not be dropped within "
              + CLOSE_WAIT_MILLIS
              + "ms: namespace="
              + namespace,
          e);
    }
    store.disconnect();
  }

  /** Claims a slot anew; returns at once. */
  void afterRestore() {
    manager.resume(new SecureRandom(), thisProcess(TimeSource.SYSTEM));
  }

  private void awaitTermination() {
    if (thread.isCurrent()) {
      return; // a listener closes: the thread it would wait for is its own
    }
    try {
      closed.get(CLOSE_WAIT_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      log.warn(
          "Closing takes too long: namespace={}; the slot comes free when its lease runs out",
          namespace,
          e);
    }
  }

  private NoLeaseException refuse(NoLeaseException.Reason reason, long waitedNanos) {
    SnowflakeStatus status = manager.status();
    return new NoLeaseException(
        reason,
        switch (reason) {
              case NOT_YET -> "an id needs a lease: none has been granted yet";
              case LOST -> "an id needs a lease: it was lost, or its window has ended";
              case SATURATED ->
                  "a slot mints " + layout.idsPerSecond() + " ids a second: more are asked for";
              case CLOCK_HELD ->
                  "an id carries the store's time: it went back, and ids wait for it";
              case CLOSED -> "an id needs an open Snowflake: it was closed";
              case INTERRUPTED -> "an id must be waited for: the thread is interrupted";
            }
            + ": namespace="
            + namespace
            + " waited="
            + waitedNanos / 1_000_000
            + "ms "
            + status,
        status.lastFailure().orElse(null));
  }

  @Override
  public String toString() {
    return "Snowflake[namespace=" + namespace + " layout=" + layout + " " + status() + "]";
  }
}
