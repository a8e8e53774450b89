package io.github.snowlease.acceptance;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.snowlease.NoLeaseException;
import io.github.snowlease.Snowflake;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * A process with 10,000 virtual threads that mint through one lease, for a JVM that has such
 * threads; compiled for one that has not. Its standard input tells when Redis hangs, and when it
 * goes on.
 */
final class VirtualThreads {
  private static final int THREADS = 10_000;
  private static final int KEPT = 400;

  private final Snowflake ids;
  private final AtomicIntegerArray minted = new AtomicIntegerArray(THREADS);
  private final AtomicReferenceArray<long[]> kept = new AtomicReferenceArray<>(THREADS);
  private final AtomicInteger running = new AtomicInteger();
  private final AtomicLong longestGap = new AtomicLong();
  private volatile boolean ended;

  private VirtualThreads(Snowflake ids) {
    this.ids = ids;
  }

  public static void main(String[] arguments) throws Exception {
    System.out.println("version " + Runtime.version().feature());
    try (Snowflake ids = Snowflake.start()) {
      new VirtualThreads(ids).run();
    }
  }

  private void run() throws Exception {
    Executor threads =
        (Executor) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    for (int i = 0; i < THREADS; i++) {
      int number = i;
      running.incrementAndGet();
      threads.execute(() -> mint(number));
    }
    threads.execute(this::tick);
    awaitAllToMint();
    System.out.println("all mint");

    BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    require(commands.readLine(), "stalled");
    long quietSince = System.nanoTime();
    long total = total();
    // The window lasts 5 s; a second without an id means that it is over.
    while (System.nanoTime() - quietSince < 1_500_000_000) {
      TimeUnit.MILLISECONDS.sleep(20);
      if (total() != total) {
        total = total();
        quietSince = System.nanoTime();
      }
    }
    System.out.println("none mints");
    require(commands.readLine(), "resumed");
    long resumed = System.nanoTime();
    awaitAllToMint();
    System.out.println("all mint again " + (System.nanoTime() - resumed) / 1_000_000);

    commands.readLine();
    ended = true;
    while (running.get() > 0) {
      TimeUnit.MILLISECONDS.sleep(10);
    }
    System.out.println(
        "summary " + longestGap.get() / 1_000_000 + " " + total() + " " + duplicates());
  }

  private static void require(String line, String expected) {
    if (!expected.equals(line)) {
      throw new IllegalStateException("told " + line + " instead of " + expected);
    }
  }

  private void mint(int number) {
    long[] own = new long[KEPT];
    kept.set(number, own);
    try {
      while (!ended) {
        try {
          long id = ids.nextId();
          int count = minted.get(number);
          if (count < KEPT) {
            own[count] = id;
          }
          minted.incrementAndGet(number);
        } catch (NoLeaseException e) {
          Thread.onSpinWait(); // and asks again
        }
        TimeUnit.MILLISECONDS.sleep(200);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      running.decrementAndGet();
    }
  }

  /** Does nothing but run: it cannot if the carriers are all pinned. */
  private void tick() {
    long last = System.nanoTime();
    try {
      while (!ended) {
        TimeUnit.MILLISECONDS.sleep(20);
        long now = System.nanoTime();
        longestGap.accumulateAndGet(now - last, Math::max);
        last = now;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void awaitAllToMint() throws InterruptedException {
    int[] before = new int[THREADS];
    for (int i = 0; i < THREADS; i++) {
      before[i] = minted.get(i);
    }
    for (int i = 0; i < THREADS; i++) {
      while (minted.get(i) == before[i]) {
        TimeUnit.MILLISECONDS.sleep(5);
      }
    }
  }

  private long total() {
    long total = 0;
    for (int i = 0; i < THREADS; i++) {
      total += minted.get(i);
    }
    return total;
  }

  private long duplicates() {
    long[] all = new long[THREADS * KEPT];
    int filled = 0;
    for (int i = 0; i < THREADS; i++) {
      int count = Math.min(KEPT, minted.get(i));
      System.arraycopy(kept.get(i), 0, all, filled, count);
      filled += count;
    }
    all = Arrays.copyOf(all, filled);
    Arrays.sort(all);
    long duplicates = 0;
    for (int i = 1; i < filled; i++) {
      if (all[i] == all[i - 1]) {
        duplicates++;
      }
    }
    return duplicates;
  }
}
