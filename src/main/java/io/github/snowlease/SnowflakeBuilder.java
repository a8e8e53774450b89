package io.github.snowlease;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

/**
 * Collects the settings of a {@link Snowflake}. What is not set here is taken from system
 * properties, then from the environment, then from the defaults. Not thread-safe; may start several
 * times.
 *
 * <p>Each setting can be set once; setting it again throws {@link IllegalStateException}. Rules are
 * checked when starting, and a broken one throws {@link IllegalArgumentException} with the rule,
 * the values and where they came from.
 */
public final class SnowflakeBuilder {
  private final Map<Setting, Object> values = new EnumMap<>(Setting.class);
  private LeaseListener listener = event -> {};
  private boolean listenerSet;

  SnowflakeBuilder() {}

  private SnowflakeBuilder set(Setting setting, Object value) {
    Objects.requireNonNull(value, setting.title);
    if (values.putIfAbsent(setting, value) != null) {
      throw new IllegalStateException(setting.title + " must be set once");
    }
    return this;
  }

  /**
   * Where leases are kept, such as {@code redis://localhost:6379}, {@code
   * rediss://user:password@host:6380/0} or {@code redis-socket:///run/redis.sock}; {@code
   * file:/var/lib/app/slots} for processes of one host; or {@code none} for those to which cluster
   * and node ids are given by hand, and which nothing protects from each other. Default: {@code
   * redis://localhost:6379}.
   *
   * @param uri the URI of the store, or {@code none}; no message repeats its credentials
   * @return this
   */
  public SnowflakeBuilder store(String uri) {
    return set(Setting.STORE, uri);
  }

  /**
   * Where leases are kept: a store that the application made, and that it closes itself, later than
   * the {@link Snowflake}.
   *
   * @param store the store
   * @return this
   */
  public SnowflakeBuilder store(LeaseStore store) {
    return set(Setting.STORE, store);
  }

  /**
   * The scope of uniqueness: all processes that feed one table share a namespace, and nobody else
   * does. Default: {@code snowflake}.
   *
   * @param namespace a name that matches {@code [A-Za-z0-9._:-]+} with at most one non-empty {@code
   *     {…}}
   * @return this
   */
  public SnowflakeBuilder namespace(String namespace) {
    return set(Setting.NAMESPACE, namespace);
  }

  /**
   * How ids are laid out; one for all processes of a namespace. Default: {@link
   * BitLayout#standard()}.
   *
   * @param layout the layout
   * @return this
   */
  public SnowflakeBuilder layout(BitLayout layout) {
    return set(Setting.LAYOUT, layout);
  }

  /**
   * Leases a node of this cluster only, such as one cluster for each data centre. Default: any.
   *
   * @param clusterId 0 to {@code 2^clusterBits - 1}
   * @return this
   */
  public SnowflakeBuilder clusterId(int clusterId) {
    return set(Setting.CLUSTER_ID, clusterId);
  }

  /**
   * Leases exactly this slot; needs a cluster id. Default: any.
   *
   * @param nodeId 0 to {@code 2^nodeBits - 1}
   * @return this
   */
  public SnowflakeBuilder nodeId(int nodeId) {
    return set(Setting.NODE_ID, nodeId);
  }

  /**
   * How long a lease lasts without renewal. Ids can be minted for {@code leaseTtl - 5 s} without
   * the store; a killed process blocks its slot for {@code leaseTtl}. Default: 30 s.
   *
   * @param leaseTtl whole seconds, at least 10 s
   * @return this
   */
  public SnowflakeBuilder leaseTtl(Duration leaseTtl) {
    return set(Setting.LEASE_TTL, leaseTtl);
  }

  /**
   * How often the lease is renewed, ±20 %. Default: 3 s, or a fifth of {@code leaseTtl - 5 s} if
   * that is less.
   *
   * @param heartbeatInterval so short that {@code 2.4 × heartbeatInterval + 2 s <= leaseTtl - 5 s}
   * @return this
   */
  public SnowflakeBuilder heartbeatInterval(Duration heartbeatInterval) {
    return set(Setting.HEARTBEAT_INTERVAL, heartbeatInterval);
  }

  /**
   * How long a start may wait for its first lease. Default: 60 s, or {@code leaseTtl + 3 ×
   * maxClockSkew} if that is more.
   *
   * @param acquireTimeout at least {@code leaseTtl + 3 × maxClockSkew}, so that a start outlasts
   *     the quarantine of an empty store, unless {@link #trustEmptyRedis} is set
   * @return this
   */
  public SnowflakeBuilder acquireTimeout(Duration acquireTimeout) {
    return set(Setting.ACQUIRE_TIMEOUT, acquireTimeout);
  }

