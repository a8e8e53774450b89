package io.github.snowlease.cli;

import io.github.snowlease.BitLayout;
import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseStore.Claim;
import io.github.snowlease.LeaseStore.ClaimReply;
import io.github.snowlease.LeaseStore.Granted;
import io.github.snowlease.LeaseStore.Holder;
import io.github.snowlease.LeaseStore.Release;
import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.LeaseStoreException.Reason;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.Slot;
import io.github.snowlease.cli.Finding.Level;
import io.github.snowlease.cli.Snapshot.Seat;
import io.github.snowlease.redis.RedisInspector;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** What a doctor does with a store: looks, listens, and tries a lease. */
final class Examination {
  private static final int OLDEST_MAJOR = 5;
  private static final long SLOW_MILLIS = 100;
  private static final int ROUND_TRIPS = 5;
  private static final int FEW_PERCENT = 20;
  private static final int CANDIDATES = 16;

  private final StoreView view;
  private final LeaseStore store;
  private final LeaseTerms terms;
  private final BitLayout layout;
  private final SecureRandom random = new SecureRandom();
  private final List<Finding> findings = new ArrayList<>();

  Examination(StoreView view, BitLayout layout) {
    this.view = view;
    this.store = view.store();
    this.terms = view.terms();
    this.layout = layout;
  }

  /** Looks at everything, as far as the store lets it. */
  List<Finding> run() {
    try {
      // The first question also connects; those that are timed come later.
      StoreView.await(store.time(terms));
      ok("connection", view.where());
    } catch (LeaseStoreException e) {
      fail(aboutOf(e), e.getMessage());
      if (e.reason() == Reason.UNREACHABLE
          || e.reason() == Reason.UNAUTHENTICATED
          || e.reason() == Reason.UNAVAILABLE // it would say the same to every other question
          || e.reason() == Reason.NO_REPLY) {
        return findings;
      }
    }
    RedisInspector redis = view.redis();
    if (redis != null) {
      lookAtServer(redis);
    }
    tryTo("settings", this::lookAtSettings);
    tryTo("clock", this::lookAtClock);
    tryTo("namespace", this::lookAtNamespace);
    return findings;
  }

  private void lookAtServer(RedisInspector redis) {
    Map<String, String> info;
    try {
      info = redis.info(terms);
    } catch (LeaseStoreException e) {
      warn(
          "identity",
          e.getMessage()
              + "; without INFO a restart of Redis is noticed only by what it forgot, and version and"
              + " settings cannot be seen from here");
      return;
    }
    String version = info.getOrDefault("redis_version", "0");
    String name =
        info.containsKey("valkey_version")
            ? "Valkey " + info.get("valkey_version")
            : "Redis " + version;
    if (leadingNumber(version) < OLDEST_MAJOR) {
      fail("version", name + ": leases need Redis 5 or newer, or Valkey; upgrade it");
    } else {
      ok("version", name);
    }
    if (info.getOrDefault("run_id", "").isEmpty()) {
      warn("identity", "the server does not tell its run_id: its restarts are noticed less surely");
    } else {
      ok("identity", "run_id can be read, so restarts and failovers are noticed");
    }
    if (info.getOrDefault("role", "master").equals("slave")) {
      fail(
          "role",
          "it is a replica, which takes no writes; point the store at the master, or at Sentinel or"
              + " the cluster");
    } else {
      ok("role", "master with " + info.getOrDefault("connected_slaves", "?") + " replicas");
    }
    if (info.getOrDefault("loading", "0").equals("1")) {
      fail("loading", "it is loading its data; it serves once that is done");
    }
  }

  private static int leadingNumber(String version) {
    String digits = version.replaceAll("\\D.*", "");
    return digits.isEmpty() ? 0 : Integer.parseInt(digits);
  }

