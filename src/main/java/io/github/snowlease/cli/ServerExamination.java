package io.github.snowlease.cli;

import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.redis.RedisInspector;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a Redis tells of itself. */
final class ServerExamination {
  private static final int OLDEST_MAJOR = 5;

  private final RedisInspector redis;
  private final LeaseTerms terms;
  private final Report report;

  ServerExamination(RedisInspector redis, LeaseTerms terms, Report report) {
    this.redis = redis;
    this.terms = terms;
    this.report = report;
  }

  /** Reports; returns how the server process calls itself, or null if it does not tell. */
  @Nullable String run() {
    Map<String, String> info;
    try {
      info = redis.info(terms);
    } catch (LeaseStoreException e) {
      report.warn(
          "identity",
          e.getMessage()
              + "; without INFO a restart of Redis is noticed only by what it forgot, and version and"
              + " settings cannot be seen from here");
      return null;
    }
    lookAtVersion(info);
    String runId = info.getOrDefault("run_id", "");
    if (runId.isEmpty()) {
      report.warn(
          "identity", "the server does not tell its run_id: its restarts are noticed less surely");
    } else {
      report.ok("identity", "run_id can be read, so restarts and failovers are noticed");
    }
    lookAtRole(info);
    lookAtDisk(info);
    if (info.getOrDefault("cluster_enabled", "0").equals("1")) {
      report.tryTo("cluster", this::lookAtCluster);
    }
    return runId.isEmpty() ? null : runId;
  }

  private void lookAtVersion(Map<String, String> info) {
    String version = info.getOrDefault("redis_version", "0");
    String name =
        info.containsKey("valkey_version")
            ? "Valkey " + info.get("valkey_version")
            : "Redis " + version;
    if (leadingNumber(version) < OLDEST_MAJOR) {
      report.fail("version", name + ": leases need Redis 5 or newer, or Valkey; upgrade it");
    } else {
      report.ok("version", name);
    }
  }

  private static int leadingNumber(String version) {
    String digits = version.replaceAll("\\D.*", "");
    return digits.isEmpty() ? 0 : Integer.parseInt(digits);
  }

  private void lookAtRole(Map<String, String> info) {
    if (info.getOrDefault("role", "master").equals("slave")) {
      report.fail(
          "role",
          "it is a replica, which takes no writes; point the store at the master, or at Sentinel or"
              + " the cluster");
    } else {
      report.ok("role", "master with " + info.getOrDefault("connected_slaves", "?") + " replicas");
    }
    if (info.getOrDefault("loading", "0").equals("1")) {
      report.fail("loading", "it is loading its data; it serves once that is done");
    }
  }

  /** Redis may take no writes while it cannot save, or does so from the next failure on. */
  private void lookAtDisk(Map<String, String> info) {
    boolean snapshotFailed = info.getOrDefault("rdb_last_bgsave_status", "ok").equals("err");
    boolean logFailed = info.getOrDefault("aof_last_write_status", "ok").equals("err");
    if (snapshotFailed || logFailed) {
      report.fail(
          "disk",
          "it could not save to disk: "
              + (snapshotFailed ? "rdb_last_bgsave_status=err" : "aof_last_write_status=err")
              + "; look into Redis's log, free disk space or correct its directory");
    }
  }

  private void lookAtCluster() {
    Map<String, String> cluster = redis.clusterInfo(terms);
    String state = cluster.getOrDefault("cluster_state", "unknown");
    if (state.equals("ok")) {
      report.ok("cluster", cluster.getOrDefault("cluster_known_nodes", "?") + " nodes, state ok");
    } else {
      report.fail(
          "cluster",
          "its state is "
              + state
              + ", with "
              + cluster.getOrDefault("cluster_slots_ok", "?")
              + " of 16384 hash slots served; look at CLUSTER INFO and CLUSTER NODES");
    }
  }
}
