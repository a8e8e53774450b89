package io.github.snowlease;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How the bits of an id are shared out: {@code timestamp | cluster | node | sequence}, from the
 * most significant bit down, at most 63 in all, so that ids are positive. Immutable.
 *
 * <p>All processes that feed one table need the same layout; a namespace stores its own and refuses
 * another.
 *
 * <p>Source: Twitter's Snowflake (2010), with the field widths left open.
 *
 * @param epoch the instant of timestamp 0, whole milliseconds
 * @param tick the unit of the timestamp, whole milliseconds, 1 ms to 1 s
 * @param timestampBits width of the timestamp, 1 to 62
 * @param clusterBits width of the cluster id, 0 to 30
 * @param nodeBits width of the node id, 0 to 30
 * @param sequenceBits width of the sequence within a tick, 1 to 30
 */
public record BitLayout(
    Instant epoch,
    Duration tick,
    int timestampBits,
    int clusterBits,
    int nodeBits,
    int sequenceBits) {

  private static final Instant EPOCH_2024 = Instant.parse("2024-01-01T00:00:00Z");
  private static final Duration MILLISECOND = Duration.ofMillis(1);

  /** Where time ends for layouts that reach further: far below the end of {@link Instant}. */
  private static final Instant CLIP = Instant.parse("+1000000-01-01T00:00:00Z");

  private static final BitLayout STANDARD = new BitLayout(EPOCH_2024, MILLISECOND, 41, 5, 5, 12);
  private static final BitLayout TWITTER =
      new BitLayout(Instant.ofEpochMilli(1_288_834_974_657L), MILLISECOND, 41, 5, 5, 12);
  private static final BitLayout JAVA_SCRIPT_SAFE =
      new BitLayout(EPOCH_2024, MILLISECOND, 41, 0, 6, 6);
  private static final BitLayout FAST_API_BEST_ARCHITECTURE =
      new BitLayout(Instant.ofEpochMilli(1_262_275_200_000L), MILLISECOND, 41, 5, 5, 12);

  private static final Map<String, BitLayout> PRESETS =
      Map.of(
          "standard", STANDARD,
          "twitter", TWITTER,
          "javascript-safe", JAVA_SCRIPT_SAFE,
          "fastapi-best-architecture", FAST_API_BEST_ARCHITECTURE);

  private static final Pattern TEXT =
      Pattern.compile(
          "epoch=(-?\\d{1,16}),tick=(\\d{1,4}),bits=(\\d{1,2})/(\\d{1,2})/(\\d{1,2})/(\\d{1,2})");

  /**
   * Checks each part and their sum.
   *
   * @throws IllegalArgumentException if a part breaks its rule
   */
  public BitLayout {
    Objects.requireNonNull(epoch, "epoch");
    Objects.requireNonNull(tick, "tick");
    if (!epoch.truncatedTo(ChronoUnit.MILLIS).equals(epoch)) {
      throw new IllegalArgumentException("epoch must be whole milliseconds: epoch=" + epoch);
    }
    // Within a century or two of today: so that no later sum of milliseconds or nanoseconds wraps.
    if (epoch.isBefore(Instant.EPOCH) || epoch.isAfter(Instant.parse("2200-01-01T00:00:00Z"))) {
      throw new IllegalArgumentException("epoch must lie in 1970 to 2200: epoch=" + epoch);
    }
    if (!tick.truncatedTo(ChronoUnit.MILLIS).equals(tick)
        || tick.compareTo(MILLISECOND) < 0
        || tick.compareTo(Duration.ofSeconds(1)) > 0) {
      throw new IllegalArgumentException(
          "tick must be whole milliseconds, 1ms to 1s: tick=" + tick);
    }
    requireBits("timestampBits", timestampBits, 1, 62);
    requireBits("clusterBits", clusterBits, 0, 30);
    requireBits("nodeBits", nodeBits, 0, 30);
    requireBits("sequenceBits", sequenceBits, 1, 30);
    int sum = timestampBits + clusterBits + nodeBits + sequenceBits;
    if (sum > 63) {
      throw new IllegalArgumentException(
          "timestampBits + clusterBits + nodeBits + sequenceBits must be <= 63: "
              + timestampBits
              + " + "
              + clusterBits
              + " + "
              + nodeBits
              + " + "
              + sequenceBits
              + " = "
              + sum);
    }
  }

  private static void requireBits(String name, int bits, int min, int max) {
    if (bits < min || bits > max) {
      throw new IllegalArgumentException(
          name + " must be " + min + " to " + max + ": " + name + "=" + bits);
    }
  }

  /**
   * The layout for new tables: 41 bits of milliseconds since 2024-01-01T00:00:00Z (until 2093), 5
   * bits of cluster, 5 bits of node, 12 bits of sequence: 1,024 slots of 4,096 ids a millisecond.
   *
   * @return the layout
   */
  public static BitLayout standard() {
    return STANDARD;
  }

  /**
   * Twitter's own: like {@link #standard()} with the epoch 2010-11-04T01:42:54.657Z (until 2080).
   *
   * @return the layout
   */
  public static BitLayout twitter() {
    return TWITTER;
  }

  /**
   * 53 bits, so that an id is exact as a JavaScript number: 41 bits of milliseconds since 2024, no
   * cluster, 6 bits of node, 6 bits of sequence: 64 slots of 64 ids a millisecond.
   *
   * @return the layout
   */
  public static BitLayout javaScriptSafe() {
    return JAVA_SCRIPT_SAFE;
  }

  /**
   * The layout of fastapi_best_architecture's snowflake plugin: like {@link #standard()} with the
   * epoch 2009-12-31T16:00:00Z (until 2079).
   *
   * @return the layout
   */
  public static BitLayout fastApiBestArchitecture() {
    return FAST_API_BEST_ARCHITECTURE;
  }

  /**
   * Reads a layout: the name of a preset ({@code standard}, {@code twitter}, {@code
   * javascript-safe}, {@code fastapi-best-architecture}) or the text that {@link #toString()}
   * writes, such as {@code epoch=1704067200000,tick=1,bits=41/5/5/12} (milliseconds, milliseconds,
   * and the bits of timestamp, cluster, node and sequence).
   *
   * @param text the name or the text
   * @return the layout
   * @throws IllegalArgumentException if the text is neither, or breaks a rule of the layout
   */
  public static BitLayout of(String text) {
    BitLayout preset = PRESETS.get(text);
    if (preset != null) {
      return preset;
    }
    Matcher parts = TEXT.matcher(text);
    if (!parts.matches()) {
      throw new IllegalArgumentException(
          "layout must be standard, twitter, javascript-safe, fastapi-best-architecture or like"
              + " epoch=1704067200000,tick=1,bits=41/5/5/12: layout="
              + text);
    }
    return new BitLayout(
        Instant.ofEpochMilli(Long.parseLong(parts.group(1))),
        Duration.ofMillis(Long.parseLong(parts.group(2))),
        Integer.parseInt(parts.group(3)),
        Integer.parseInt(parts.group(4)),
        Integer.parseInt(parts.group(5)),
        Integer.parseInt(parts.group(6)));
  }

  /**
   * Puts an id together.
   *
   * @param timestamp ticks since the epoch
   * @param cluster the cluster id
   * @param node the node id
   * @param sequence the sequence number within the tick
   * @return the id, {@code >= 0}
   * @throws IllegalArgumentException if a part does not fit its bits
   */
  public long compose(long timestamp, int cluster, int node, long sequence) {
    requireFits("timestamp", timestamp, timestampBits);
    requireFits("cluster", cluster, clusterBits);
    requireFits("node", node, nodeBits);
    requireFits("sequence", sequence, sequenceBits);
    return (timestamp << timestampShift()) | slotBits(new Slot(cluster, node)) | sequence;
  }

  private static void requireFits(String name, long value, int bits) {
    if (value < 0 || value >>> bits != 0) {
      throw new IllegalArgumentException(
          name + " must be 0 to " + ((1L << bits) - 1) + ": " + name + "=" + value);
    }
  }

  /**
   * Takes an id apart. Every id of {@link #totalBits()} bits has parts; none is invalid. The
   * timestamp is clipped where {@link #horizon()} is.
   *
   * @param id the id
   * @return its parts
   * @throws IllegalArgumentException if the id is negative or has more bits than the layout
   */
  public SnowflakeId parse(long id) {
    if (id < 0 || id >>> totalBits() != 0) {
      throw new IllegalArgumentException(
          "id must be 0 to " + maxId() + " in the layout " + this + ": id=" + id);
    }
    long timestamp = id >>> timestampShift();
    return new SnowflakeId(
        id,
        startOf(timestamp),
        (int) ((id >>> (nodeBits + sequenceBits)) & mask(clusterBits)),
        (int) ((id >>> sequenceBits) & mask(nodeBits)),
        id & mask(sequenceBits));
  }

  /**
   * The smallest id that can be minted in the tick of an instant: the inclusive lower end of a
   * range query by time.
   *
   * @param instant the instant
   * @return the id with all bits of cluster, node and sequence 0
   * @throws IllegalArgumentException if the instant lies before the epoch or beyond the horizon
   */
  public long firstIdAt(Instant instant) {
    return timestampAt(instant) << timestampShift();
  }

  /**
   * The largest id that can be minted in the tick of an instant: the inclusive upper end of a range
   * query by time.
   *
   * @param instant the instant
   * @return the id with all bits of cluster, node and sequence 1
   * @throws IllegalArgumentException if the instant lies before the epoch or beyond the horizon
   */
  public long lastIdAt(Instant instant) {
    return firstIdAt(instant) | mask(timestampShift());
  }

  private long timestampAt(Instant instant) {
    if (instant.isBefore(epoch) || instant.isAfter(horizon())) {
      throw new IllegalArgumentException(
          "instant must lie in " + epoch + " to " + horizon() + ": instant=" + instant);
    }
    return Duration.between(epoch, instant).dividedBy(tick);
  }

  /**
   * The last instant that an id can carry: its last nanosecond. Afterwards {@link
   * HorizonReachedException} is thrown; no id becomes negative or starts again at 0. Clipped to the
   * year one million for layouts that reach further.
   *
   * @return the end of the last tick
   */
  public Instant horizon() {
    long lastTick = maxTick();
    return isClipped(lastTick) ? CLIP : startOf(lastTick).plus(tick).minusNanos(1);
  }

  /**
   * How many bits an id has at most.
   *
   * @return 3 to 63
   */
  public int totalBits() {
    return timestampBits + clusterBits + nodeBits + sequenceBits;
  }

  /**
   * The largest id of the layout.
   *
   * @return {@code 2^totalBits - 1}
   */
  public long maxId() {
    return mask(totalBits());
  }

  /**
   * How many ids one slot can mint a second.
   *
   * @return the ceiling of the rate
   */
  public long idsPerSecond() {
    return (1L << sequenceBits) * 1_000 / tickMillis();
  }

  /** Returns the canonical text, which {@link #of} reads and a namespace stores. */
  @Override
  public String toString() {
    return "epoch="
        + epochMillis()
        + ",tick="
        + tickMillis()
        + ",bits="
        + timestampBits
        + "/"
        + clusterBits
        + "/"
        + nodeBits
        + "/"
        + sequenceBits;
  }

  long epochMillis() {
    return epoch.toEpochMilli();
  }

  long tickMillis() {
    return tick.toMillis();
  }

  long maxTick() {
    return mask(timestampBits);
  }

  int timestampShift() {
    return clusterBits + nodeBits + sequenceBits;
  }

  boolean contains(Slot slot) {
    return slot.cluster() >>> clusterBits == 0 && slot.node() >>> nodeBits == 0;
  }

  long slotBits(Slot slot) {
    return ((long) slot.cluster() << (nodeBits + sequenceBits))
        | ((long) slot.node() << sequenceBits);
  }

  private Instant startOf(long timestamp) {
    return isClipped(timestamp) ? CLIP : epoch.plus(tick.multipliedBy(timestamp));
  }

  private boolean isClipped(long timestamp) {
    return timestamp >= (CLIP.toEpochMilli() - epochMillis()) / tickMillis();
  }

  private static long mask(int bits) {
    return (1L << bits) - 1;
  }
}
