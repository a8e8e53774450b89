package io.github.snowlease.demo;

import io.github.snowlease.BitLayout;
import io.github.snowlease.Slot;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The ids that one process minted, in their order, eight bytes each. */
public final class IdFile {
  private IdFile() {}

  /**
   * Ids that followed each other in one slot.
   *
   * @param slot the slot
   * @param first the first of them
   * @param last the last of them
   * @param count how many there are
   */
  public record Run(Slot slot, long first, long last, int count) {}

  /** Opens a file for {@link #append}, and creates it if need be. */
  public static FileChannel open(Path file) throws IOException {
    return FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  /** Adds ids at the end. */
  public static void append(FileChannel file, long[] ids, int count) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(count * Long.BYTES);
    bytes.asLongBuffer().put(ids, 0, count);
    while (bytes.hasRemaining()) {
      file.write(bytes);
    }
  }

  /** Reads all ids. */
  public static long[] read(Path file) {
    try {
      LongBuffer longs = ByteBuffer.wrap(Files.readAllBytes(file)).asLongBuffer();
      long[] ids = new long[longs.remaining()];
      longs.get(ids);
      return ids;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Counts exactly how many ids there are too many: each occurrence of an id but its first.
   *
   * @param sets the ids of all processes
   */
  public static long duplicates(List<long[]> sets) {
    long[] all = new long[sets.stream().mapToInt(ids -> ids.length).sum()];
    int filled = 0;
    for (long[] ids : sets) {
      System.arraycopy(ids, 0, all, filled, ids.length);
      filled += ids.length;
    }
    Arrays.parallelSort(all);
    long duplicates = 0;
    for (int i = 1; i < all.length; i++) {
      if (all[i] == all[i - 1]) {
        duplicates++;
      }
    }
    return duplicates;
  }

  /** Splits ids where the slot changes. */
  public static List<Run> runs(BitLayout layout, long[] ids) {
    List<Run> runs = new ArrayList<>();
    int shift = layout.sequenceBits();
    long mask = (1L << (layout.clusterBits() + layout.nodeBits())) - 1;
    int start = 0;
    for (int i = 1; i <= ids.length; i++) {
      if (i == ids.length || ((ids[i] ^ ids[start]) >>> shift & mask) != 0) {
        runs.add(new Run(layout.parse(ids[start]).slot(), ids[start], ids[i - 1], i - start));
        start = i;
      }
    }
    return runs;
  }

  /** Whether each id is greater than the one before. */
  public static boolean isIncreasing(long[] ids) {
    for (int i = 1; i < ids.length; i++) {
      if (ids[i] <= ids[i - 1]) {
        return false;
      }
    }
    return true;
  }
}
