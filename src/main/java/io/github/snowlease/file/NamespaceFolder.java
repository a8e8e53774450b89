package io.github.snowlease.file;

import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.LeaseStoreException.Reason;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.Slot;
import io.github.snowlease.file.Ledger.Fence;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The files of one namespace, and the lock without which nobody reads or changes them. Thread-safe.
 */
final class NamespaceFolder {
  private static final long RETRY_NANOS = 1_000_000;
  private static final String UNKNOWN_IDENTITY = "-";

  private final Path folder;
  private final Path slots;
  private final Path ledgerFile;
  private final Path ledgerDraft;
  private final Path ledgerLock;

  /**
   * The same object for the same folder in the whole JVM, whatever class loader asks: strings are
   * interned once for all. File locks exclude processes; this excludes threads, and it keeps one
   * class loader from closing the file that another has locked.
   */
  private final String threadLock;

  NamespaceFolder(Path root, LeaseTerms terms) {
    this.folder = root.resolve(fileName(terms));
    this.slots = folder.resolve("slots");
    this.ledgerFile = folder.resolve("ledger.txt");
    this.ledgerDraft = folder.resolve("ledger.txt.new");
    this.ledgerLock = folder.resolve("ledger.lock");
    this.threadLock = ("io.github.snowlease.file " + folder).intern();
  }

  /** What is done while the ledger is locked. */
  @FunctionalInterface
  interface Step<T> {
    T run(Session session) throws IOException;
  }

