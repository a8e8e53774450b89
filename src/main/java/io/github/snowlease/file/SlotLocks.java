package io.github.snowlease.file;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The locks of slots that this process holds. The system drops a lock when its process dies,
 * however it dies, so a lock tells the living from the dead.
 *
 * <p>POSIX ties a lock to the process, not to the open file: closing any channel on a file drops
 * the lock that another channel of the same process holds on it. Hence one registry for the whole
 * process, and a file in it is never opened a second time. Nothing but locking is done with these
 * files.
 *
 * <p>Every method is called with the ledger locked, so that nobody deletes a file that another is
 * about to lock.
 */
final class SlotLocks {
  private static final Map<Path, SlotLock> HELD = new HashMap<>();

  /** Channels whose closing would drop a lock of this process that another class loader took. */
  private static final Set<FileChannel> NEVER_CLOSED = new HashSet<>();

  private record SlotLock(FileChannel channel, String token, @Nullable Object fileKey) {}

  private SlotLocks() {}

  /** Locks a file for a token, unless another process has it locked: then false. */
  static boolean lock(Path file, String token) throws IOException {
    synchronized (HELD) {
      SlotLock held = HELD.get(file);
      if (held != null && held.fileKey != null && !held.fileKey.equals(fileKey(file))) {
        // Somebody deleted the file: what is locked is no longer what others see.
        HELD.remove(file);
        held.channel.close();
        held = null;
      }
      if (held != null) {
        // The ledger has let the holder of before go, or this is the holder itself.
        HELD.put(file, new SlotLock(held.channel, token, held.fileKey));
        return true;
      }
      return lockAnew(file, token);
    }
  }

  private static boolean lockAnew(Path file, String token) throws IOException {
    FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    boolean locked = false;
    try {
      FileLock lock = channel.tryLock();
      locked = lock != null;
    } catch (OverlappingFileLockException e) {
      NEVER_CLOSED.add(channel);
      return false;
    } finally {
      if (!locked && !NEVER_CLOSED.contains(channel)) {
        channel.close();
      }
    }
    if (locked) {
      HELD.put(file, new SlotLock(channel, token, fileKey(file)));
    }
    return locked;
  }

  /** Gives back a file if it is locked for this token, and deletes it. */
  static void unlock(Path file, String token) throws IOException {
    synchronized (HELD) {
      SlotLock held = HELD.get(file);
      if (held != null && held.token.equals(token)) {
        drop(file);
      }
    }
  }

  /** Gives back the files of a folder whose holders are gone: lost leases, or a closed store's. */
  static void unlockIf(Path folder, BiPredicate<Path, String> fileAndToken) throws IOException {
    synchronized (HELD) {
      for (Map.Entry<Path, SlotLock> entry : Map.copyOf(HELD).entrySet()) {
        Path file = entry.getKey();
        if (folder.equals(file.getParent()) && fileAndToken.test(file, entry.getValue().token)) {
          drop(file);
        }
      }
    }
  }

  /** Whether a process holds a file: this one, or one that keeps it from being locked now. */
  static boolean isHeld(Path file) throws IOException {
    synchronized (HELD) {
      if (HELD.containsKey(file)) {
        return true;
      }
      if (!Files.exists(file)) {
        return false;
      }
      FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
      try {
        boolean held = channel.tryLock() == null;
        channel.close();
        return held;
      } catch (OverlappingFileLockException e) {
        NEVER_CLOSED.add(channel);
        return true;
      }
    }
  }

  private static void drop(Path file) throws IOException {
    SlotLock held = HELD.remove(file);
    if (held != null) {
      // Deleted while it is locked, so that nobody locks a file that is about to go.
      Files.deleteIfExists(file);
      held.channel.close();
    }
  }

  private static @Nullable Object fileKey(Path file) throws IOException {
    try {
      return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
    } catch (NoSuchFileException e) {
      return "deleted";
    }
  }
}
