package io.github.snowlease.file;

import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.Slot;
import io.github.snowlease.file.Ledger.Fence;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/**
 * Looks at what a {@link FileLeaseStore} keeps, for the command line of this library, which is the
 * only caller meant: it may change with any version.
 */
public final class FolderInspector {
  private final Path root;

  /**
   * What lies where the lease of a slot is kept.
   *
   * @param text its text, empty if it is no text
   * @param isBlock whether an operator put it there, rather than a holder
   * @param isAlive whether the process that holds it lives
   */
  public record Lease(String text, boolean isBlock, boolean isAlive) {}

  /**
   * Looks into a folder.
   *
   * @param root the folder of the store
   */
  public FolderInspector(Path root) {
    this.root = root.toAbsolutePath().normalize();
  }

  /**
   * Says whether the namespace has a folder.
   *
   * @param terms names the namespace
   * @return whether it exists
   */
  public boolean exists(LeaseTerms terms) {
    return Files.exists(new NamespaceFolder(root, terms).path());
  }

  /**
   * Finds the folder in which the first start would make what is missing.
   *
   * @return the nearest folder above that exists
   */
  public Path nearest() {
    Path found = root;
    while (!Files.exists(found) && found.getParent() != null) {
      found = found.getParent();
    }
    return found;
  }

  /**
   * Reads all fields of the ledger.
   *
   * @param terms names the namespace
   * @return the fields; none if there is no ledger
   * @throws LeaseStoreException if the folder does not answer, or the ledger is damaged
   */
  public Map<String, String> ledger(LeaseTerms terms) {
    return look(terms, Map.of(), files -> files.read().fields());
  }

  /**
   * Reads leases.
   *
   * @param terms names the namespace
   * @param slots of which slots
   * @return those that exist
   * @throws LeaseStoreException if the folder does not answer
   */
  public Map<Slot, Lease> leases(LeaseTerms terms, Collection<Slot> slots) {
    return look(
        terms,
        Map.of(),
        files -> {
          Map<Slot, Lease> leases = new HashMap<>();
          for (Slot slot : slots) {
            LeaseFile file = files.lease(slot);
            if (file.exists()) {
              leases.put(slot, new Lease(file.text(), file.isObstacle(), files.isLocked(slot)));
            }
          }
          return leases;
        });
  }

  /**
   * Takes back a slot whose holder is dead: its fence stays.
   *
   * @param terms names the namespace
   * @param slot the slot
   * @param seen its field in the ledger, as it was read; if it has changed, nothing is done
   * @return whether the slot was taken back
   * @throws LeaseStoreException if the folder does not answer
   */
  public boolean evict(LeaseTerms terms, Slot slot, String seen) {
    return look(
        terms,
        false,
        files -> {
          Ledger ledger = files.read();
          Fence fence = ledger.fence(slot);
          if (!seen.equals(ledger.get(slot.toString())) || fence == null || !fence.isHeld()) {
            return false;
          }
          ledger.put(slot, Fence.released(fence.until()));
          ledger.put(Ledger.REVISION, Math.max(0, ledger.number(Ledger.REVISION)) + 1);
          files.write(ledger);
          files.tidy(slot, fence.token());
          return true;
        });
  }

  /** Does not make a folder only to look into it. */
  private <T> T look(LeaseTerms terms, T ifMissing, NamespaceFolder.Step<T> step) {
    NamespaceFolder folder = new NamespaceFolder(root, terms);
    try {
      return Files.exists(folder.path()) ? folder.alone(terms.commandTimeout(), step) : ifMissing;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
