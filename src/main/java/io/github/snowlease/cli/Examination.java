package io.github.snowlease.cli;

import io.github.snowlease.BitLayout;
import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.LeaseStoreException.Reason;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.Slot;
import io.github.snowlease.cli.Snapshot.Seat;
import io.github.snowlease.file.FolderInspector;
import io.github.snowlease.redis.RedisInspector;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** What a doctor does with a store: looks, listens, and tries a lease. */
final class Examination {
  private static final long SLOW_MILLIS = 100;
  private static final int ROUND_TRIPS = 5;
  private static final int FEW_PERCENT = 20;
  private static final int CANDIDATES = 16;

  private final StoreView view;
  private final LeaseStore store;
  private final LeaseTerms terms;
  private final BitLayout layout;
  private final @Nullable Integer cluster;
  private final @Nullable Integer node;
  private final Report report;

  /** How the server process calls itself; null if nobody knows. */
  private @Nullable String runId;

  /**
   * Prepares to look at a store.
   *
   * @param cluster the cluster in which a service would look for a slot, or null for any
   * @param node its node there, or null for any
   */
  Examination(StoreView view, BitLayout layout, @Nullable Integer cluster, @Nullable Integer node) {
    this.view = view;
    this.store = view.store();
    this.terms = view.terms();
    this.layout = layout;
    this.cluster = cluster;
    this.node = node;
    this.report = new Report(terms);
  }

  /** Looks at everything, as far as the store lets it. */
  List<Finding> run() {
    FolderInspector folder = view.folder();
    if (folder != null && view.isMissingFolder()) {
      lookAtPlaceOf(folder.nearest());
      return report.findings();
    }
    try {
      // The first question also connects; those that are timed come later.
      StoreView.await(store.time(terms));
      report.ok("connection", view.where());
    } catch (LeaseStoreException e) {
      report.fail("connection", e);
      if (e.reason() == Reason.UNREACHABLE
          || e.reason() == Reason.UNAUTHENTICATED
          || e.reason() == Reason.UNAVAILABLE // it would say the same to every other question
          || e.reason() == Reason.NO_REPLY) {
        return report.findings();
      }
    }
    RedisInspector redis = view.redis();
    if (redis != null) {
      runId = new ServerExamination(redis, terms, report).run();
    }
    report.tryTo("settings", this::lookAtSettings);
    report.tryTo("clock", this::lookAtClock);
    report.tryTo("namespace", this::lookAtNamespace);
    if (redis != null) {
      new TrialLease(store, report).besides(terms, redis);
    }
    return report.findings();
  }

  /** Nothing is made, as it would belong to whoever runs this, and not to the service. */
  private void lookAtPlaceOf(Path nearest) {
    if (Files.isDirectory(nearest) && Files.isWritable(nearest)) {
      report.ok("namespace", view.where() + " does not exist yet: the first start makes it");
    } else {
      report.fail(
          "rights",
          view.where()
              + " does not exist, and this user cannot make it in "
              + nearest
              + "; make it, and give it to the user of the service");
    }
  }

  /** The store judges itself in the same words when a service starts. */
  private void lookAtSettings() {
    List<String> warnings = StoreView.await(store.warnings(terms));
    for (String warning : warnings) {
      report.warn(topicOf(warning), warning);
    }
    if (view.redis() != null) {
      for (String topic : List.of("eviction", "persistence", "replicas")) {
        if (warnings.stream().noneMatch(warning -> topicOf(warning).equals(topic))) {
          report.ok(topic, "nothing to say against it, as far as it can be seen");
        }
      }
    }
  }

  private static String topicOf(String warning) {
    if (warning.contains("evict")) {
      return "eviction";
    }
    return warning.contains("replicas") ? "replicas" : "persistence";
  }

  private void lookAtClock() {
    long best = Long.MAX_VALUE;
    long apart = 0;
    for (int i = 0; i < ROUND_TRIPS; i++) {
      long sent = System.nanoTime();
      long now = StoreView.await(store.time(terms));
      long took = System.nanoTime() - sent;
      if (took < best) {
        best = took;
        apart = System.currentTimeMillis() - TimeUnit.NANOSECONDS.toMillis(took / 2) - now;
      }
    }
    String difference =
        "this host's clock is "
            + Math.abs(apart)
            + "ms "
            + (apart < 0 ? "behind" : "ahead of")
            + " the store's";
    if (Math.abs(apart) > terms.maxClockSkew()) {
      report.fail(
          "clock",
          difference
              + ": no lease is granted beyond maxClockSkew="
              + terms.maxClockSkew()
              + "ms; set both by NTP");
    } else if (Math.abs(apart) > terms.maxClockSkew() / 2) {
      report.warn(
          "clock",
          difference
              + ", and at "
              + terms.maxClockSkew()
              + "ms no lease is granted; set both by NTP");
    } else {
      report.ok("clock", difference);
    }
    String trip = String.format("%.1fms", best / 1e6);
    if (TimeUnit.NANOSECONDS.toMillis(best) > SLOW_MILLIS) {
      report.warn(
          "round trip",
          trip + " at best of " + ROUND_TRIPS + ": slow for a lease; use a store nearby");
    } else {
      report.ok("round trip", trip + " at best of " + ROUND_TRIPS);
    }
  }