  /**
   * A name that every file system takes, and that no other namespace has: letters, digits, dot,
   * hyphen and underscore stand for themselves, but for a dot at the beginning.
   */
  private static String fileName(LeaseTerms terms) {
    String key = terms.keyPrefix();
    // {x} and x are one namespace; braces that a user wrote around a part are its own.
    boolean wholeInBraces = key.startsWith("{") && key.endsWith("}");
    String name = wholeInBraces ? key.substring(1, key.length() - 1) : key;
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      boolean plain =
          (c >= 'a' && c <= 'z')
              || (c >= 'A' && c <= 'Z')
              || (c >= '0' && c <= '9')
              || c == '-'
              || c == '_'
              || (c == '.' && i > 0);
      text.append(plain ? String.valueOf(c) : "%" + HexFormat.of().toHexDigits((byte) c));
    }
    return text.toString();
  }

  /** Where the files are. */
  Path path() {
    return folder;
  }

  /** Runs a step alone, unless that cannot begin in time: then nothing has happened. */
  <T> T alone(long timeoutMillis, Step<T> step) throws IOException {
    long deadline = System.nanoTime() + timeoutMillis * 1_000_000;
    synchronized (threadLock) {
      Files.createDirectories(slots);
      try (FileChannel channel =
          FileChannel.open(ledgerLock, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
        lock(channel, deadline, timeoutMillis);
        return step.run(new Session());
      }
    }
  }

  private void lock(FileChannel channel, long deadline, long timeoutMillis) throws IOException {
    while (tryLock(channel) == null) {
      if (System.nanoTime() - deadline >= 0 || Thread.currentThread().isInterrupted()) {
        throw new LeaseStoreException(
            Reason.UNREACHABLE,
            "another process has kept "
                + ledgerLock
                + " locked for "
                + timeoutMillis
                + "ms: see whether one of this namespace is frozen, and end it or let it go on",
            null);
      }
      LockSupport.parkNanos(RETRY_NANOS);
    }
  }

  private @Nullable FileLock tryLock(FileChannel channel) throws IOException {
    try {
      return channel.tryLock();
    } catch (OverlappingFileLockException e) {
      return null;
    } catch (IOException e) {
      throw new LeaseStoreException(
          Reason.UNSUPPORTED,
          "the file system of "
              + folder
              + " must lock files: it refuses ("
              + e.getMessage()
              + "); choose a folder on a local disk",
          e);
    }
  }

  /** The files of the namespace, for whoever has the ledger locked. */
  final class Session implements LedgerRules.Slots {
    private @Nullable Object readFrom;

    private Session() {}

    /** Reads the ledger; an empty one if there is none. */
    Ledger read() throws IOException {
      readFrom = identity(ledgerFile);
      try {
        return Ledger.decode(Files.readAllBytes(ledgerFile));
      } catch (NoSuchFileException e) {
        return new Ledger();
      } catch (Ledger.DamagedException e) {
        throw new LeaseStoreException(
            Reason.WRONG_TYPE,
            "the ledger "
                + ledgerFile
                + " must be whole: "
                + e.getMessage()
                + "; once nobody mints in this namespace, move its folder away and start anew",
            e);
      }
    }

    /**
     * Replaces the ledger: the new one is on the disk before it takes the old one's place, and its
     * place is on the disk before this returns.
     */
    void write(Ledger ledger) throws IOException {
      try (FileChannel channel =
          FileChannel.open(
              ledgerDraft,
              StandardOpenOption.CREATE,
              StandardOpenOption.TRUNCATE_EXISTING,
              StandardOpenOption.WRITE)) {
        ByteBuffer bytes = ByteBuffer.wrap(ledger.encode());
        while (bytes.hasRemaining()) {
          channel.write(bytes);
        }
        channel.force(true);
      }
      requireStillAlone();
      Files.move(ledgerDraft, ledgerFile, StandardCopyOption.ATOMIC_MOVE);
      forceFolder();
    }

    /** A ledger that changed under the lock proves that the lock excludes nobody. */
    private void requireStillAlone() throws IOException {
      Object present = identity(ledgerFile);
      if (readFrom == null ? present != null : !readFrom.equals(present)) {
        throw new LeaseStoreException(
            Reason.UNSUPPORTED,
            "the file system of "
                + folder
                + " must lock files: another process changed the ledger while it was locked; choose a"
                + " folder on a local disk, and leave the files in it alone",
            null);
      }
    }

    private void forceFolder() {
      try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
        channel.force(true);
      } catch (IOException e) {
        // Windows opens no folders; there the rename is in the journal of the file system.
        return;
      }
    }

    /** What tells this folder from a copy of it: the file that everybody locks. */
    String folderIdentity() throws IOException {
      try {
        return Long.toHexString((Long) Files.getAttribute(ledgerLock, "unix:ino"));
      } catch (UnsupportedOperationException | IllegalArgumentException e) {
        return UNKNOWN_IDENTITY;
      }
    }

    @Override
    public boolean hasTraces() throws IOException {
      try (DirectoryStream<Path> files = Files.newDirectoryStream(slots)) {
        return files.iterator().hasNext();
      }
    }

    @Override
    public LeaseFile lease(Slot slot) throws IOException {
      return LeaseFile.read(leasePath(slot));
    }

    void writeLease(Slot slot, String json, long ends) throws IOException {
      LeaseFile.write(leasePath(slot), json, ends);
    }

    @Override
    public boolean lock(Slot slot, String token) throws IOException {
      return SlotLocks.lock(lockPath(slot), token);
    }

    /** Whether a living process holds a slot. */
    boolean isLocked(Slot slot) throws IOException {
      return SlotLocks.isHeld(lockPath(slot));
    }

    /** Removes what a token has left at a slot. */
    void tidy(Slot slot, String token) throws IOException {
      if (lease(slot).isOf(token)) {
        Files.deleteIfExists(leasePath(slot));
      }
      SlotLocks.unlock(lockPath(slot), token);
    }

    /**
     * Gives back this process's locks on slots that the ledger has let go, or given to another. A
     * slot of which it knows nothing stays locked: its holder may be about to tell a ledger that
     * was lost.
     */
    void unlockLost(Ledger ledger, long now) throws IOException {
      Map<Path, String> holders = new HashMap<>();
      ledger
          .entries()
          .forEach(
              (slot, entry) -> {
                Fence fence = ledger.fence(slot);
                holders.put(
                    lockPath(slot), fence == null || entry.isFreeAt(now) ? "" : fence.token());
              });
      SlotLocks.unlockIf(
          slots, (file, token) -> holders.containsKey(file) && !token.equals(holders.get(file)));
    }

    /** Gives back this process's locks for some tokens. */
    void unlock(List<String> tokens) throws IOException {
      SlotLocks.unlockIf(slots, (file, token) -> tokens.contains(token));
    }
  }

  private Path leasePath(Slot slot) {
    return slots.resolve(slot.cluster() + "-" + slot.node() + ".lease");
  }

  private Path lockPath(Slot slot) {
    return slots.resolve(slot.cluster() + "-" + slot.node() + ".lock");
  }

  private static @Nullable Object identity(Path file) throws IOException {
    try {
      BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
      return List.of(
          String.valueOf(attributes.fileKey()), attributes.lastModifiedTime(), attributes.size());
    } catch (NoSuchFileException e) {
      return null;
    }
  }

  @Override
  public String toString() {
    return folder.toString();
  }
}
