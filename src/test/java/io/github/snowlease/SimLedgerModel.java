package io.github.snowlease;

import io.github.snowlease.LeaseStore.Claim;
import io.github.snowlease.LeaseStore.ClaimReply;
import io.github.snowlease.LeaseStore.Full;
import io.github.snowlease.LeaseStore.Granted;
import io.github.snowlease.LeaseStore.LayoutDiffers;
import io.github.snowlease.LeaseStore.LedgerEntry;
import io.github.snowlease.LeaseStore.LossReason;
import io.github.snowlease.LeaseStore.Lost;
import io.github.snowlease.LeaseStore.Quarantined;
import io.github.snowlease.LeaseStore.Release;
import io.github.snowlease.LeaseStore.RenewReply;
import io.github.snowlease.LeaseStore.Renewal;
import io.github.snowlease.LeaseStore.Renewed;
import io.github.snowlease.LeaseStore.Skewed;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The Lua scripts in Java, statement by statement: what one Redis server remembers of a namespace,
 * and how it answers. {@link SimLedgerModelTest} compares it with the scripts themselves.
 *
 * <p>Methods are open so that a mutant can break one rule.
 */
class SimLedgerModel {
  /** A Redis string or, if value is null, a key of another type. */
  record LeaseKey(@Nullable String value, long expiresAt) {
    static final long NEVER = -1;
  }

  /** The ledger key holds something that is no hash. */
  static final class WrongType extends RuntimeException {
    private static final long serialVersionUID = 1L;

    WrongType() {
      super("WRONGTYPE", null, false, false);
    }
  }

  /** A ledger field that could be read. */
  record Fence(long until, String token, String nonce) {}

  /** What {@code recall()} of memory.lua returns. */
  static final class Memory {
    final Map<String, String> changed = new LinkedHashMap<>();
    final Map<String, String> agreed = new LinkedHashMap<>();
    @Nullable Long birth;
    long rev;
    long quarantine;
    boolean trusted;
  }

  /** An answer, or the layout that stands in its way. */
  private record Recalled(@Nullable Memory memory, String otherLayout) {}

  private static final String UNREADABLE = "-";

  protected Map<String, String> ledger = new HashMap<>();
  protected Map<Slot, LeaseKey> leaseKeys = new HashMap<>();
  boolean ledgerIsForeign;

  /** The server's clock. */
  long now;

  /** How this server process calls itself. */
  String runId = "00";

  /** Whether the client that asks now may not see the run id. */
  boolean infoDenied;

  /** The same memory in another server process. */
  void copyMemoryFrom(SimLedgerModel other) {
    ledger = new HashMap<>(other.ledger);
    leaseKeys = new HashMap<>(other.leaseKeys);
  }

  void flush() {
    ledger.clear();
    leaseKeys.clear();
    ledgerIsForeign = false;
  }

  // ---- claim.lua

  ClaimReply claim(LeaseTerms terms, Claim claim) {
    expireKeys();
    if (Math.abs(now - claim.wallClock()) > terms.maxClockSkew()) {
      return new Skewed(now);
    }
    Recalled recalled = recall(terms, claim.seenRev(), claim.estimate(), terms.trustEmptyStore());
    Memory memory = recalled.memory;
    if (memory == null) {
      return new LayoutDiffers(now, recalled.otherLayout);
    }
    long openAt = openAt(memory);
    if (now < openAt) {
      return new Quarantined(now, openAt - now, refuse(memory));
    }
    long soonest = Long.MAX_VALUE;
    for (Slot slot : claim.candidates()) {
      long at = freeAt(slot);
      if (at <= now) {
        LeaseKey blocking = leaseKeys.get(slot);
        if (blocking == null) {
          return grant(terms, claim, memory, slot);
        }
        at = blocking.expiresAt == LeaseKey.NEVER ? Long.MAX_VALUE : blocking.expiresAt + 1;
      }
      soonest = Math.min(soonest, at);
    }
    long wait = soonest == Long.MAX_VALUE ? -1 : Math.max(1, soonest - now);
    long rev = refuse(memory);
    String holder = leaseText(claim.candidates().get(0));
    return new Full(now, wait, rev, holder == null ? "" : holder);
  }

  protected ClaimReply grant(LeaseTerms terms, Claim claim, Memory memory, Slot slot) {
    long until = now + terms.window();
    leaseKeys.put(
        slot, new LeaseKey(leaseValue(claim.token(), claim.holder()), until + LeaseTerms.GRACE));
    long rev = agree(memory, slot, field(until, claim.token(), claim.nonce()));
    return new Granted(now, slot, until, rev, memory.trusted);
  }

  /** The first moment at which the ledger lets the slot go; MAX_VALUE if it never does. */
  protected long freeAt(Slot slot) {
    String field = ledger.get(slot.toString());
    if (field == null) {
      return now;
    }
    Fence fence = fenceOf(field);
    if (fence == null) {
      return Long.MAX_VALUE;
    }
    return fence.until + 1 + (fence.token.isEmpty() ? 0 : LeaseTerms.GRACE);
  }

