package io.github.snowlease.acceptance;

import io.github.snowlease.NoLeaseException;
import io.github.snowlease.Snowflake;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that asks for an id again and again, keeps every id, and notes every call that failed.
 */
final class Load implements AutoCloseable {
  private static final long PAUSE_NANOS = 500_000;

  private final Snowflake ids;
  private final Thread thread;
  private final AtomicLong minted = new AtomicLong();
  private final AtomicLong lastSuccess = new AtomicLong();
  private final List<Failure> failures = new CopyOnWriteArrayList<>();
  private volatile boolean ended;
  private long[] kept = new long[1 << 16];

  /** A failed call. */
  record Failure(long at, Throwable cause) {}

  private Load(Snowflake ids) {
    this.ids = ids;
    this.thread = new Thread(this::run, "load");
    thread.setDaemon(true);
  }

  static Load on(Snowflake ids) {
    Load load = new Load(ids);
    load.thread.start();
    return load;
  }

  private void run() {
    while (!ended) {
      try {
        keep(ids.nextId());
        lastSuccess.set(System.nanoTime());
      } catch (NoLeaseException e) {
        failures.add(new Failure(System.nanoTime(), e));
      } catch (RuntimeException | Error e) {
        failures.add(new Failure(System.nanoTime(), e));
        throw e;
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  private void keep(long id) {
    int count = (int) minted.get();
    if (count == kept.length) {
      kept = Arrays.copyOf(kept, 2 * count);
    }
    kept[count] = id;
    minted.incrementAndGet();
  }

  long minted() {
    return minted.get();
  }

  /** The nanoTime at which the last call that succeeded returned. */
  long lastSuccess() {
    return lastSuccess.get();
  }

  List<Failure> failures() {
    return List.copyOf(failures);
  }

  /** Waits for one more id, and returns the nanoTime at which it had come. */
  long awaitNext(Duration limit) {
    long before = minted();
    Leases.awaitTrue("one more id", limit, () -> minted() > before);
    return lastSuccess();
  }

  /** Ends it, and returns all ids in their order. */
  long[] end() {
    ended = true;
    try {
      thread.join(30_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (thread.isAlive()) {
      throw new IllegalStateException("a call hangs: " + Arrays.toString(thread.getStackTrace()));
    }
    return Arrays.copyOf(kept, (int) minted.get());
  }

  @Override
  public void close() {
    ended = true;
  }
}
