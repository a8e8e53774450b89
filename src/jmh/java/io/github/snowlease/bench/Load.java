package io.github.snowlease.bench;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.HdrHistogram.Histogram;

/**
 * One subject under load, in a process of its own: what JMH does not measure. Prints a line {@code
 * figure name value} for each. All scenes use the standard layout: 4,096 ids a millisecond.
 */
public final class Load {
  private static final int BURST = 2_000;
  private static final long PACE_NANOS = 10_000;

  private final Subject subject;
  private final long sceneMillis;
  private final LongSupplier ids;
  private volatile boolean stop;

  private Load(Subject subject, long sceneMillis) {
    this.subject = subject;
    this.sceneMillis = sceneMillis;
    this.ids = subject.open(Subject.STANDARD);
  }

  /**
   * Runs all scenes.
   *
   * @param args the subject's name, and how many milliseconds a scene lasts
   */
  public static void main(String[] args) throws InterruptedException {
    Load load = new Load(Subject.valueOf(args[0]), Long.parseLong(args[1]));
    load.mint(2, 400, false);
    load.mint(1, 200, true);
    load.bytesAnId();
    load.burst();
    load.paced();
    if (load.subject.isSnowflake()) {
      load.saturated();
      load.saturatedAndTimed();
    }
    System.exit(0); // some peers leave threads that are no daemons
  }

  private static void report(String figure, double value) {
    System.out.println("figure " + figure + " " + value);
  }

  private static void report(String figure, long value) {
    report(figure, (double) value);
  }

  private void bytesAnId() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    int count = 200_000;
    long sum = 0;
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < count; i++) {
      sum += ids.getAsLong();
    }
    long after = threads.getCurrentThreadAllocatedBytes();
    if (sum == 0) {
      throw new IllegalStateException("ids must not add up to 0");
    }
    report("bytes", (double) (after - before) / count);
  }

  /** After a pause of some ticks, so that the sequence is unused: what the first 2,000 ids take. */
  private void burst() {
    double[] nanosAnId = new double[(int) Math.max(50, sceneMillis / 5)];
    long[] sink = new long[BURST];
    for (int i = 0; i < nanosAnId.length; i++) {
      LockSupport.parkNanos(3_000_000);
      long tick = System.currentTimeMillis();
      while (System.currentTimeMillis() == tick) {
        Thread.onSpinWait();
      }
      long start = System.nanoTime();
      for (int n = 0; n < BURST; n++) {
        sink[n] = ids.getAsLong();
      }
      nanosAnId[i] = (double) (System.nanoTime() - start) / BURST;
    }
    Arrays.sort(nanosAnId);
    report("burst", nanosAnId[nanosAnId.length / 2]);
  }

  /**
   * A call every 10 µs, timed from its beginning and not from when it was due, as the pauses that
   * the machine makes are no property of the subject.
   */
  private void paced() {
    Histogram nanos = new Histogram(3);
    Clock clock = new Clock();
    long due = System.nanoTime();
    long end = due + sceneMillis * 1_000_000;
    for (long now = due; now - end < 0; now = System.nanoTime()) {
      if (now - due < 0) {
        Thread.onSpinWait();
        continue;
      }
      due += PACE_NANOS * (1 + (now - due) / PACE_NANOS);
      long id = ids.getAsLong();
      nanos.recordValue(System.nanoTime() - now);
      clock.compare(id);
    }
    report("paced.p50", nanos.getValueAtPercentile(50));
    report("paced.p999", nanos.getValueAtPercentile(99.9));
    report("paced.lag", clock.lag.getValueAtPercentile(99.9));
  }

  /** As many ids as come: their rate, the cores burned, and how far timestamps leave the clock. */
  private void saturated() throws InterruptedException {
    OperatingSystemMXBean process =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    long lead = Long.MIN_VALUE;
    // A scene begins and ends within a tick, so that a short one blurs the rate.
    for (int threads : new int[] {1, 8}) {
      long cpu = process.getProcessCpuTime();
      long start = System.nanoTime();
      List<Worker> workers = mint(threads, Math.max(800, sceneMillis), false);
      double nanos = System.nanoTime() - start;
      report("saturated.cores." + threads, (process.getProcessCpuTime() - cpu) / nanos);
      long count = workers.stream().mapToLong(worker -> worker.count).sum();
      report("saturated.rate." + threads, count * 1e3 / nanos);
      for (Worker worker : workers) {
        lead = Math.max(lead, worker.clock.lead);
      }
    }
    report("saturated.lead", lead);
  }

  /** The same with each call timed, which costs two clock reads an id. */
  private void saturatedAndTimed() throws InterruptedException {
    for (int threads : new int[] {2, 8}) {
      Histogram nanos = new Histogram(3);
      for (Worker worker : mint(threads, Math.max(500, sceneMillis), true)) {
        nanos.add(worker.nanos);
      }
      report("saturated.p50." + threads, nanos.getValueAtPercentile(50));
      report("saturated.p999." + threads, nanos.getValueAtPercentile(99.9));
      report("saturated.max." + threads, nanos.getMaxValue());
    }
  }

  private List<Worker> mint(int threads, long millis, boolean timed) throws InterruptedException {
    stop = false;
    List<Worker> workers = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      Worker worker = new Worker(timed);
      workers.add(worker);
      worker.start();
    }
    Thread.sleep(millis); // the span that is measured
    stop = true;
    for (Worker worker : workers) {
      worker.join();
    }
    return workers;
  }

  /** How far timestamps were ahead of the wall clock and behind it, in milliseconds. */
  private final class Clock {
    long lead = Long.MIN_VALUE;
    final Histogram lag = new Histogram(3);

    void compare(long id) {
      if (subject.isSnowflake()) {
        long ahead = subject.millisOf(id) - System.currentTimeMillis();
        lead = Math.max(lead, ahead);
        lag.recordValue(Math.max(0, -ahead));
      }
    }
  }

  private final class Worker extends Thread {
    final Clock clock = new Clock();
    final Histogram nanos = new Histogram(3);
    final boolean timed;
    long count;

    @SuppressWarnings("UnusedVariable") // written, so that no id is optimized away
    long sink;

    Worker(boolean timed) {
      this.timed = timed;
    }

    @Override
    public void run() {
      if (timed) {
        mintTimed();
      } else {
        mint();
      }
    }

    private void mint() {
      while (!stop) {
        long id = ids.getAsLong();
        if ((++count & 1_023) == 0) {
          clock.compare(id);
        }
      }
    }

    private void mintTimed() {
      while (!stop) {
        long before = System.nanoTime();
        sink = ids.getAsLong();
        nanos.recordValue(System.nanoTime() - before);
      }
    }
  }
}
