package io.github.snowlease;

import io.github.snowlease.LeaseStore.Holder;
import java.time.Instant;

/** The text of a lease: JSON for people, whose beginning is the owner's mark for stores. */
final class HolderJson {
  private HolderJson() {}

  static String of(String token, Holder holder) {
    StringBuilder json = new StringBuilder(200);
    // Stores compare these first characters; nothing may stand before or between them.
    json.append("{\"token\":\"").append(token).append("\",\"host\":");
    quote(json, holder.host());
    json.append(",\"pid\":").append(holder.pid()).append(",\"app\":");
    quote(json, holder.app());
    json.append(",\"since\":");
    quote(json, Instant.ofEpochMilli(holder.since()).toString());
    json.append(",\"version\":");
    quote(json, holder.version());
    return json.append('}').toString();
  }

  private static void quote(StringBuilder json, String text) {
    json.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        json.append('\\').append(c);
      } else if (c < ' ' || c == 0x7f || (Character.isSurrogate(c) && !isPaired(text, i))) {
        json.append(String.format("\\u%04x", (int) c));
      } else {
        json.append(c);
      }
    }
    json.append('"');
  }

  /** A lone surrogate has no UTF-8 form; it would reach a store as a question mark. */
  private static boolean isPaired(String text, int i) {
    return Character.isHighSurrogate(text.charAt(i))
        ? i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))
        : i > 0 && Character.isHighSurrogate(text.charAt(i - 1));
  }
}