  private void lookAtNamespace() {
    Snapshot snapshot = view.read();
    if (!snapshot.exists()) {
      report.ok(
          "namespace",
          "it does not exist yet: its first start waits up to "
              + terms.quarantine() / 1_000
              + "s, unless 'init' creates it");
      return;
    }
    String stored = snapshot.layout();
    if (stored != null && !stored.equals(layout.toString())) {
      report.fail(
          "layout",
          "the namespace has "
              + stored
              + ", and you ask for "
              + layout
              + "; set SNOWFLAKE_LAYOUT to the former, or use another namespace for another table");
      return;
    }
    report.ok("layout", stored == null ? "none yet: the first lease sets it" : stored);
    List<Seat> seats = snapshot.seats("").stream().filter(this::isWanted).toList();
    lookAtBlocks(seats);
    lookAtSlots(snapshot, seats);
    lookAtQuarantine(snapshot, seats);
  }

  private boolean isWanted(Seat seat) {
    return (cluster == null || cluster == seat.slot().cluster())
        && (node == null || node == seat.slot().node());
  }

  private void lookAtBlocks(List<Seat> seats) {
    List<String> blocked =
        seats.stream()
            .filter(seat -> seat.state() == SlotState.BLOCKED)
            .map(seat -> seat.slot().toString())
            .toList();
    if (!blocked.isEmpty()) {
      report.warn(
          "blocked",
          blocked.size()
              + " slots are never leased, as an operator blocked them, their entries are damaged or"
              + " something else lies where their lease key should be: "
              + String.join(" ", blocked.subList(0, Math.min(10, blocked.size())))
              + (blocked.size() > 10 ? " …" : "")
              + "; delete the lease keys that are not meant");
    }
  }

  private void lookAtSlots(Snapshot snapshot, List<Seat> seats) {
    long taken =
        seats.stream()
            .filter(seat -> seat.state() != SlotState.FREE && seat.state() != SlotState.QUARANTINED)
            .count();
    long soon = seats.stream().filter(seat -> seat.state() == SlotState.QUARANTINED).count();
    long free = seats.size() - taken - (snapshot.quarantineLeft() > 0 ? 0 : soon);
    String use =
        taken
            + " of "
            + seats.size()
            + " slots"
            + (cluster == null ? "" : " that clusterId=" + cluster)
            + (node == null ? "" : " and nodeId=" + node)
            + (cluster == null ? "" : " may have")
            + " are taken";
    if (free == 0 && node != null) {
      report.fail(
          "slots",
          use
              + ": that process must end first, or this one needs another pair; 'nodes' says who it"
              + " is");
    } else if (free == 0) {
      report.fail(
          "slots",
          use
              + ": nobody else can start; end processes that 'nodes' shows and nobody needs, or plan for"
              + " a layout with more node bits");
    } else if (node == null && free * 100 < (long) seats.size() * FEW_PERCENT) {
      report.warn(
          "slots",
          use + ": few are left for a rolling deploy; plan for a layout with more node bits");
    } else {
      report.ok("slots", use);
    }
  }

  private void lookAtQuarantine(Snapshot snapshot, List<Seat> seats) {
    String server = snapshot.ledger().get("srv");
    if (snapshot.quarantineLeft() > 0) {
      report.warn(
          "quarantine",
          "no new lease for another "
              + (snapshot.quarantineLeft() + 999) / 1_000
              + "s, as the store was empty, restarted or failed over; holders go on, so wait");
    } else if (runId != null
        && (!snapshot.ledger().containsKey("birth")
            || (server != null && !server.equals("-") && !server.equals(runId)))) {
      report.warn(
          "quarantine",
          "the store was restarted, failed over or lost data since the last lease: the next start waits"
              + " "
              + terms.quarantine() / 1_000
              + "s; holders go on");
    } else {
      report.ok("quarantine", "none");
      if (view.redis() == null) {
        tryFreeSlot(seats);
      }
    }
  }

  private void tryFreeSlot(List<Seat> seats) {
    List<Slot> free = new ArrayList<>();
    for (Seat seat : seats) {
      if (seat.state() == SlotState.FREE) {
        free.add(seat.slot());
      }
    }
    if (!free.isEmpty()) {
      Collections.shuffle(free);
      new TrialLease(store, report)
          .within(terms, free.subList(0, Math.min(CANDIDATES, free.size())));
    }
  }
}
