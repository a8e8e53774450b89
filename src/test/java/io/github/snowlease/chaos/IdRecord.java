package io.github.snowlease.chaos;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Every id that one thread was given, in the order in which it was given them, as runs of
 * consecutive ids: their first and their last. The file is mapped into memory, so that what was
 * recorded outlives a SIGKILL; an id that was minted and not recorded was never used by anybody.
 *
 * <p>Before the runs stand a few counters of the same thread. For use by that thread alone.
 */
final class IdRecord {
  /** How many calls failed. */
  static final int FAILED_CALLS = 0;

  /** The longest time between two successful calls in which one failed, in nanoseconds. */
  static final int LONGEST_OUTAGE = 1;

  /** How often an instance was started. */
  static final int STARTS = 2;

  static final int COUNTERS = 8;
  private static final long CHUNK_RUNS = 1 << 16;

  private final FileChannel file;
  private final LongBuffer counters;
  private LongBuffer runs;
  private long mappedUpTo;
  private long last = -1;

  private IdRecord(FileChannel file) throws IOException {
    this.file = file;
    counters = map(0, COUNTERS);
    mappedUpTo = COUNTERS;
    runs = nextChunk();
  }

  /** Begins a record in a new file. */
  static IdRecord create(Path path) throws IOException {
    return new IdRecord(
        FileChannel.open(
            path,
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE));
  }

  private LongBuffer nextChunk() throws IOException {
    LongBuffer chunk = map(mappedUpTo, 2 * CHUNK_RUNS);
    mappedUpTo += 2 * CHUNK_RUNS;
    return chunk;
  }

  /** Maps some longs; the file grows to hold them. */
  private LongBuffer map(long firstLong, long count) throws IOException {
    MappedByteBuffer bytes =
        file.map(FileChannel.MapMode.READ_WRITE, firstLong * Long.BYTES, count * Long.BYTES);
    return bytes.order(ByteOrder.nativeOrder()).asLongBuffer();
  }

  /** Records an id. */
  void add(long id) throws IOException {
    int end = runs.position();
    if (id == last + 1 && end > 0) {
      runs.put(end - 1, id);
    } else {
      if (!runs.hasRemaining()) {
        runs = nextChunk();
      }
      // The last one first: a run without a first one is no run.
      int start = runs.position();
      runs.put(start + 1, id);
      runs.put(start, id);
      runs.position(start + 2);
    }
    last = id;
  }

  /** Records the ids of a batch. */
  void addAll(long[] ids, int count) throws IOException {
    for (int i = 0; i < count; i++) {
      add(ids[i]);
    }
  }

  long counter(int counter) {
    return counters.get(counter);
  }

  void setCounter(int counter, long value) {
    counters.put(counter, value);
  }
}