  /**
   * How long a call may wait for an id. Default: 1 s.
   *
   * @param maxWait 0 to 1 day
   * @return this
   */
  public SnowflakeBuilder maxWait(Duration maxWait) {
    return set(Setting.MAX_WAIT, maxWait);
  }

  /**
   * How far the clocks of host and store may differ when a lease is granted. Default: 5 s.
   *
   * @param maxClockSkew at least 1.1 s
   * @return this
   */
  public SnowflakeBuilder maxClockSkew(Duration maxClockSkew) {
    return set(Setting.MAX_CLOCK_SKEW, maxClockSkew);
  }

  /**
   * How many replicas must have a grant before it counts. Default: 0.
   *
   * @param minReplicas {@code >= 0}
   * @return this
   */
  public SnowflakeBuilder minReplicas(int minReplicas) {
    return set(Setting.MIN_REPLICAS, minReplicas);
  }

  /**
   * Takes an empty store for a new namespace, without the wait that makes it safe if the store has
   * lost its data. For tests and demonstrations. Default: false.
   *
   * @param trustEmptyRedis whether to trust
   * @return this
   */
  public SnowflakeBuilder trustEmptyRedis(boolean trustEmptyRedis) {
    return set(Setting.TRUST_EMPTY_REDIS, trustEmptyRedis);
  }

  /**
   * Hands the slot back when the JVM exits, with a grace: ids are minted for 10 seconds more at
   * most, so that requests which are still served get theirs, and the slot is free after that. No
   * exit waits for it. Without this a slot stays taken until its lease runs out, unless {@link
   * Snowflake#close()} is called. A SIGKILL runs no hook. Default: false.
   *
   * @param closeOnJvmExit whether to
   * @return this
   */
  public SnowflakeBuilder closeOnJvmExit(boolean closeOnJvmExit) {
    return set(Setting.CLOSE_ON_JVM_EXIT, closeOnJvmExit);
  }

  /**
   * What the order of ids says. Default: {@link Ordering#TOTAL}.
   *
   * @param ordering the order
   * @return this
   */
  public SnowflakeBuilder ordering(Ordering ordering) {
    return set(Setting.ORDERING, ordering);
  }

  /**
   * Hears of changes of the lease. Default: nobody does.
   *
   * @param listener the listener
   * @return this
   */
  public SnowflakeBuilder listener(LeaseListener listener) {
    if (listenerSet) {
      throw new IllegalStateException("listener must be set once");
    }
    this.listener = Objects.requireNonNull(listener, "listener");
    listenerSet = true;
    return this;
  }

  /**
   * Leases a slot and returns once ids can be minted.
   *
   * @return the open generator, which the caller closes
   * @throws IllegalArgumentException if a setting breaks a rule
   * @throws NoFreeNodeException if all slots stayed taken for {@code acquireTimeout}
   * @throws SlotTakenException if the one slot asked for has a live holder
   * @throws LayoutMismatchException if the namespace has another layout
   * @throws ClockSkewException if the clocks of host and store differ for {@code acquireTimeout}
   * @throws LeaseStoreException if the store stays unreachable for {@code acquireTimeout}, or at
   *     once if it refuses for a reason that an operator must mend
   * @throws HorizonReachedException if the layout has run out
   * @throws NoLeaseException if the thread is interrupted meanwhile; its interrupt flag is set
   */
  public Snowflake start() {
    return Snowflake.start(settings(), explicitStore(), listener);
  }

  /**
   * Leases a slot in the background. The future fails with what {@link #start()} throws; cancelling
   * it gives the lease up.
   *
   * @return the generator, once ids can be minted
   * @throws IllegalArgumentException if a setting breaks a rule
   */
  public CompletableFuture<Snowflake> startAsync() {
    return Snowflake.startAsync(settings(), explicitStore(), listener);
  }

  /**
   * Creates the namespace in the store, so that the first start need not wait out the quarantine of
   * an empty store. This says that <em>nobody mints ids in this namespace now</em>; if the store
   * has lost its data and somebody does, ids can be duplicated.
   *
   * @throws IllegalArgumentException if a setting breaks a rule
   * @throws SnowflakeException if the namespace exists already
   * @throws LeaseStoreException if the store cannot be reached or refuses
   */
  public void createNamespace() {
    Snowflake.createNamespace(settings(), explicitStore());
  }

  private @org.jspecify.annotations.Nullable LeaseStore explicitStore() {
    return values.get(Setting.STORE) instanceof LeaseStore store ? store : null;
  }

  private Settings settings() {
    Map<Setting, Object> forSettings = new EnumMap<>(values);
    if (explicitStore() != null) {
      forSettings.put(Setting.STORE, "(a store of the application)");
    }
    return new Settings(forSettings, System::getProperty, System::getenv);
  }
}
