package io.github.snowlease;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Mints ids that increase for each thread, and by tick over all: {@link Ordering#PER_THREAD}.
 *
 * <h2>Blocks</h2>
 *
 * Each thread belongs to a stripe, by its id, and each stripe has a block of words that threads of
 * this stripe take from. A block is a piece of a batch: it was reserved by one compare-and-set of
 * the {@link SnowflakeGenerator}, counts as minted from then on, and lies below the fence of the
 * slot. So <em>uniqueness rests on that generator alone</em>, and nothing here can break it,
 * however long a thread pauses between any two steps.
 *
 * <h2>Order</h2>
 *
 * <ul>
 *   <li>Per thread: a block is reserved after the present one of its stripe was read, so it lies
 *       above it, and is put there only if that one is still there, so none comes back. A batch,
 *       which lies above all of them, ends the block of its thread's stripe.
 *   <li>By tick: a word is taken only in the tick of its block, by the clock and by the generator's
 *       word, which has gone on once anybody has an id of a later tick.
 * </ul>
 *
 * <h2>Sealing</h2>
 *
 * Is looked for at each id, by the same look at the generator's word: its sign bit puts a sealed
 * word beyond every tick, and after sealing it is opened in a later tick only. So a word that was
 * reserved under a lease that was given up is dropped, also if another lease has come since.
 *
 * <h2>Size</h2>
 *
 * A block is dropped with its tick, so blocks grow only where they are used up: from one word on,
 * to twice as many whenever a stripe asks again within the tick, and to half when half was left.
 */
class StripedGenerator implements IdSource {
  /** So many words at most are reserved at once: enough to make the shared word cheap. */
  private static final int MAX_SIZE = 256;

  /** Of a tick, at least so many blocks can be had. */
  private static final int MIN_BLOCKS_A_TICK = 16;

  /** Stripes are so many references apart that each has cache lines of its own. */
  private static final int STRIDE_BITS = 5;

  private static final int MIN_STRIPES = 32;
  private static final int MAX_STRIPES = 512;

  private final SnowflakeGenerator generator;
  private final IdClock clock;
  private final int sequenceBits;
  private final int maxSize;
  private final int stripeBits;
  private final AtomicReferenceArray<Block> blocks;

  StripedGenerator(SnowflakeGenerator generator, IdClock clock, BitLayout layout) {
    this(
        generator,
        clock,
        layout,
        Math.max(MIN_STRIPES, 8 * Runtime.getRuntime().availableProcessors()),
        (int) Math.min(MAX_SIZE, (1L << layout.sequenceBits()) / MIN_BLOCKS_A_TICK));
  }

  /** With so many stripes, cut to a power of two, and so many words in a block at most. */
  StripedGenerator(
      SnowflakeGenerator generator, IdClock clock, BitLayout layout, int stripes, int maxSize) {
    this.generator = generator;
    this.clock = clock;
    this.sequenceBits = layout.sequenceBits();
    this.maxSize = Math.max(1, maxSize);
    this.stripeBits = 31 - Integer.numberOfLeadingZeros(Math.min(MAX_STRIPES, stripes));
    this.blocks = new AtomicReferenceArray<>(1 << stripeBits << STRIDE_BITS);
    for (int i = 0; i < blocks.length(); i += 1 << STRIDE_BITS) {
      blocks.set(i, Block.none(1));
    }
  }

  @Override
  public long nextId() {
    int stripe = stripeOfThread();
    while (true) {
      long tick = clock.tick();
      Block block = blocks.getAcquire(stripe);
      if (mayTakeFrom(block, tick, generator.word())) {
        long taken = block.take();
        if (taken <= block.lastWord) {
          return block.window.idOf(taken);
        }
      }
      int size = block.nextSize(tick, maxSize);
      WordBlock reserved = generator.reserve(size);
      if (blocks.compareAndSet(stripe, block, new Block(reserved, sequenceBits, size))) {
        return reserved.window().idOf(reserved.firstWord());
      }
      // Another thread of this stripe was faster. What was reserved is dropped: its place in the
      // order of the stripe has passed.
    }
  }

  @Override
  public WordBlock reserve(int most) {
    WordBlock reserved = generator.reserve(most);
    int stripe = stripeOfThread();
    // Always a new one, so that no thread which reserved before this one did finds its block back.
    blocks.setRelease(stripe, Block.none(blocks.getAcquire(stripe).size));
    return reserved;
  }

  /** See the class; a method so that tests can leave a check out, and must then fail. */
  boolean mayTakeFrom(Block block, long tick, long word) {
    return tick == block.tick && tick == word >>> sequenceBits;
  }

  private int stripeOfThread() {
    if (stripeBits == 0) {
      return 0; // a shift by 32 would be none
    }
    // Fibonacci hashing: threads that were started one after the other get stripes far apart.
    long hash = Thread.currentThread().getId() * 0x9E3779B97F4A7C15L;
    return (int) (hash >>> 32) >>> (32 - stripeBits) << STRIDE_BITS;
  }

  /** Words for the threads of a stripe, the first of which whoever reserved it has taken. */
  static final class Block {
    private static final VarHandle NEXT;

    static {
      try {
        NEXT = MethodHandles.lookup().findVarHandle(Block.class, "next", long.class);
      } catch (ReflectiveOperationException e) {
        throw new ExceptionInInitializerError(e);
      }
    }

    final LeaseWindow window;
    final long tick;
    final long lastWord;

    /** How many words were asked for; there may have been fewer. */
    final int size;

    /** Grows beyond the last word by a little, one for each thread that comes too late. */
    @SuppressWarnings("unused") // by its handle
    private volatile long next;

    private Block(LeaseWindow window, long tick, long next, long lastWord, int size) {
      this.window = window;
      this.tick = tick;
      this.lastWord = lastWord;
      this.size = size;
      NEXT.set(this, next);
    }

    Block(WordBlock reserved, int sequenceBits, int size) {
      this(
          reserved.window(),
          reserved.firstWord() >>> sequenceBits,
          reserved.firstWord() + 1,
          reserved.lastWord(),
          size);
    }

    /** Nothing to take from. */
    static Block none(int size) {
      return new Block(LeaseWindow.NONE, -1, 0, -1, size);
    }

    /** The next word, which is none of this block if it lies beyond the last. */
    long take() {
      return (long) NEXT.getAndAdd(this, 1L);
    }

    int nextSize(long now, int maxSize) {
      if (now == tick) {
        return Math.min(2 * size, maxSize);
      }
      long left = lastWord + 1 - (long) NEXT.getAcquire(this);
      return 2 * left >= size ? Math.max(1, size / 2) : size;
    }
  }
}