  /** The first moment at which new leases are granted. */
  protected long openAt(Memory memory) {
    return birthOf(memory) + memory.quarantine + 1;
  }

  // ---- renew.lua

  RenewReply renew(LeaseTerms terms, Renewal renewal) {
    expireKeys();
    if (Math.abs(now - renewal.estimate()) > terms.maxClockSkew()
        || renewal.until() > now + terms.window() + terms.maxClockSkew()) {
      return new Skewed(now);
    }
    Recalled recalled =
        recall(terms, renewal.seenRev(), renewal.estimate(), terms.trustEmptyStore());
    Memory memory = recalled.memory;
    if (memory == null) {
      return new LayoutDiffers(now, recalled.otherLayout);
    }
    long standing = renewal.until();
    LossReason why = null;
    String field = ledger.get(renewal.slot().toString());
    if (field != null) {
      Fence fence = fenceOf(field);
      if (fence == null) {
        why = LossReason.DAMAGED;
      } else if (!fence.token.equals(renewal.token())) {
        why = LossReason.OWNER;
      } else if (!isMine(fence.nonce, renewal)) {
        why = LossReason.NONCE;
      } else {
        standing = Math.max(fence.until, standing);
      }
    }
    if (why == null) {
      String lease = leaseText(renewal.slot());
      if (lease != null && !isLeaseOf(renewal.token(), lease)) {
        why = LossReason.KEY;
      } else if (hasExpired(standing)) {
        why = LossReason.EXPIRED;
      }
    }
    if (why != null) {
      return new Lost(now, why, refuse(memory));
    }
    long until = Math.max(standing, now + terms.window());
    long rev = agree(memory, renewal.slot(), field(until, renewal.token(), renewal.newNonce()));
    leaseKeys.put(
        renewal.slot(),
        new LeaseKey(leaseValue(renewal.token(), renewal.holder()), until + LeaseTerms.GRACE));
    return new Renewed(now, until, rev);
  }

  protected boolean isMine(String storedNonce, Renewal renewal) {
    return !storedNonce.isEmpty() && renewal.nonces().contains(storedNonce);
  }

  protected boolean hasExpired(long standingUntil) {
    return now > standingUntil;
  }

  // ---- release.lua

  boolean release(LeaseTerms terms, Release release) {
    expireKeys();
    requireHash();
    for (Slot slot : release.candidates()) {
      String field = ledger.get(slot.toString());
      Fence fence = field == null ? null : fenceOf(field);
      if (fence != null && mayRelease(fence, release)) {
        long last =
            release.lastIssued() == Release.UNKNOWN_GRANT
                ? fenceOfUnknownGrant(fence, terms)
                : release.lastIssued();
        if (last > fence.until) {
          return false;
        }
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put(slot.toString(), last + "||");
        write(fields, whole(ledger.get("rev"), 0) + 1);
        String lease = leaseText(slot);
        if (lease != null && isLeaseOf(fence.token, lease)) {
          leaseKeys.remove(slot);
        }
        return true;
      }
    }
    return false;
  }

  protected boolean mayRelease(Fence fence, Release release) {
    return fence.token.equals(release.token());
  }

  protected long fenceOfUnknownGrant(Fence fence, LeaseTerms terms) {
    return fence.until - terms.window();
  }

  // ---- create.lua, time.lua, and reading the ledger

  boolean createNamespace(LeaseTerms terms) {
    if (ledgerIsForeign || !ledger.isEmpty()) {
      return false;
    }
    Map<String, String> fields = new LinkedHashMap<>();
    fields.put("layout", terms.layout());
    fields.put("birth", Long.toString(now - terms.quarantine() - 1));
    fields.put("srv", infoDenied ? UNREADABLE : runId);
    fields.put("quarantine", Long.toString(terms.quarantine()));
    write(fields, 1);
    return true;
  }

  Map<Slot, LedgerEntry> readLedger() {
    requireHash();
    Map<Slot, LedgerEntry> entries = new HashMap<>();
    for (Map.Entry<String, String> entry : ledger.entrySet()) {
      Slot slot = slotOf(entry.getKey());
      if (slot != null) {
        Fence fence = fenceOf(entry.getValue());
        entries.put(
            slot,
            fence == null
                ? new LedgerEntry(0, true, false)
                : new LedgerEntry(fence.until, !fence.token.isEmpty(), true));
      }
    }
    return entries;
  }

  // ---- memory.lua

  /** What a claim does first, once its clock has been found right. */
  protected void recallAndRefuse(LeaseTerms terms, Claim claim) {
    Memory memory =
        recall(terms, claim.seenRev(), claim.estimate(), terms.trustEmptyStore()).memory;
    if (memory != null) {
      refuse(memory);
    }
  }

