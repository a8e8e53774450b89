package io.github.snowlease.bench;

import io.github.snowlease.Ordering;
import io.github.snowlease.Snowflake;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** What an id costs while nothing limits the rate: ids a microsecond, over all threads. */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class IdBenchmark {
  private static final long WARMUP_NANOS = 200_000_000;

  /** One generator, shared by all threads. */
  @State(Scope.Benchmark)
  public static class Generator {
    @Param public Subject subject;
    LongSupplier ids;

    /** Of the ids before the measurement: so that none of them is optimized away. */
    long sink;

    /**
     * One thread mints alone first: with as many threads at work as there are cores, or more, the
     * compiler gets no core, and a short measurement would be one of code that is yet to come.
     */
    @Setup
    public void open() {
      ids = subject.open(Subject.WIDE);
      long end = System.nanoTime() + WARMUP_NANOS;
      do {
        for (int i = 0; i < 1_000; i++) {
          sink += ids.getAsLong();
        }
      } while (System.nanoTime() - end < 0);
    }
  }

  /** Many ids under one compare-and-set; of snowlease only. */
  @State(Scope.Benchmark)
  public static class Batch {
    @Param({"16", "256", "1024"})
    public int length;

    Snowflake snowflake;
    long[] ids;

    @Setup
    public void open() {
      // 2^20 ids a millisecond, wide for single ids, are too few for batches.
      snowflake = Subject.openSnowlease(39, 0, 24, Ordering.TOTAL);
      ids = new long[length];
    }

    @TearDown
    public void close() {
      snowflake.close();
    }
  }

  @Benchmark
  public long nextId(Generator generator) {
    return generator.ids.getAsLong();
  }

  @Benchmark
  public long[] nextIds(Batch batch) {
    batch.snowflake.nextIds(batch.ids);
    return batch.ids;
  }

  @Benchmark
  public long stream(Batch batch) {
    return batch.snowflake.ids(batch.length).sum();
  }
}
