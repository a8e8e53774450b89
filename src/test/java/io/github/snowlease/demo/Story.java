package io.github.snowlease.demo;

import static java.util.Comparator.comparing;

import io.github.snowlease.BitLayout;
import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseStore.LedgerEntry;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.Slot;
import io.github.snowlease.SnowflakeId;
import io.github.snowlease.demo.IdFile.Run;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

/**
 * What happens, in its order: three processes mint; one is killed, one frozen; a fourth takes the
 * frozen one's slot; that one wakes; all ids are compared.
 */
final class Story implements AutoCloseable {
  private static final int MILLION = 1_000_000;

  /** How many ids each of two processes mints at the same time in the last part, at least. */
  private static final int TOGETHER = MILLION;

  private static final long NOTE_NANOS = 3_000_000_000L;
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("HH:mm:ss.SSS").withZone(ZoneOffset.UTC);

  private final Terminal terminal;
  private final String uri;
  private final LeaseStore store;
  private final LeaseTerms terms;
  private final BitLayout layout;
  private final Path directory;
  private final List<Member> members = new ArrayList<>();
  private final Map<Slot, String> holders = new HashMap<>();

  Story(
      Terminal terminal,
      String uri,
      LeaseStore store,
      LeaseTerms terms,
      BitLayout layout,
      Path directory) {
    this.terminal = terminal;
    this.uri = uri;
    this.store = store;
    this.terms = terms;
    this.layout = layout;
    this.directory = directory;
  }

