package io.github.snowlease.file;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.snowlease.LeaseStore.LedgerEntry;
import io.github.snowlease.Slot;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * What a namespace remembers: named fields, among them one for each slot that was ever granted. In
 * memory it is a map; on disk it is text with a checksum at its end. Not thread-safe.
 */
final class Ledger {
  static final String LAYOUT = "layout";
  static final String BIRTH = "birth";
  static final String SERVER = "srv";
  static final String REVISION = "rev";
  static final String QUARANTINE = "quarantine";

  /** The latest time of the store's clock that was written: it never shows less again. */
  static final String CLOCK = "clock";

  private static final String SEPARATOR = " = ";
  private static final String END = "end" + SEPARATOR;
  private static final String HEADER =
      "# Leases of a snowlease namespace, format 1. Written by the processes that hold them: look, do"
          + " not edit.\n"
          + "# cluster:node = until|token|nonce; times are milliseconds since 1970, and a slot without a"
          + " token was handed back.\n";

  private static final Pattern WHOLE = Pattern.compile("\\d{1,15}");
  private static final Pattern SLOT = Pattern.compile("(\\d{1,9}):(\\d{1,9})");
  private static final Pattern FENCE =
      Pattern.compile("(\\d{1,15})\\|([0-9a-fA-F]*)\\|([0-9a-fA-F]*)");

  private final Map<String, String> fields = new LinkedHashMap<>();

  /** What a slot's field says. The token is empty if the slot was handed back. */
  record Fence(long until, String token, String nonce) {
    static Fence released(long lastIssued) {
      return new Fence(lastIssued, "", "");
    }

    boolean isHeld() {
      return !token.isEmpty();
    }
  }

  /** Whether nothing was ever written. */
  boolean isEmpty() {
    return fields.isEmpty();
  }

  @Nullable String get(String field) {
    return fields.get(field);
  }

  void put(String field, String value) {
    fields.put(field, value);
  }

  /** All fields, in the order in which they were first written. */
  Map<String, String> fields() {
    return new LinkedHashMap<>(fields);
  }

  /** The whole number in a field, or -1 if there is none or it is damaged. */
  long number(String field) {
    String text = fields.get(field);
    return text != null && WHOLE.matcher(text).matches() ? Long.parseLong(text) : -1;
  }

  void put(String field, long number) {
    fields.put(field, Long.toString(number));
  }

  boolean contains(Slot slot) {
    return fields.containsKey(slot.toString());
  }

  /** The fence of a slot, or null if there is none or it is damaged. */
  @Nullable Fence fence(Slot slot) {
    String text = fields.get(slot.toString());
    return text == null ? null : fenceIn(text);
  }

  private static @Nullable Fence fenceIn(String text) {
    Matcher parts = FENCE.matcher(text);
    return parts.matches()
        ? new Fence(Long.parseLong(parts.group(1)), parts.group(2), parts.group(3))
        : null;
  }

  void put(Slot slot, Fence fence) {
    fields.put(slot.toString(), fence.until() + "|" + fence.token() + "|" + fence.nonce());
  }

  /** The fences of all slots, damaged ones included. */
  Map<Slot, LedgerEntry> entries() {
    Map<Slot, LedgerEntry> entries = new HashMap<>();
    fields.forEach(
        (field, text) -> {
          Matcher slot = SLOT.matcher(field);
          if (slot.matches()) {
            Fence fence = fenceIn(text);
            entries.put(
                new Slot(Integer.parseInt(slot.group(1)), Integer.parseInt(slot.group(2))),
                fence == null
                    ? new LedgerEntry(0, false, false)
                    : new LedgerEntry(fence.until(), fence.isHeld(), true));
          }
        });
    return entries;
  }

  /** The text for the disk. */
  byte[] encode() {
    StringBuilder text = new StringBuilder(HEADER);
    fields.forEach(
        (field, value) -> text.append(field).append(SEPARATOR).append(escape(value)).append('\n'));
    String checksum = checksum(text.toString());
    text.append(END).append(checksum).append('\n');
    return text.toString().getBytes(UTF_8);
  }

  /**
   * Reads the text of the disk.
   *
   * @throws DamagedException if it is not whole
   */
  static Ledger decode(byte[] bytes) throws DamagedException {
    String text = new String(bytes, UTF_8);
    int end = text.lastIndexOf("\n" + END) + 1;
    if (end == 0) {
      throw new DamagedException("its last line, which begins with 'end', is missing");
    }
    String body = text.substring(0, end);
    if (!text.substring(end).equals(END + checksum(body) + "\n")) {
      throw new DamagedException("its checksum is another: it was edited, or the disk failed");
    }
    Ledger ledger = new Ledger();
    for (String line : body.lines().toList()) {
      if (line.startsWith("#")) {
        continue;
      }
      int separator = line.indexOf(SEPARATOR);
      if (separator < 0) {
        throw new DamagedException("a line is not of the form 'name = value'");
      }
      ledger.put(
          line.substring(0, separator), unescape(line.substring(separator + SEPARATOR.length())));
    }
    return ledger;
  }

  private static String checksum(String text) {
    CRC32 crc = new CRC32();
    crc.update(text.getBytes(UTF_8));
    return String.format("%08x", crc.getValue());
  }

  private static String escape(String value) {
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r");
  }

  private static String unescape(String value) {
    StringBuilder text = new StringBuilder(value.length());
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c == '\\' && i + 1 < value.length()) {
        char escaped = value.charAt(++i);
        text.append(escaped == 'n' ? '\n' : escaped == 'r' ? '\r' : escaped);
      } else {
        text.append(c);
      }
    }
    return text.toString();
  }

  /** The text of a ledger is not whole. */
  static final class DamagedException extends Exception {
    private static final long serialVersionUID = 1L;

    DamagedException(String message) {
      super(message);
    }
  }
}
