package io.github.snowlease;

import io.github.snowlease.LeaseStore.LossReason;
import java.time.Duration;
import java.time.Instant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Every line that a lease writes to the log, in one place: {@code docs/operations.md} explains each
 * of them. A line says what happened, then name=value, then what follows or what to do.
 */
final class LeaseLog {
  private static final Logger log = LoggerFactory.getLogger("io.github.snowlease.Lease");

  private final String namespace;

  LeaseLog(String namespace) {
    this.namespace = namespace;
  }

  void leased(Grant grant) {
    log.info(
        "Leased a slot: namespace={} slot={} until={}", namespace, grant.slot, at(grant.until()));
  }

  void trustedEmpty() {
    log.warn(
        "trustEmptyRedis took an empty store for a new namespace: namespace={}; ids are duplicated"
            + " if somebody still mints on a lease of before, so never use it in production",
        namespace);
  }

  void horizonNear(BitLayout layout) {
    log.warn(
        "The layout ends within a year: namespace={} horizon={} layout={}; plan the move to another"
            + " layout",
        namespace,
        layout.horizon(),
        layout);
  }

  void startFails(SnowflakeException cause, long acquireTimeoutMillis) {
    log.warn(
        "No lease yet: namespace={} cause={}; it is tried again for acquireTimeout={}ms",
        namespace,
        cause.getMessage(),
        acquireTimeoutMillis);
  }

  void quarantined(long waitMillis) {
    log.warn(
        "The store is empty, restarted, failed over or lost data, so that leases of before may be"
            + " in use: namespace={} firstLeaseIn={}ms; if nobody mints here now, createNamespace()"
            + " skips the wait for a new namespace",
        namespace,
        waitMillis);
  }

  void renewalFails(Grant grant, SnowflakeException cause) {
    log.warn(
        "A lease could not be renewed: namespace={} slot={} until={} cause={}; it is tried again,"
            + " and ids go on until then",
        namespace,
        grant.slot,
        at(grant.until()),
        cause.getMessage());
  }

  void renewedAgain(Grant grant, int failures) {
    log.info(
        "A lease was renewed again: namespace={} slot={} failures={}",
        namespace,
        grant.slot,
        failures);
  }

  void windowEnded(Grant grant, int failures) {
    log.warn(
        "The window ended without a renewal: namespace={} slot={} until={} failures={}; ids stop"
            + " until a slot is leased",
        namespace,
        grant.slot,
        at(grant.until()),
        failures);
  }

  void lost(Grant grant, LossReason reason) {
    log.warn(
        "The lease is gone: namespace={} slot={} reason={}; ids stop until a slot is leased",
        namespace,
        grant.slot,
        reason);
  }

  void layoutChanged(SnowflakeException mismatch) {
    log.error("Ids stop, as the namespace has another layout now: {}", mismatch.getMessage());
  }

  void stoodStill() {
    log.warn(
        "This process stood still for more than 5s and may be a copy of another: namespace={}; its"
            + " lease is dropped and a slot leased anew",
        namespace);
  }

  void frozenOrCopied(long aheadMillis) {
    log.warn(
        "This process was frozen or copied: namespace={} storeAhead={}ms; its lease is dropped and"
            + " a slot leased anew",
        namespace,
        aheadMillis);
  }

  void wallClockStepped(Grant grant) {
    log.warn(
        "This host's wall clock was stepped: namespace={} slot={}; ids go on, as they do not follow"
            + " it",
        namespace,
        grant.slot);
  }

  void storeWentBack(long byMillis) {
    log.warn(
        "The store's clock went back: namespace={} by={}ms; ids run ahead of it at half speed, and"
            + " wait at the end of the window until it has caught up",
        namespace,
        byMillis);
  }

  void draining(Grant grant, long graceMillis) {
    log.info(
        "The slot is handed back, as the JVM exits: namespace={} slot={}; ids are minted for at most"
            + " {}ms more",
        namespace,
        grant.slot,
        graceMillis);
  }

  void suspended() {
    log.info(
        "The lease is dropped, as a checkpoint is taken: namespace={}; a slot is leased anew when"
            + " the process goes on or is restored",
        namespace);
  }

  void resumed() {
    log.info("Going on after a checkpoint: namespace={}; a slot is leased anew", namespace);
  }

  void listenerFailed(LeaseEvent event, Throwable cause) {
    log.warn("A listener threw: namespace={} event={}", namespace, event, cause);
  }

  void closed(Duration took) {
    log.info("Closed: namespace={} took={}ms", namespace, took.toMillis());
  }

  private static Instant at(long millis) {
    return Instant.ofEpochMilli(millis);
  }
}