  private Recalled recall(LeaseTerms terms, long seenRev, long estimate, boolean trustEmpty) {
    requireHash();
    String layout = ledger.get("layout");
    if (layout != null && !layout.equals(terms.layout())) {
      return new Recalled(null, layout);
    }
    Memory memory = new Memory();
    long birth = whole(ledger.get("birth"), -1);
    String srv = ledger.get("srv");
    long rev = whole(ledger.get("rev"), 0);
    memory.birth = birth < 0 ? null : birth;
    memory.rev = Math.max(rev, seenRev);
    memory.quarantine = Math.max(whole(ledger.get("quarantine"), 0), terms.quarantine());
    memory.agreed.put("layout", terms.layout());
    memory.agreed.put("quarantine", Long.toString(memory.quarantine));
    String server = serverName(srv);
    if (birth < 0 && seenRev == 0 && trustEmpty) {
      memory.trusted = true;
      memory.birth = now - memory.quarantine - 1;
      memory.agreed.put("birth", Long.toString(memory.birth));
      memory.agreed.put("srv", server);
    } else if (birth < 0 || isAnotherServer(srv, server) || isOlderThan(rev, seenRev)) {
      memory.birth = Math.max(Math.max(now, estimate), Math.max(0, birth));
      memory.changed.put("birth", Long.toString(memory.birth));
      memory.changed.put("srv", server);
    } else if (!server.equals(srv)) {
      memory.changed.put("srv", server);
    }
    return new Recalled(memory, "");
  }

  protected String serverName(@Nullable String stored) {
    if (!infoDenied) {
      return runId;
    }
    return stored == null ? UNREADABLE : stored;
  }

  protected boolean isAnotherServer(@Nullable String stored, String server) {
    return !server.equals(stored) && !UNREADABLE.equals(stored);
  }

  protected boolean isOlderThan(long rev, long seenRev) {
    return seenRev > rev;
  }

  private static long birthOf(Memory memory) {
    Long birth = memory.birth;
    if (birth == null) {
      throw new IllegalStateException("recall() sets birth");
    }
    return birth;
  }

  protected long refuse(Memory memory) {
    if (!memory.changed.isEmpty()) {
      memory.rev++;
      write(memory.changed, memory.rev);
    }
    return memory.rev;
  }

  private long agree(Memory memory, Slot slot, String fence) {
    memory.rev++;
    memory.changed.putAll(memory.agreed);
    memory.changed.put(slot.toString(), fence);
    write(memory.changed, memory.rev);
    return memory.rev;
  }

  // ---- common.lua

  private void write(Map<String, String> fields, long rev) {
    ledger.putAll(fields);
    ledger.put("rev", Long.toString(rev));
  }

  private void requireHash() {
    if (ledgerIsForeign) {
      throw new WrongType();
    }
  }

  private void expireKeys() {
    leaseKeys.values().removeIf(key -> key.expiresAt != LeaseKey.NEVER && now > key.expiresAt);
  }

  /** The text of a lease key: null if there is none, empty if it is of a foreign type. */
  private @Nullable String leaseText(Slot slot) {
    LeaseKey key = leaseKeys.get(slot);
    return key == null ? null : key.value == null ? "" : key.value;
  }

  private static boolean isLeaseOf(String token, String value) {
    return value.startsWith("{\"token\":\"" + token + "\",");
  }

  /** Only the beginning of the value matters to the scripts. */
  static String leaseValue(String token, LeaseStore.Holder holder) {
    return "{\"token\":\"" + token + "\",\"pid\":" + holder.pid() + "}";
  }

  static String field(long until, String token, String nonce) {
    return until + "|" + token + "|" + nonce;
  }

  static @Nullable Fence fenceOf(String field) {
    int first = field.indexOf('|');
    int second = field.indexOf('|', first + 1);
    if (first < 0 || second < 0) {
      return null;
    }
    long until = whole(field.substring(0, first), -1);
    String token = field.substring(first + 1, second);
    String nonce = field.substring(second + 1);
    return until < 0 || !isHex(token) || !isHex(nonce) ? null : new Fence(until, token, nonce);
  }

  private static boolean isHex(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (Character.digit(text.charAt(i), 16) < 0) {
        return false;
      }
    }
    return true;
  }

  /** A whole number that a double holds exactly, or what to take instead. */
  private static long whole(@Nullable String digits, long otherwise) {
    if (digits == null || digits.isEmpty() || digits.length() > 15) {
      return otherwise;
    }
    long number = 0;
    for (int i = 0; i < digits.length(); i++) {
      int digit = digits.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return otherwise;
      }
      number = 10 * number + digit;
    }
    return number;
  }

  private static @Nullable Slot slotOf(String name) {
    int colon = name.indexOf(':');
    if (colon < 0) {
      return null;
    }
    return new Slot(
        Integer.parseInt(name.substring(0, colon)), Integer.parseInt(name.substring(colon + 1)));
  }
}
