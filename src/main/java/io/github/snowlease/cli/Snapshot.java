package io.github.snowlease.cli;

import io.github.snowlease.LeaseTerms;
import io.github.snowlease.Slot;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A namespace at one moment.
 *
 * @param now the store's clock
 * @param ledger the fields of the ledger
 * @param leases what lies where leases are kept
 * @param slots all slots of the layout
 */
record Snapshot(long now, Map<String, String> ledger, Map<Slot, Lease> leases, List<Slot> slots) {

  private static final Pattern WHOLE = Pattern.compile("\\d{1,15}");
  private static final Pattern FENCE =
      Pattern.compile("(\\d{1,15})\\|([0-9a-fA-F]*)\\|[0-9a-fA-F]*");

  /**
   * A lease.
   *
   * @param text what people may read
   * @param isBlock whether it never ends by itself
   * @param isAlive whether its process lives, or null where the store cannot tell
   */
  record Lease(String text, boolean isBlock, @Nullable Boolean isAlive) {
    /** The value of a name in the JSON, or a hyphen. */
    String value(String name) {
      Matcher matcher =
          Pattern.compile("\"" + name + "\":(?:\"((?:[^\"\\\\]|\\\\.)*)\"|(\\d+))").matcher(text);
      if (!matcher.find()) {
        return "-";
      }
      String found = matcher.group(1) == null ? matcher.group(2) : matcher.group(1);
      // Shown on terminals: what an escape stands for might be a command to one.
      return found == null || found.isEmpty() ? "-" : found.replaceAll("\\p{Cntrl}", "?");
    }
  }

  /**
   * A slot that is not simply free.
   *
   * @param slot the slot
   * @param state what it is
   * @param until the end of its last window, or -1 if nobody knows
   * @param lease its lease, or null if there is none
   */
  record Seat(Slot slot, SlotState state, long until, @Nullable Lease lease) {
    String value(String name) {
      return lease == null ? "-" : lease.value(name);
    }
  }

  boolean exists() {
    return !ledger.isEmpty();
  }

  /** The layout that the namespace has agreed on, or null if there is none yet. */
  @Nullable String layout() {
    return ledger.get("layout");
  }

  /** How long the quarantine lasts, in milliseconds; 0 if it is over, or there is no namespace. */
  long quarantineLeft() {
    long birth = number("birth");
    return birth < 0 ? 0 : Math.max(0, birth + Math.max(0, number("quarantine")) + 1 - now);
  }

  private long number(String field) {
    String text = ledger.get(field);
    return text != null && WHOLE.matcher(text).matches() ? Long.parseLong(text) : -1;
  }

  /** What can be told of every slot, in order. */
  List<Seat> seats(String thisHost) {
    List<Seat> seats = new ArrayList<>();
    for (Slot slot : slots) {
      seats.add(seat(slot, thisHost));
    }
    return seats;
  }

  private Seat seat(Slot slot, String thisHost) {
    Lease lease = leases.get(slot);
    String field = ledger.get(slot.toString());
    Matcher fence = FENCE.matcher(field == null ? "" : field);
    boolean readable = fence.matches();
    if ((field != null && !readable) || (lease != null && lease.isBlock)) {
      return new Seat(slot, SlotState.BLOCKED, -1, lease);
    }
    if (field == null) {
      boolean waits = quarantineLeft() > 0;
      return new Seat(slot, waits ? SlotState.QUARANTINED : SlotState.FREE, -1, lease);
    }
    long until = Long.parseLong(fence.group(1));
    boolean held = !fence.group(2).isEmpty();
    if (!held) {
      boolean waits = now <= until || quarantineLeft() > 0;
      return new Seat(slot, waits ? SlotState.QUARANTINED : SlotState.FREE, until, null);
    }
    boolean dead = lease != null && Boolean.FALSE.equals(lease.isAlive);
    if (now >= freeAt(until) && (lease == null || dead)) {
      // Never handed back, and free again all the same.
      return new Seat(
          slot, quarantineLeft() > 0 ? SlotState.QUARANTINED : SlotState.FREE, until, null);
    }
    if (now > until || dead) {
      return new Seat(slot, SlotState.STALE, until, lease);
    }
    boolean mine = lease != null && lease.value("host").equals(thisHost);
    return new Seat(slot, mine ? SlotState.MINE : SlotState.OTHER, until, lease);
  }

  /** The token and end of a held slot's field, or null if nobody holds it. */
  @Nullable Long heldUntil(Slot slot) {
    String field = ledger.get(slot.toString());
    Matcher fence = FENCE.matcher(field == null ? "" : field);
    return fence.matches() && !fence.group(2).isEmpty() ? Long.valueOf(fence.group(1)) : null;
  }

  /** When a stale slot may be granted anew, as the store's time. */
  static long freeAt(long until) {
    return until + LeaseTerms.GRACE + 1;
  }
}
