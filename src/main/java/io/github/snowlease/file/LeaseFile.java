package io.github.snowlease.file;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;

/**
 * What lies where the lease of a slot is kept. A holder's lease is two lines: JSON for people that
 * begins with its token, and when it ends. Any other text is an operator's block, and anything but
 * a file is foreign; both keep a slot from being granted.
 *
 * @param kind what it is
 * @param text the line for people, empty if there is none
 */
record LeaseFile(Kind kind, String text) {
  private static final String ENDS = "\nends ";

  /** What a lease file may be. */
  enum Kind {
    NONE,
    HOLDER,
    BLOCK,
    FOREIGN
  }

  static LeaseFile read(Path path) throws IOException {
    if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
      return new LeaseFile(Kind.NONE, "");
    }
    if (!Files.isRegularFile(path)) {
      return new LeaseFile(Kind.FOREIGN, "");
    }
    String text = Files.readString(path).strip();
    if (text.isEmpty()) {
      // What a power cut may leave of a lease, as only the ledger is forced to the disk.
      return new LeaseFile(Kind.NONE, "");
    }
    int ends = text.lastIndexOf(ENDS);
    return ends < 0
        ? new LeaseFile(Kind.BLOCK, text)
        : new LeaseFile(Kind.HOLDER, text.substring(0, ends));
  }

  /** Writes a holder's lease; a reader finds the old one or the new one, never a part. */
  static void write(Path path, String json, long ends) throws IOException {
    Path draft = path.resolveSibling(path.getFileName() + ".new");
    Files.write(draft, (json + ENDS + Instant.ofEpochMilli(ends) + "\n").getBytes(UTF_8));
    Files.move(draft, path, StandardCopyOption.ATOMIC_MOVE);
  }

  boolean exists() {
    return kind != Kind.NONE;
  }

  /** Whether somebody else than a holder put it there: that a holder died is seen by its lock. */
  boolean isObstacle() {
    return kind == Kind.BLOCK || kind == Kind.FOREIGN;
  }

  boolean isOf(String token) {
    return kind != Kind.FOREIGN && text.startsWith("{\"token\":\"" + token + "\",");
  }
}
