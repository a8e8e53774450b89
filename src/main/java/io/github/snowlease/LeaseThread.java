package io.github.snowlease;

import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread of an instance: polls its manager when that is due or woken, and outlives every
 * exception and error, as a lease whose renewal has silently ended is the failure that this library
 * exists to rule out. A daemon: it keeps no JVM alive.
 */
final class LeaseThread implements Runnable {
  private static final Logger log = LoggerFactory.getLogger(LeaseThread.class);
  private static final long PAUSE_AFTER_FAULT_NANOS = 100_000_000;

  private final NodeLeaseManager manager;
  private final TimeSource time;
  private final Thread thread;

  LeaseThread(NodeLeaseManager manager, TimeSource time, String namespace) {
    this.manager = manager;
    this.time = time;
    this.thread = new Thread(this, "snowlease-" + namespace);
    thread.setDaemon(true);
    // Whatever class loader happens to start it is not held on to by a thread that lives on.
    thread.setContextClassLoader(null);
  }

  void start() {
    manager.onWakeUp(() -> LockSupport.unpark(thread));
    thread.start();
  }

  boolean isCurrent() {
    return Thread.currentThread() == thread;
  }

  @Override
  public void run() {
    while (!manager.isTerminated()) {
      long pause;
      try {
        pause = manager.poll() - time.nanoTime();
      } catch (Throwable t) {
        pause = PAUSE_AFTER_FAULT_NANOS;
        report(t);
      }
      // Nobody interrupts this thread by right; a flag left set would turn parking into spinning.
      Thread.interrupted();
      if (pause > 0) {
        LockSupport.parkNanos(this, pause);
      }
    }
  }

  private static void report(Throwable t) {
    try {
      log.error("A beat of the lease failed; the next one follows", t);
    } catch (Throwable again) { // out of memory, most likely: renewing matters more than telling
      Thread.onSpinWait();
    }
  }
}
