package io.github.snowlease.file;

import static io.github.snowlease.file.FolderHammer.TERMS;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseStore.LedgerEntry;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.Slot;
import io.github.snowlease.testing.JavaProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.DisplayNameGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Processes that share a folder, and die in the middle of what they do. */
@DisplayNameGeneration(DisplayNameGenerator.ReplaceUnderscores.class)
class FolderOfManyProcessesTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int KILLS = Integer.getInteger("snowlease.test.kills", 6);

  @TempDir private Path root;
  private final Random random = new Random();

  /** The end of the last window of each slot that anybody was told of. */
  private final Map<Slot, Long> fences = new HashMap<>();

  /** Where a release was under way when the process died, either end may stand. */
  private final Map<Slot, Long> handingBack = new HashMap<>();

  private long highestRev;

  @Test
  void forgets_nothing_it_has_acknowledged_wherever_a_SIGKILL_falls() throws Exception {
    try (LeaseStore store = FileLeaseStore.in(root)) {
      for (int i = 0; i < KILLS; i++) {
        try (JavaProcess hammer =
            JavaProcess.of(FolderHammer.class).arguments(root.toString()).start()) {
          hammer.awaitLine("begin", PATIENCE);
          hammer.awaitLine("granted", PATIENCE).lines().forEach(this::note);
          LockSupport.parkNanos(random.nextLong(60_000_000));
          hammer.kill();
          hammer.takeLines().forEach(this::note);
        }
        assertThat(ledger(store)).isNotEmpty();
        assertFencesStand(ledger(store));
      }
    }
    assertThat(highestRev).isGreaterThan(KILLS);
    assertThat(Long.parseLong(door().ledger().get("rev"))).isGreaterThanOrEqualTo(highestRev);
  }

  @Test
  void grants_each_window_once_however_many_ask() throws Exception {
    try (JavaProcess a = JavaProcess.of(FolderHammer.class).arguments(root.toString()).start();
        JavaProcess b = JavaProcess.of(FolderHammer.class).arguments(root.toString()).start();
        JavaProcess c = JavaProcess.of(FolderHammer.class).arguments(root.toString()).start()) {
      Map<Long, String> granted = new HashMap<>();
      for (JavaProcess process : new JavaProcess[] {a, b, c}) {
        for (int i = 0; i < 30; i++) {
          String line = process.awaitLine("granted", PATIENCE);
          // Each change has a revision of its own: two of one number are a lost update.
          assertThat(granted.put(Long.parseLong(line.split(" ", -1)[4]), line)).isNull();
        }
      }
      a.kill();
      b.kill();
      c.kill();
      assertThat(granted).hasSize(90);
    }
  }

  @Test
  void unlocks_the_slot_of_a_process_that_was_killed() throws Exception {
    NamespaceFolder folder = new NamespaceFolder(root, TERMS);
    try (JavaProcess holder =
        JavaProcess.of(FolderHammer.class).arguments(root.toString(), "1").start()) {
      Slot held = slotOf(holder.awaitLine("granted", PATIENCE));
      holder.awaitLine("done", PATIENCE);
      assertThat(folder.<Boolean>alone(2_000, files -> files.isLocked(held))).isTrue();

      holder.kill();

      assertThat(folder.<Boolean>alone(2_000, files -> files.isLocked(held))).isFalse();
      LedgerEntry fence = folder.alone(2_000, files -> files.read().entries()).get(held);
      assertThat(fence.isFreeAt(fence.until() + LeaseTerms.GRACE)).isFalse();
    }
  }

  private void note(String line) {
    String[] words = line.split(" ", -1);
    if (words.length < 5) {
      return; // the kill fell into the middle of a line
    }
    Slot slot = slotOf(line);
    long until = Long.parseLong(words[3]);
    switch (words[0]) {
      case "granted" -> {
        // A window begins above all that were acknowledged before.
        assertThat(Long.parseLong(words[2]))
            .isGreaterThan(handingBack.getOrDefault(slot, fences.getOrDefault(slot, 0L)));
        handingBack.remove(slot);
        fences.put(slot, until);
      }
      case "renewed" -> fences.put(slot, until);
      case "releasing" -> handingBack.put(slot, until);
      default -> throw new IllegalArgumentException(line);
    }
    highestRev = Math.max(highestRev, Long.parseLong(words[4]));
  }

  private void assertFencesStand(Map<Slot, LedgerEntry> ledger) {
    fences.forEach(
        (slot, until) -> {
          long least = handingBack.getOrDefault(slot, until);
          assertThat(ledger.get(slot)).as("slot " + slot).isNotNull();
          assertThat(ledger.get(slot).readable()).isTrue();
          assertThat(ledger.get(slot).until()).as("slot " + slot).isGreaterThanOrEqualTo(least);
        });
  }

  private static Map<Slot, LedgerEntry> ledger(LeaseStore store) throws Exception {
    return store.readLedger(TERMS).toCompletableFuture().get(10, TimeUnit.SECONDS);
  }

  private FolderBackDoor door() {
    return new FolderBackDoor(root.resolve(TERMS.namespace()));
  }

  private static Slot slotOf(String line) {
    String[] parts = line.split(" ", -1)[1].split(":", -1);
    return new Slot(Integer.parseInt(parts[0]), Integer.parseInt(parts[1]));
  }
}
