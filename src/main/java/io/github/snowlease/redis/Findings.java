package io.github.snowlease.redis;

import io.github.snowlease.LeaseTerms;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What weakens leases in a server's settings, as far as it tells them. */
final class Findings {
  /**
   * What CONFIG GET is asked for: {@code save} and {@code appendonly} in one pattern, as Redis
   * takes several names since 7.0 only. A few more settings match it.
   */
  static final String SETTINGS = "[sa][ap][vp]e*";

  private Findings() {}

  /**
   * Judges a server.
   *
   * @param info the text of INFO, empty if it was denied
   * @param settings {@code save} and {@code appendonly}, empty if they were denied
   */
  static List<String> of(LeaseTerms terms, String info, Map<String, String> settings) {
    List<String> findings = new ArrayList<>();
    String replicas = field(info, "connected_slaves");
    if (terms.minReplicas() == 0 && replicas != null && !replicas.equals("0")) {
      findings.add(
          "Redis has "
              + replicas
              + " replicas, and minReplicas is 0: a failover can lose the newest leases, and then no"
              + " slot is granted for "
              + terms.quarantine() / 1_000
              + "s; set minReplicas to 1 to make leases outlive it");
    }
    String policy = field(info, "maxmemory_policy");
    String limit = field(info, "maxmemory");
    if (policy != null && limit != null && !limit.equals("0") && !policy.equals("noeviction")) {
      findings.add(
          "Redis may evict leases when its memory is full: maxmemory-policy="
              + policy
              + "; set it to noeviction, or keep leases in a Redis that is no cache");
    }
    String disk = missingPersistence(info, settings);
    if (disk != null) {
      findings.add(
          disk
              + ": after each of its restarts no slot is granted for "
              + terms.quarantine() / 1_000
              + "s; set appendonly yes");
    }
    return findings;
  }

  /** Says what is off; null if something is on, or if nobody knows. */
  private static @Nullable String missingPersistence(String info, Map<String, String> settings) {
    String log = settings.get("appendonly");
    String snapshots = settings.get("save");
    if (log != null && snapshots != null) {
      return log.equals("no") && snapshots.isBlank() ? "Redis keeps nothing on disk" : null;
    }
    // INFO does not tell whether snapshots are planned, only whether one was taken.
    return "0".equals(field(info, "aof_enabled"))
            && "0".equals(field(info, "rdb_saves"))
            && "0".equals(field(info, "rdb_bgsave_in_progress"))
        ? "Redis has no append-only file, and has taken no snapshot since it started"
        : null;
  }

  private static @Nullable String field(String info, String name) {
    Matcher line = Pattern.compile("(?m)^" + name + ":(\\S*)").matcher(info);
    return line.find() ? line.group(1) : null;
  }
}