  /** A promise was broken. */
  static final class BrokenPromiseException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    BrokenPromiseException(String message) {
      super(message);
    }
  }

  /** Returns the last line. */
  String tell() {
    startThree();
    mintAMillionEach();
    takeIdsApart();
    Member killed = members.get(2);
    Member frozen = members.get(1);
    long frozenAt = freezeAndKill(frozen, killed);
    Member newcomer = takeTheSlotOf(frozen, killed, frozenAt);
    wake(frozen, newcomer, frozenAt);
    return compareAll(frozen, newcomer);
  }

  // ---- 1

  private void startThree() {
    terminal.heading("1  Three processes start, and each calls Snowflake.start()");
    long begin = System.nanoTime();
    for (String name : List.of("A", "B", "C")) {
      launch(name, Map.of());
    }
    terminal.live("starting three JVMs");
    members.forEach(Member::awaitStarted);
    long took = System.nanoTime() - begin;
    terminal.line(terminal.dim("   process      pid     slot    start() took"));
    for (Member member : members) {
      holders.put(member.firstSlot(), member.name);
      terminal.line(
          String.format(
              "   %-7s %8d %8s %12d ms",
              member.name, member.pid(), member.firstSlot(), member.startNanos() / 1_000_000));
    }
    terminal.blank();
    drawMap();
    terminal.blank();
    promise(holders.size() == 3, "three processes must hold three slots: " + holders);
    terminal.done("three different slots, leased without any of them being configured", took);
  }

  private Member launch(String name, Map<String, String> more) {
    Map<String, String> settings = new HashMap<>(more);
    settings.put("SNOWFLAKE_STORE", uri);
    settings.put("SNOWFLAKE_NAMESPACE", terms.namespace());
    settings.put("SNOWFLAKE_LEASE_TTL", terms.leaseTtl() / 1_000 + "s");
    Member member = Member.launch(name, directory, settings);
    members.add(member);
    return member;
  }

  // ---- 2

  private void mintAMillionEach() {
    terminal.heading("2  Each mints a million ids, all at the same time");
    long begin = System.nanoTime();
    members.forEach(member -> member.mint(MILLION));
    terminal.live("minting");
    Map<Member, Long> nanos = new LinkedHashMap<>();
    members.forEach(member -> nanos.put(member, member.awaitMinted()));
    terminal.line(terminal.dim("   process        ids      time    ids a second"));
    nanos.forEach(
        (member, took) ->
            terminal.line(
                String.format(
                    Locale.ROOT,
                    "   %-7s %,10d %6d ms %,15.0f",
                    member.name,
                    MILLION,
                    took / 1_000_000,
                    MILLION * 1e9 / took)));
    long longest = nanos.values().stream().mapToLong(took -> took).max().orElseThrow();
    terminal.line(
        String.format(
            Locale.ROOT,
            "   %-7s %,10d %6d ms %,15.0f",
            "all",
            3 * MILLION,
            longest / 1_000_000,
            3 * MILLION * 1e9 / longest));
    terminal.line(
        terminal.dim(
            String.format(
                Locale.ROOT,
                "   one slot of this layout can mint %,d ids a second, and no more",
                layout.idsPerSecond())));
    terminal.blank();
    long count = 3L * MILLION;
    requireNoDuplicates(count);
    terminal.done(
        String.format(Locale.ROOT, "%,d ids compared with each other: 0 duplicates", count),
        System.nanoTime() - begin);
  }

  // ---- 3

  private void takeIdsApart() {
    terminal.heading("3  What an id says");
    terminal.line(
        terminal.dim(
            "                    id   minted at (UTC)            cluster  node  sequence"));
    long shown = 0;
    for (Member member : members) {
      long[] ids = member.ids();
      shown = ids[ids.length / 2];
      SnowflakeId parts = layout.parse(shown);
      terminal.line(
          String.format(
              "   %19d   %-26s %7d %5d %9d",
              parts.value(), parts.timestamp(), parts.cluster(), parts.node(), parts.sequence()));
    }
    terminal.blank();
    terminal.line("   the last one in bits");
    drawBits(shown);
  }

  private void drawBits(long id) {
    String bits =
        String.format("%" + layout.totalBits() + "s", Long.toBinaryString(id)).replace(' ', '0');
    int[] widths = {
      layout.timestampBits(), layout.clusterBits(), layout.nodeBits(), layout.sequenceBits()
    };
    String[] names = {"timestamp, in ms since 2024", "cluster", "node", "sequence"};
    StringBuilder first = new StringBuilder("   ");
    StringBuilder second = new StringBuilder("   ");
    int at = 0;
    for (int i = 0; i < widths.length; i++) {
      int width = Math.max(widths[i], names[i].length()) + 2;
      String part = bits.substring(at, at + widths[i]);
      first.append(String.format("%-" + width + "s", part));
      second.append(String.format("%-" + width + "s", names[i]));
      at += widths[i];
    }
    terminal.line(first.toString().stripTrailing());
    terminal.line(terminal.dim(second.toString().stripTrailing()));
  }

  // ---- 4

  private long freezeAndKill(Member frozen, Member killed) {
    terminal.heading("4  One is frozen, one is killed, and a newcomer wants the frozen one's slot");
    frozen.go();
    awaitTrue(() -> frozen.where().minted() > 0, frozen.name + " must mint before it is frozen");
    frozen.freeze();
    long frozenAt = System.nanoTime();
    terminal.done(frozen.name + " is frozen by SIGSTOP while a thread of it is minting");
    killed.kill();
    terminal.done(killed.name + " is killed by SIGKILL, and cannot hand its slot back");
    return frozenAt;
  }

  private Member takeTheSlotOf(Member frozen, Member killed, long frozenAt) {
    Slot slot = frozen.firstSlot();
    long begin = System.nanoTime();
    LedgerEntry lease = entry(slot);
    long leftMillis = lease.until() + LeaseTerms.GRACE - storeTime();
    long freeAt = begin + TimeUnit.MILLISECONDS.toNanos(leftMillis);
    Member newcomer =
        launch(
            "D",
            Map.of(
                "SNOWFLAKE_CLUSTER_ID", Integer.toString(slot.cluster()),
                "SNOWFLAKE_NODE_ID", Integer.toString(slot.node())));
    terminal.done(
        "D starts, pinned to slot " + slot + " by SNOWFLAKE_CLUSTER_ID and SNOWFLAKE_NODE_ID");
    Progress progress = new Progress();
    awaitTrue(
        () -> {
          long left = Math.max(0, (freeAt - System.nanoTime() + 999_999_999) / 1_000_000_000);
          progress.show(
              left > 0
                  ? frozen.name + "'s lease of slot " + slot + " ends in " + left + " s; D waits"
                  : "D leases slot " + slot);
          return newcomer.hasStarted();
        },
        "D must get slot " + slot + " when the lease of " + frozen.name + " has run out");
    promise(
        newcomer.firstSlot().equals(slot), "D is pinned to " + slot + ": " + newcomer.firstSlot());
    holders.put(slot, newcomer.name);
    terminal.done("D holds slot " + slot + " now", System.nanoTime() - begin);
    newcomer.mint(MILLION);
    newcomer.awaitMinted();
    terminal.done("D has minted a million ids in it");
    awaitTrue(
        () -> {
          progress.show("the lease of the killed " + killed.name + " runs out");
          return entry(killed.firstSlot()).isFreeAt(storeTime())
              && System.nanoTime() - frozenAt > (terms.leaseTtl() + 500) * 1_000_000;
        },
        "the slot of the killed " + killed.name + " must come free");
    terminal.done(
        "slot " + killed.firstSlot() + " of the killed " + killed.name + " is free again");
    terminal.blank();
    drawMap();
    return newcomer;
  }

  // ---- 5

  private void wake(Member frozen, Member newcomer, long frozenAt) {
    Slot old = frozen.firstSlot();
    terminal.heading(
        "5  " + frozen.name + " wakes in the middle of its minting, and knows of nothing");
    newcomer.go();
    frozen.wake();
    long wokenAt = System.nanoTime();
    terminal.done(
        String.format(
            Locale.ROOT,
            "%s is woken by SIGCONT after %.1f s, more than its lease of %d s",
            frozen.name,
            (wokenAt - frozenAt) / 1e9,
            terms.leaseTtl() / 1_000));
    terminal.live(frozen.name + " looks for a slot");
    awaitTrue(
        () -> frozen.where().slot().filter(slot -> !slot.equals(old)).isPresent(),
        frozen.name + " must lease another slot than " + old + " by itself");
    long tookNanos = System.nanoTime() - wokenAt;
    Member.Position position = frozen.where();
    Slot now = position.slot().orElseThrow();
    holders.put(now, frozen.name);
    terminal.done(frozen.name + " has noticed, and leased slot " + now + " by itself", tookNanos);
    long mintedThen = position.minted();
    terminal.live("both mint");
    awaitTrue(
        () ->
            frozen.where().minted() - mintedThen >= TOGETHER
                && newcomer.where().minted() >= TOGETHER,
        frozen.name + " and D must both mint again");
    frozen.halt();
    newcomer.halt();
    terminal.done(
        frozen.name
            + " and D have minted side by side, at full speed, since "
            + frozen.name
            + " woke");
    terminal.blank();
    drawMap();
  }

  // ---- 6

  private String compareAll(Member frozen, Member newcomer) {
    terminal.heading("6  All ids of all four are compared");
    long begin = System.nanoTime();
    for (Member member : members) {
      if (!member.name.equals("C")) {
        member.end();
      }
    }
    terminal.line(
        terminal.dim("   slot     process          ids   first minted   last minted (UTC)"));
    Map<String, List<Run>> runs = new LinkedHashMap<>();
    long count = 0;
    for (Member member : members) {
      long[] ids = member.ids();
      count += ids.length;
      promise(IdFile.isIncreasing(ids), "ids of " + member.name + " must increase");
      runs.put(member.name, IdFile.runs(layout, ids));
    }
    Slot shared = frozen.firstSlot();
    runs.entrySet().stream()
        .flatMap(entry -> entry.getValue().stream().map(run -> Map.entry(entry.getKey(), run)))
        .sorted(
            comparing((Map.Entry<String, Run> entry) -> entry.getValue().slot().cluster())
                .thenComparing(entry -> entry.getValue().slot().node())
                .thenComparing(entry -> entry.getValue().first()))
        .forEach(entry -> terminal.line(row(entry.getKey(), entry.getValue(), shared)));
    terminal.blank();
    requireOneAfterTheOther(
        shared, frozen.name, runs.get(frozen.name), newcomer.name, runs.get(newcomer.name));
    requireNoDuplicates(count);
    terminal.done(
        String.format(Locale.ROOT, "%,d ids compared with each other: 0 duplicates", count),
        System.nanoTime() - begin);
    return String.format(Locale.ROOT, "0 duplicates among %,d ids of 4 processes", count);
  }

  private String row(String name, Run run, Slot shared) {
    String text =
        String.format(
            Locale.ROOT,
            "   %-8s %-7s %,12d   %-12s   %-12s",
            run.slot(),
            name,
            run.count(),
            time(run.first()),
            time(run.last()));
    return run.slot().equals(shared) ? terminal.bold(text) : text;
  }

  /** Fails unless both really minted in the slot, the second one later than the first. */
  private void requireOneAfterTheOther(
      Slot shared, String first, List<Run> ofFirst, String second, List<Run> ofSecond) {
    promise(
        ofFirst.size() > 1 && ofFirst.get(0).slot().equals(shared),
        first + " must have minted in slot " + shared + " and then in another: " + ofFirst);
    promise(
        ofFirst.stream().skip(1).noneMatch(run -> run.slot().equals(shared)),
        first + " must not have minted in slot " + shared + " after it lost it: " + ofFirst);
    promise(
        ofSecond.size() == 1 && ofSecond.get(0).slot().equals(shared),
        second + " must have minted in slot " + shared + " only: " + ofSecond);
    Instant end = layout.parse(ofFirst.get(0).last()).timestamp();
    Instant start = layout.parse(ofSecond.get(0).first()).timestamp();
    promise(
        start.isAfter(end),
        second + "'s first id in slot " + shared + " must be later than " + first + "'s last");
    terminal.done(
        String.format(
            Locale.ROOT,
            "%s and %s both minted in slot %s: %s's first id is %.1f s later than %s's last",
            first,
            second,
            shared,
            second,
            (start.toEpochMilli() - end.toEpochMilli()) / 1e3,
            first));
  }

  private void requireNoDuplicates(long count) {
    terminal.live("comparing");
    List<long[]> sets = members.stream().map(Member::ids).toList();
    long found = sets.stream().mapToLong(ids -> ids.length).sum();
    promise(found == count, "every id must have been written down: " + found + " of " + count);
    long duplicates = IdFile.duplicates(sets);
    promise(
        duplicates == 0,
        String.format(Locale.ROOT, "%,d duplicates among %,d ids", duplicates, count));
  }

  private String time(long id) {
    return TIME.format(layout.parse(id).timestamp());
  }

  // ---- Helpers

  private void drawMap() {
    SlotMap.draw(layout, ledger(), storeTime(), holders, terminal::highlight)
        .forEach(terminal::line);
  }

  private Map<Slot, LedgerEntry> ledger() {
    return answer(store.readLedger(terms));
  }

  private LedgerEntry entry(Slot slot) {
    return Optional.ofNullable(ledger().get(slot)).orElseThrow();
  }

  private long storeTime() {
    return answer(store.time(terms));
  }

  private static <T> T answer(CompletionStage<T> question) {
    try {
      return question.toCompletableFuture().get(10, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    } catch (ExecutionException | TimeoutException e) {
      throw new IllegalStateException("the store does not answer", e);
    }
  }

  private static void promise(boolean kept, String words) {
    if (!kept) {
      throw new BrokenPromiseException(words);
    }
  }

  private static void awaitTrue(BooleanSupplier condition, String words) {
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
    while (!condition.getAsBoolean()) {
      promise(System.nanoTime() - deadline < 0, words);
      try {
        TimeUnit.MILLISECONDS.sleep(20);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted", e);
      }
    }
  }

  /** Tells what is waited for: all the time on a terminal, now and then elsewhere. */
  private final class Progress {
    private long next = System.nanoTime();

    void show(String text) {
      if (terminal.isLive()) {
        terminal.live(text);
      } else if (System.nanoTime() - next >= 0) {
        next = System.nanoTime() + NOTE_NANOS;
        terminal.line("     " + text);
      }
    }
  }

  @Override
  public void close() {
    members.forEach(Member::close);
  }
}
