package io.github.snowlease.bench;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import com.baomidou.mybatisplus.core.toolkit.Sequence;
import com.github.f4b6a3.tsid.TsidFactory;
import com.github.f4b6a3.uuid.UuidCreator;
import com.github.yitter.contract.IdGeneratorOptions;
import com.github.yitter.idgen.DefaultIdGenerator;
import com.xfvape.uid.impl.CachedUidGenerator;
import com.xfvape.uid.impl.DefaultUidGenerator;
import io.github.snowlease.BitLayout;
import io.github.snowlease.Ordering;
import io.github.snowlease.Snowflake;
import io.hypersistence.tsid.TSID;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;
import me.ahoo.cosid.snowflake.MillisecondSnowflakeId;
import org.agrona.concurrent.SnowflakeIdGenerator;
import org.agrona.concurrent.SystemEpochClock;
import org.apache.seata.common.util.IdWorker;
import org.apache.shardingsphere.infra.algorithm.keygen.snowflake.SnowflakeKeyGenerateAlgorithm;
import org.slf4j.LoggerFactory;

/**
 * Who is measured: snowlease, its peers, and yardsticks. Each is opened with 41 bits of
 * milliseconds, 22 - n bits of node and n bits of sequence where it can be; otherwise as near as it
 * lets itself be configured, and the note says so.
 */
@SuppressWarnings("ImmutableEnumChecker") // its functions keep no state
public enum Subject {
  SNOWLEASE(
      "snowlease", bits -> snowlease(bits, Ordering.TOTAL), id -> (id >>> 22) + Epochs.Y2024, ""),
  SNOWLEASE_PER_THREAD(
      "snowlease, PER_THREAD",
      bits -> snowlease(bits, Ordering.PER_THREAD),
      id -> (id >>> 22) + Epochs.Y2024,
      "increasing for each thread, by millisecond over all"),
  AGRONA(
      "Agrona",
      bits ->
          new SnowflakeIdGenerator(22 - bits, bits, 1, Epochs.Y2024, SystemEpochClock.INSTANCE)
              ::nextId,
      id -> (id >>> 22) + Epochs.Y2024,
      ""),
  COSID(
      "CosId",
      bits -> new MillisecondSnowflakeId(Epochs.Y2024, 41, 22 - bits, bits, 1)::generate,
      id -> (id >>> 22) + Epochs.Y2024,
      ""),
  TSID_CREATOR(
      "tsid-creator",
      bits -> {
        TsidFactory factory = TsidFactory.builder().withNodeBits(22 - bits).withNode(1).build();
        return () -> factory.create().toLong();
      },
      id -> (id >>> 22) + Epochs.Y2020,
      ""),
  HYPERSISTENCE_TSID(
      "hypersistence-tsid",
      bits -> {
        TSID.Factory factory = TSID.Factory.builder().withNodeBits(22 - bits).withNode(1).build();
        return () -> factory.generate().toLong();
      },
      id -> (id >>> 22) + Epochs.Y2020,
      ""),
  YITTER(
      "yitter",
      Subject::yitter,
      id -> (id >>> 22) + Epochs.Y2020,
      "its sequence is a short: wide is 15 bits"),
  SEATA(
      "Seata IdWorker",
      bits -> new IdWorker(1L)::nextId,
      id -> ((id & ((1L << 53) - 1)) >>> 12) + 1_588_435_200_000L,
      "12 bits of sequence, fixed"),
  HUTOOL(
      "Hutool",
      bits -> new cn.hutool.core.lang.Snowflake(1, 1)::nextId,
      id -> (id >>> 22) + Epochs.TWITTER,
      "12 bits of sequence, fixed"),
  MYBATIS_PLUS(
      "MyBatis-Plus",
      bits -> new Sequence(1, 1)::nextId,
      id -> (id >>> 22) + Epochs.TWITTER,
      "12 bits of sequence, fixed; reads a clock that a thread of its own sets"),
  SHARDINGSPHERE(
      "ShardingSphere",
      bits -> {
        SnowflakeKeyGenerateAlgorithm algorithm = new SnowflakeKeyGenerateAlgorithm();
        algorithm.init(new java.util.Properties());
        return () -> algorithm.generateKeys(null, 1).iterator().next();
      },
      id -> (id >>> 22) + SnowflakeKeyGenerateAlgorithm.EPOCH,
      "12 bits of sequence, fixed"),
  UID_DEFAULT(
      "uid-generator",
      bits -> uidGenerator(new DefaultUidGenerator(), 31, 22 - bits, bits + 10)::getUID,
      id -> (id >>> 32) * 1_000 + Epochs.Y2024,
      "counts seconds: as many ids a second, not a millisecond"),
  UID_CACHED(
      "uid-generator, cached",
      bits -> cachedUidGenerator(),
      id -> (id >>> 35) * 1_000 + Epochs.Y2024,
      "as it comes, 8,192 ids a second of timestamp; throws when its ring is empty: asked again"),
  UUID_V7(
      "UUIDv7 (uuid-creator)",
      bits -> () -> fold(UuidCreator.getTimeOrderedEpoch()),
      null,
      "128 bits"),
  UUID_V4("UUID.randomUUID", bits -> () -> fold(UUID.randomUUID()), null, "128 bits, no order"),

