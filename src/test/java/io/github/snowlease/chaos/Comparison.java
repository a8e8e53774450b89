package io.github.snowlease.chaos;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;

/**
 * What the {@linkplain IdRecord records} of all threads of all processes say together: all runs are
 * merged in the order of their ids, and each id that was there before counts. Exact as long as no
 * record goes back; where one does, what it went back to may count as a duplicate, too.
 *
 * @param ids how many ids were minted
 * @param duplicates how many of them had been minted before
 * @param outOfOrder how often a thread was given an id that is not greater than its last one
 * @param firstDuplicate one that came twice, or -1
 */
record Comparison(long ids, long duplicates, long outOfOrder, long firstDuplicate) {
  private static final int CHUNK_LONGS = 1 << 20;

  static Comparison of(List<Path> records) {
    List<Cursor> cursors = new ArrayList<>();
    try {
      for (Path record : records) {
        cursors.add(new Cursor(record));
      }
      return merge(cursors);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      cursors.forEach(Cursor::close);
    }
  }

  private static Comparison merge(List<Cursor> cursors) {
    PriorityQueue<Cursor> next = new PriorityQueue<>((a, b) -> Long.compare(a.first, b.first));
    for (Cursor cursor : cursors) {
      if (cursor.advance()) {
        next.add(cursor);
      }
    }
    long ids = 0;
    long duplicates = 0;
    long firstDuplicate = -1;
    long highest = -1;
    while (!next.isEmpty()) {
      Cursor cursor = next.remove();
      ids += cursor.last - cursor.first + 1;
      long seenBefore = Math.min(highest, cursor.last) - cursor.first + 1;
      if (seenBefore > 0) {
        duplicates += seenBefore;
        firstDuplicate = firstDuplicate < 0 ? cursor.first : firstDuplicate;
      }
      highest = Math.max(highest, cursor.last);
      if (cursor.advance()) {
        next.add(cursor);
      }
    }
    long outOfOrder = cursors.stream().mapToLong(cursor -> cursor.outOfOrder).sum();
    return new Comparison(ids, duplicates, outOfOrder, firstDuplicate);
  }

  /** The runs of one record, in their order. */
  private static final class Cursor implements AutoCloseable {
    private final FileChannel file;
    private long position = IdRecord.COUNTERS;
    private LongBuffer chunk = LongBuffer.allocate(0);
    private long highest = -1;

    long first;
    long last;
    long outOfOrder;

    Cursor(Path path) throws IOException {
      file = FileChannel.open(path, StandardOpenOption.READ);
    }

    boolean advance() {
      while (true) {
        if (!chunk.hasRemaining() && !readChunk()) {
          return false;
        }
        first = chunk.get();
        last = chunk.get();
        if (first == 0) {
          return false; // the file is longer than what was recorded
        }
        if (first <= highest) {
          outOfOrder++;
        }
        highest = Math.max(highest, last);
        return true;
      }
    }

    private boolean readChunk() {
      try {
        long left = file.size() / Long.BYTES - position;
        if (left < 2) {
          return false;
        }
        int longs = (int) Math.min(left, CHUNK_LONGS);
        chunk =
            file.map(
                    FileChannel.MapMode.READ_ONLY, position * Long.BYTES, (long) longs * Long.BYTES)
                .order(ByteOrder.nativeOrder())
                .asLongBuffer();
        position += longs;
        return true;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public void close() {
      try {
        file.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