  /** The store judges itself in the same words when a service starts. */
  private void lookAtSettings() {
    List<String> warnings = StoreView.await(store.warnings(terms));
    for (String warning : warnings) {
      warn(topicOf(warning), warning);
    }
    if (view.redis() != null) {
      for (String topic : List.of("eviction", "persistence", "replicas")) {
        if (warnings.stream().noneMatch(warning -> topicOf(warning).equals(topic))) {
          ok(topic, "nothing to say against it, as far as it can be seen");
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
      fail(
          "clock",
          difference
              + ": no lease is granted beyond maxClockSkew="
              + terms.maxClockSkew()
              + "ms; set both by NTP");
    } else if (Math.abs(apart) > terms.maxClockSkew() / 2) {
      warn(
          "clock",
          difference
              + ", and at "
              + terms.maxClockSkew()
              + "ms no lease is granted; set both by NTP");
    } else {
      ok("clock", difference);
    }
    String trip = String.format("%.1fms", best / 1e6);
    if (TimeUnit.NANOSECONDS.toMillis(best) > SLOW_MILLIS) {
      warn(
          "round trip",
          trip + " at best of " + ROUND_TRIPS + ": slow for a lease; use a store nearby");
    } else {
      ok("round trip", trip + " at best of " + ROUND_TRIPS);
    }
  }

  private void lookAtNamespace() {
    Snapshot snapshot = view.read();
    if (!snapshot.exists()) {
      ok(
          "namespace",
          "it does not exist yet: its first start waits up to "
              + terms.quarantine() / 1_000
              + "s, unless 'init' creates it; rights to write were not tried");
      return;
    }
    String stored = snapshot.layout();
    if (stored != null && !stored.equals(layout.toString())) {
      fail(
          "layout",
          "the namespace has "
              + stored
              + ", and you ask for "
              + layout
              + "; set SNOWFLAKE_LAYOUT to the former, or use another namespace for another table");
      return;
    }
    ok("layout", stored == null ? "none yet: the first lease sets it" : stored);
    lookAtSlots(snapshot);
    if (snapshot.quarantineLeft() > 0) {
      warn(
          "quarantine",
          "no new lease for another "
              + (snapshot.quarantineLeft() + 999) / 1_000
              + "s, as the store was empty, restarted or failed over; holders go on, so wait");
    } else {
      ok("quarantine", "none");
      tryLease(snapshot);
    }
  }

  private void lookAtSlots(Snapshot snapshot) {
    List<Seat> seats = snapshot.seats("");
    List<String> blocked =
        seats.stream()
            .filter(seat -> seat.state() == SlotState.BLOCKED)
            .map(seat -> seat.slot().toString())
            .toList();
    if (!blocked.isEmpty()) {
      warn(
          "blocked",
          blocked.size()
              + " slots are never leased, as an operator blocked them, their entries are damaged or"
              + " something else lies where their lease key should be: "
              + String.join(" ", blocked.subList(0, Math.min(10, blocked.size())))
              + (blocked.size() > 10 ? " …" : "")
              + "; delete the lease keys that are not meant");
    }
    long free = seats.stream().filter(seat -> seat.state() == SlotState.FREE).count();
    String use = (seats.size() - free) + " of " + seats.size() + " slots are in use";
    if (free == 0 && snapshot.quarantineLeft() == 0) {
      fail(
          "slots",
          use + ": nobody else can start; end processes, or plan for a layout with more node bits");
    } else if (free * 100 < (long) seats.size() * FEW_PERCENT && snapshot.quarantineLeft() == 0) {
      warn(
          "slots",
          use + ": few are left for a rolling deploy; plan for a layout with more node bits");
    } else {
      ok("slots", use);
    }
  }

  /** What a service does at its start and end; an error names the right that is missing. */
  private void tryLease(Snapshot snapshot) {
    List<Slot> free = new ArrayList<>();
    for (Seat seat : snapshot.seats("")) {
      if (seat.state() == SlotState.FREE) {
        free.add(seat.slot());
      }
    }
    if (free.isEmpty()) {
      return;
    }
    Collections.shuffle(free, random);
    List<Slot> candidates = free.subList(0, Math.min(CANDIDATES, free.size()));
    String token = hex(2);
    Holder doctor =
        new Holder(
            "doctor",
            ProcessHandle.current().pid(),
            "snowlease doctor",
            System.currentTimeMillis(),
            "-");
    Claim claim = new Claim(token, hex(1), System.currentTimeMillis(), -1, 0, candidates, doctor);
    tryTo(
        "lease",
        () -> {
          ClaimReply reply;
          boolean released;
          try {
            reply = StoreView.await(store.claim(terms, claim));
          } catch (LeaseStoreException e) {
            if (e.mayHaveRun()) {
              giveBack(new Release(token, Release.UNKNOWN_GRANT, candidates));
            }
            throw e;
          }
          if (!(reply instanceof Granted grant)) {
            warn(
                "lease",
                "a trial lease was not granted: "
                    + reply.getClass().getSimpleName()
                    + "; try again");
            return;
          }
          released =
              StoreView.await(
                  store.release(terms, new Release(token, grant.now() - 1, List.of(grant.slot()))));
          if (released) {
            ok("lease", "slot " + grant.slot() + " was leased and handed back");
          } else {
            warn(
                "lease",
                "slot "
                    + grant.slot()
                    + " was leased, and could not be handed back; it comes free by itself");
          }
        });
  }

  private void giveBack(Release release) {
    try {
      StoreView.await(store.release(terms, release));
    } catch (LeaseStoreException e) {
      warn("lease", "a trial lease may have been left: it runs out by itself");
    }
  }

  private void tryTo(String about, Runnable look) {
    try {
      look.run();
    } catch (LeaseStoreException e) {
      String topic =
          e.reason() == Reason.OTHER || e.reason() == Reason.UNAVAILABLE ? about : aboutOf(e);
      String text = String.valueOf(e.getMessage());
      if (e.reason() == Reason.WRONG_TYPE && !text.contains(terms.keyPrefix())) {
        text += ": namespace=" + terms.namespace() + " key=" + terms.keyPrefix() + ":ledger";
      }
      Finding finding = new Finding(Level.FAIL, topic, text);
      if (!findings.contains(finding)) {
        findings.add(finding);
      }
    }
  }

  private static String aboutOf(LeaseStoreException e) {
    return switch (e.reason()) {
      case DENIED -> "rights";
      case WRONG_TYPE -> "keys";
      case UNSUPPORTED -> "version";
      default -> "connection";
    };
  }

  private void ok(String about, String text) {
    findings.add(new Finding(Level.OK, about, text));
  }

  private void warn(String about, String text) {
    findings.add(new Finding(Level.WARN, about, text));
  }

  private void fail(String about, @Nullable String text) {
    findings.add(new Finding(Level.FAIL, about, String.valueOf(text)));
  }

  private String hex(int longs) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < longs; i++) {
      text.append(HexFormat.of().toHexDigits(random.nextLong()));
    }
    return text.toString();
  }
}
