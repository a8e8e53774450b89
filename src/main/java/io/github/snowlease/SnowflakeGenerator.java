package io.github.snowlease;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Mints ids: lock-free, in increasing order over all threads, and only inside the window that it
 * was given. It knows nothing of leases; whoever leases opens, extends, seals and closes it.
 *
 * <h2>State</h2>
 *
 * One word, {@code tick << sequenceBits | sequence}: the last one minted. An id is the word with
 * the slot's bits put between. The next word is the present one plus one, or the start of the
 * clock's tick if that is greater, so a full sequence flows into the next tick by itself. The word
 * <em>only grows and never takes a value twice</em>, also across seal and reopen; all else rests on
 * that. The sign bit means sealed: set by get-and-or, it stops minting and keeps the exact last
 * word. {@link #CLOSED} is the terminal value.
 *
 * <h2>Order of reads: clock, word, window, compare-and-set</h2>
 *
 * <ol>
 *   <li>Clock before word: the clock read is the longest step, and outside of load and
 *       compare-and-set it lengthens no race. A stale tick is harmless: the word decides.
 *   <li>Word (acquire) before window: reopening publishes the window first and then changes the
 *       word. Whoever reads an open word therefore reads the window of that word or a later one. If
 *       it is a later one, the word has been sealed in between, so the compare-and-set fails,
 *       because no word comes twice. With the window read first, a thread could pause, miss a seal
 *       and a reopen, read the new word, succeed, and mint with the slot of a lost lease.
 *   <li>The compare-and-set mints. A pause of any length before it changes nothing: the timestamp
 *       was chosen before, it lies in the window, and the store never grants it to anybody else.
 * </ol>
 *
 * <h2>Window</h2>
 *
 * No id lies ahead of the clock and none outside the window. A window is replaced by an extension
 * of itself, or by {@link #open} once the word is sealed. Only after sealing may the slot be
 * released, with {@link #lastTick()} as its fence.
 *
 * <h2>Progress</h2>
 *
 * Minting is lock-free: a compare-and-set fails only because another thread minted, or the lease
 * changed. A caller with nothing to mint from waits: see {@link Waiting}.
 *
 * <p>{@link #word()}, {@link #window()} and {@link #advance} are methods so that the simulation can
 * run the rest of the world between any two of these steps; nothing in the product overrides them.
 *
 * <p>Sources: the single word with one compare-and-set is Agrona's {@code SnowflakeIdGenerator};
 * the bounded window is the persisted high-water mark of Percolator's timestamp oracle; standing
 * back after a lost race is the constant backoff of Dice, Hendler and Mirsky, "Lightweight
 * Contention Management for Efficient Compare-and-Swap Operations" (2013).
 */
class SnowflakeGenerator extends PaddedWord implements IdSource, Waiting.Lease {
  /** The terminal value of the word; no seal yields it, as no word is {@link Long#MAX_VALUE}. */
  static final long CLOSED = -1;

  /** The sign bit, and so the word before the first lease. */
  static final long SEALED = Long.MIN_VALUE;

  /** Some 0.2 to 1.2 µs, by processor: the time of a dozen ids. */
  private static final int PAUSES_AFTER_A_LOST_RACE = 32;

  private static final VarHandle WORD;
  private static final VarHandle WINDOW;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      Class<SnowflakeGenerator> type = SnowflakeGenerator.class;
      WORD = lookup.findVarHandle(PaddedWord.class, "word", long.class);
      WINDOW = lookup.findVarHandle(type, "window", LeaseWindow.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final IdClock clock;
  private final Waiting waiting;
  private final long maxTick;
  private final int sequenceBits;
  private final long sequenceMask;
  private volatile LeaseWindow window = LeaseWindow.NONE;

  SnowflakeGenerator(
      BitLayout layout,
      IdClock clock,
      TimeSource time,
      long maxWaitNanos,
      Waiting.Refusal refusal) {
    this.clock = clock;
    this.waiting = new Waiting(layout, clock, time, maxWaitNanos, refusal);
    this.maxTick = layout.maxTick();
    this.sequenceBits = layout.sequenceBits();
    this.sequenceMask = (1L << sequenceBits) - 1;
    WORD.setRelease(this, SEALED);
  }

  @Override
  public long nextId() {
    long deadline = Waiting.NOT_YET;
    while (true) {
      long tick = clock.tick();
      long current = word();
      LeaseWindow permitted = window();
      long next = Math.max(current + 1, tick << sequenceBits);
      if (current >= 0
          && next <= ((tick << sequenceBits) | sequenceMask)
          && next <= permitted.lastWord
          && next >= permitted.firstWord) {
        if (advance(current, next)) {
          return permitted.idOf(next);
        }
        standBack();
      } else {
        deadline = waiting.await(tick, current, permitted, deadline, this);
      }
    }
  }

  @Override
  public WordBlock reserve(int most) {
    long deadline = Waiting.NOT_YET;
    while (true) {
      long tick = clock.tick();
      long current = word();
      LeaseWindow permitted = window();
      long first = Math.max(current + 1, tick << sequenceBits);
      long limit = Math.min((tick << sequenceBits) | sequenceMask, permitted.lastWord);
      if (current >= 0 && first <= limit && first >= permitted.firstWord) {
        // The difference first: a sum could run over at the end of a word of 63 bits.
        long last = first + Math.min(limit - first, most - 1);
        if (advance(current, last)) {
          return new WordBlock(permitted, first, last);
        }
        standBack();
      } else {
        deadline = waiting.await(tick, current, permitted, deadline, this);
      }
    }
  }

  /**
   * After a lost race: lets the winner mint on for a moment. Threads that try again at once take
   * the word's cache line from each other at every id, and all get fewer.
   */
  private static void standBack() {
    for (int i = 0; i < PAUSES_AFTER_A_LOST_RACE; i++) {
      Thread.onSpinWait();
    }
  }

  /** The last word minted, or the sealed or closed one. */
  long word() {
    return (long) WORD.getAcquire(this);
  }

  LeaseWindow window() {
    return window;
  }

  /** Mints the words after {@code from}, up to and with {@code to}. */
  boolean advance(long from, long to) {
    return WORD.compareAndSet(this, from, to);
  }

  @Override
  public boolean isStill(long seenWord, LeaseWindow seenWindow) {
    return (long) WORD.getAcquire(this) == seenWord && window == seenWindow;
  }

  /**
   * Opens a sealed generator on a window. The first id lies in a later tick than the last one of
   * before, so that ids of one process never go back. Has no effect on a closed generator.
   *
   * @return whether it is open now
   */
  boolean open(LeaseWindow granted) {
    long sealed = (long) WORD.getAcquire(this);
    if (sealed >= 0) {
      throw new IllegalStateException("only a sealed generator is opened: word=" + sealed);
    }
    if (sealed == CLOSED) {
      return false;
    }
    window = granted;
    long nextTick = ((sealed & ~SEALED) >>> sequenceBits) + 1;
    // After the last tick of a word of 63 bits comes the sign bit, which would be the sealed word
    // of the very beginning: such a generator opens with nothing left to mint instead.
    long start = nextTick > maxTick ? Long.MAX_VALUE - 1 : nextTick << sequenceBits;
    boolean opened = WORD.compareAndSet(this, sealed, start);
    waiting.onChange();
    return opened;
  }

  /**
   * Replaces the window by an extension of itself: of the same slot, with the same beginning, and
   * no shorter. Has no effect if it is not that, if the window is no longer the present one, or if
   * the generator is sealed.
   *
   * @return whether the extension is in force
   */
  boolean extend(LeaseWindow from, LeaseWindow to) {
    // A seal may come between: then the window of a sealed generator has grown, which permits
    // nothing, as it is opened with a window of its own.
    boolean extended =
        (long) WORD.getAcquire(this) >= 0
            && to.isExtensionOf(from)
            && WINDOW.compareAndSet(this, from, to);
    if (extended) {
      waiting.onChange();
    }
    return extended;
  }

  /** Stops minting at once; what was reserved before keeps its place. Idempotent. */
  void seal() {
    WORD.getAndBitwiseOr(this, SEALED);
  }

  /**
   * Stops minting for good. Wins against a racing {@link #open}: if that came first, its word is
   * sealed in turn.
   *
   * @return the tick of the last word minted, or {@link #CLOSED} if it was closed before
   */
  long close() {
    long sealed;
    do {
      sealed = (long) WORD.getAndBitwiseOr(this, SEALED) | SEALED;
      if (sealed == CLOSED) {
        return CLOSED;
      }
    } while (!WORD.compareAndSet(this, sealed, CLOSED));
    waiting.onChange();
    return tickOf(sealed);
  }

  /**
   * The tick of the last word minted: exact once sealed, and beyond every tick once closed, since
   * then {@link #close()} has told it.
   */
  long lastTick() {
    return tickOf((long) WORD.getAcquire(this));
  }

  private long tickOf(long anyWord) {
    return (anyWord & ~SEALED) >>> sequenceBits;
  }
}
