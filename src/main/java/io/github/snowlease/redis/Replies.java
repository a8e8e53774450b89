package io.github.snowlease.redis;

import io.github.snowlease.LeaseStore.ClaimReply;
import io.github.snowlease.LeaseStore.Full;
import io.github.snowlease.LeaseStore.Granted;
import io.github.snowlease.LeaseStore.LayoutDiffers;
import io.github.snowlease.LeaseStore.LedgerEntry;
import io.github.snowlease.LeaseStore.LossReason;
import io.github.snowlease.LeaseStore.Lost;
import io.github.snowlease.LeaseStore.Quarantined;
import io.github.snowlease.LeaseStore.RenewReply;
import io.github.snowlease.LeaseStore.Renewed;
import io.github.snowlease.LeaseStore.Skewed;
import io.github.snowlease.Slot;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads what the scripts return and what the ledger holds. */
final class Replies {
  private static final Pattern SLOT = Pattern.compile("(\\d{1,9}):(\\d{1,9})");

  /** As the scripts read it: until, token (empty when released), nonce. */
  private static final Pattern FENCE =
      Pattern.compile("(\\d{1,15})\\|([0-9a-fA-F]*)\\|([0-9a-fA-F]*)");

  private Replies() {}

  /**
   * Reads the reply of claim.lua.
   *
   * @throws IllegalArgumentException if it is not one
   */
  static ClaimReply claim(List<?> reply) {
    long now = number(reply, 1);
    return switch (text(reply, 0)) {
      case "GRANTED" ->
          new Granted(
              now,
              slot(text(reply, 2)),
              number(reply, 3),
              number(reply, 4),
              text(reply, 5).equals("1"));
      case "SKEW" -> new Skewed(now);
      case "LAYOUT" -> new LayoutDiffers(now, text(reply, 2));
      case "QUARANTINE" -> new Quarantined(now, number(reply, 2), number(reply, 3));
      case "FULL" -> new Full(now, number(reply, 2), number(reply, 3), text(reply, 4));
      default -> throw new IllegalArgumentException("unknown reply to a claim: " + reply);
    };
  }

  /**
   * Reads the reply of renew.lua.
   *
   * @throws IllegalArgumentException if it is not one
   */
  static RenewReply renewal(List<?> reply) {
    long now = number(reply, 1);
    return switch (text(reply, 0)) {
      case "RENEWED" -> new Renewed(now, number(reply, 2), number(reply, 3));
      case "SKEW" -> new Skewed(now);
      case "LAYOUT" -> new LayoutDiffers(now, text(reply, 2));
      case "LOST" -> new Lost(now, LossReason.valueOf(text(reply, 2)), number(reply, 3));
      default -> throw new IllegalArgumentException("unknown reply to a renewal: " + reply);
    };
  }

  /** Picks the slots out of the ledger's fields. */
  static Map<Slot, LedgerEntry> ledger(Map<String, String> fields) {
    Map<Slot, LedgerEntry> entries = new HashMap<>();
    fields.forEach(
        (name, value) -> {
          if (SLOT.matcher(name).matches()) {
            entries.put(slot(name), entry(value));
          }
        });
    return entries;
  }

  private static LedgerEntry entry(String field) {
    Matcher fence = FENCE.matcher(field);
    return fence.matches()
        ? new LedgerEntry(Long.parseLong(fence.group(1)), !fence.group(2).isEmpty(), true)
        : new LedgerEntry(0, false, false);
  }

  private static Slot slot(String text) {
    Matcher parts = SLOT.matcher(text);
    if (!parts.matches()) {
      throw new IllegalArgumentException("not a slot: " + text);
    }
    return new Slot(Integer.parseInt(parts.group(1)), Integer.parseInt(parts.group(2)));
  }

  private static String text(List<?> reply, int index) {
    if (index >= reply.size() || !(reply.get(index) instanceof String text)) {
      throw new IllegalArgumentException("reply lacks part " + index + ": " + reply);
    }
    return text;
  }

  private static long number(List<?> reply, int index) {
    return Long.parseLong(text(reply, index));
  }
}