  CLOCK_AND_CAS(
      "clock and compare-and-set",
      bits -> clockAndCompareAndSet(new AtomicLong()),
      null,
      "yardstick"),
  ATOMIC_LONG("AtomicLong", bits -> new AtomicLong()::incrementAndGet, null, "yardstick"),
  NANO_TIME("System.nanoTime", bits -> System::nanoTime, null, "yardstick"),
  MILLI_TIME("currentTimeMillis", bits -> System::currentTimeMillis, null, "yardstick");

  /** Sequence bits of the layout that all share. */
  static final int STANDARD = 12;

  /** Sequence bits so many that nobody reaches the limit of the rate. */
  static final int WIDE = 20;

  private interface Factory {
    LongSupplier open(int sequenceBits) throws Exception;
  }

  private interface Epochs {
    long Y2024 = 1_704_067_200_000L;
    long Y2020 = 1_577_836_800_000L;
    long TWITTER = 1_288_834_974_657L;
  }

  final String title;
  final String note;
  private final Factory factory;
  private final LongUnaryOperator millis;

  Subject(String title, Factory factory, LongUnaryOperator millis, String note) {
    this.title = title;
    this.factory = factory;
    this.millis = millis;
    this.note = note;
  }

  /** A new generator; its threads are daemons, or die with the process. */
  LongSupplier open(int sequenceBits) {
    try {
      return factory.open(sequenceBits);
    } catch (Exception e) {
      throw new IllegalStateException("no generator: " + title, e);
    }
  }

  boolean isYardstick() {
    return note.equals("yardstick");
  }

  /** Whether the targets are about it: ourselves, Agrona, the yardsticks. */
  boolean isContender() {
    return isYardstick() || this == SNOWLEASE || this == SNOWLEASE_PER_THREAD || this == AGRONA;
  }

  /** Whether the wide scenes measure a limit of the subject's, so that one round tells all. */
  boolean showsALimit() {
    return switch (this) {
      case SEATA, HUTOOL, MYBATIS_PLUS, SHARDINGSPHERE, UID_CACHED, UUID_V4, UUID_V7 -> true;
      default -> false;
    };
  }

  /** Whether ids are 64 bits with a timestamp that can be compared with the clock. */
  boolean isSnowflake() {
    return millis != null;
  }

  /** The timestamp inside an id, in milliseconds since 1970. */
  long millisOf(long id) {
    return millis.applyAsLong(id);
  }

  private static LongSupplier snowlease(int sequenceBits, Ordering ordering) {
    return openSnowlease(41, 22 - sequenceBits, sequenceBits, ordering)::nextId;
  }

  /** The leased facade, as an application has it. */
  static Snowflake openSnowlease(
      int timestampBits, int slotBits, int sequenceBits, Ordering ordering) {
    BitLayout layout =
        new BitLayout(
            Instant.ofEpochMilli(Epochs.Y2024),
            Duration.ofMillis(1),
            timestampBits,
            slotBits / 2,
            slotBits - slotBits / 2,
            sequenceBits);
    return Snowflake.builder().store(new MemoryStore()).layout(layout).ordering(ordering).start();
  }

  private static LongSupplier yitter(int sequenceBits) {
    int bits = Math.min(sequenceBits, 15);
    IdGeneratorOptions options = new IdGeneratorOptions((short) 1);
    options.BaseTime = Epochs.Y2020;
    options.WorkerIdBitLength = (byte) (22 - bits);
    options.SeqBitLength = (byte) bits;
    return new DefaultIdGenerator(options)::newLong;
  }

  private static <T extends DefaultUidGenerator> T uidGenerator(
      T generator, int timeBits, int workerBits, int sequenceBits) throws Exception {
    generator.setWorkerIdAssigner(() -> 1);
    generator.setTimeBits(timeBits);
    generator.setWorkerBits(workerBits);
    generator.setSeqBits(sequenceBits);
    generator.setEpochStr("2024-01-01");
    generator.afterPropertiesSet();
    return generator;
  }

  private static LongSupplier cachedUidGenerator() throws Exception {
    // It logs each id that its full ring refuses, and each call that finds the ring empty.
    ((Logger) LoggerFactory.getLogger("com.xfvape.uid")).setLevel(Level.OFF);
    CachedUidGenerator generator = uidGenerator(new CachedUidGenerator(), 28, 22, 13);
    return () -> {
      while (true) {
        try {
          return generator.getUID();
        } catch (RuntimeException empty) {
          Thread.onSpinWait();
        }
      }
    };
  }

  /** The floor of an id that is a clock read and a shared word: nothing else is done. */
  private static LongSupplier clockAndCompareAndSet(AtomicLong word) {
    return () -> {
      long now = System.nanoTime();
      long last = word.get();
      long next = Math.max(last + 1, now);
      while (!word.compareAndSet(last, next)) {
        last = word.get();
        next = Math.max(last + 1, now);
      }
      return next;
    };
  }

  /** Uses all of a UUID, so that none of it is optimized away; the object itself may be. */
  private static long fold(UUID uuid) {
    return uuid.getMostSignificantBits() ^ uuid.getLeastSignificantBits();
  }
}
