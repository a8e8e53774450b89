package io.github.snowlease;

import io.github.snowlease.NoLeaseException.Reason;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;

/**
 * A generator whose clock stands still until it is moved, so that outcomes are few and can be
 * listed in words. An id reads {@code A5.0}: slot A, tick 5, sequence 0; a tick has four. The first
 * id is {@code A5.0} unless a test says otherwise. A caller that would have to wait is told why at
 * once: {@code LOST}, {@code SATURATED}.
 */
class GeneratorFixture {
  private static final BitLayout LAYOUT =
      new BitLayout(Instant.EPOCH, Duration.ofMillis(1), 5, 0, 1, 2);

  static final LeaseWindow A_TO_4 = LeaseWindow.of(LAYOUT, new Slot(0, 0), 0, 4);
  static final LeaseWindow A_TO_5 = LeaseWindow.of(LAYOUT, new Slot(0, 0), 0, 5);
  static final LeaseWindow A_TO_9 = LeaseWindow.of(LAYOUT, new Slot(0, 0), 0, 9);
  static final LeaseWindow B_TO_4 = LeaseWindow.of(LAYOUT, new Slot(0, 1), 0, 4);
  static final LeaseWindow B_TO_9 = LeaseWindow.of(LAYOUT, new Slot(0, 1), 0, 9);

  private static final int SEQUENCES = 4;
  private static final String[] NAMES = namesOfIds();
  private static final Map<Reason, NoLeaseException> REFUSALS = refusals();

  final IdClock clock = new IdClock(StandingTime.INSTANCE, 0, 1);
  final SnowflakeGenerator ids;
  private final IdSource source;

  /** A generator that was never opened, at tick 5. */
  GeneratorFixture() {
    this(SnowflakeGenerator::new);
  }

  GeneratorFixture(Factory factory) {
    this(factory, 0);
  }

  GeneratorFixture(Factory factory, long maxWaitNanos) {
    this(factory, maxWaitNanos, 0);
  }

  /** With as many stripes of ids, or with none. */
  GeneratorFixture(Factory factory, long maxWaitNanos, int stripes) {
    ids =
        factory.create(
            LAYOUT,
            clock,
            StandingTime.INSTANCE,
            maxWaitNanos,
            (reason, waited) -> REFUSALS.get(reason));
    source = stripes == 0 ? ids : new StripedGenerator(ids, clock, LAYOUT, stripes, SEQUENCES);
    clockTo(5);
  }

  interface Factory {
    SnowflakeGenerator create(
        BitLayout layout,
        IdClock clock,
        TimeSource time,
        long maxWaitNanos,
        Waiting.Refusal refusal);
  }

  /** Mints so that so many ids are left in tick 5. */
  final void leaveInTick(int left) {
    ids.nextIds(new long[SEQUENCES - left]);
  }

  final void clockTo(long tick) {
    clock.observe(StandingTime.NANOS, StandingTime.NANOS, tick);
  }

  /** The name of an id, or the reason why there is none. */
  final String nextId() {
    try {
      return NAMES[(int) source.nextId()];
    } catch (NoLeaseException e) {
      return e.reason().name();
    }
  }

  /** The names of a batch, or the reason why there is none. */
  final String nextIds(int count) {
    long[] batch = new long[count];
    try {
      source.nextIds(batch);
    } catch (NoLeaseException e) {
      return e.reason().name();
    }
    StringBuilder text = new StringBuilder();
    for (long id : batch) {
      text.append(text.isEmpty() ? "" : " ").append(NAMES[(int) id]);
    }
    return text.toString();
  }

  /** Seals as the lease thread does before it hands a slot back; tells the last word, its fence. */
  final String seal() {
    ids.seal();
    long word = ids.word();
    if (word == SnowflakeGenerator.CLOSED) {
      return "CLOSED";
    }
    long last = word & Long.MAX_VALUE;
    return last / SEQUENCES + "." + last % SEQUENCES;
  }

  private static String[] namesOfIds() {
    String[] names = new String[1 << 8];
    for (int id = 0; id < names.length; id++) {
      SnowflakeId parts = LAYOUT.parse(id);
      names[id] =
          (parts.node() == 0 ? "A" : "B")
              + parts.timestamp().toEpochMilli()
              + "."
              + parts.sequence();
    }
    return names;
  }

  private static Map<Reason, NoLeaseException> refusals() {
    Map<Reason, NoLeaseException> refusals = new EnumMap<>(Reason.class);
    for (Reason reason : Reason.values()) {
      refusals.put(reason, new NoLeaseException(reason, "no id", null));
    }
    return refusals;
  }

  /** Takes a little time between any two steps of minting, so that more falls in between. */
  static class Hesitating extends SnowflakeGenerator {
    Hesitating(
        BitLayout layout,
        IdClock clock,
        TimeSource time,
        long maxWaitNanos,
        Waiting.Refusal refusal) {
      super(layout, clock, time, maxWaitNanos, refusal);
    }

    @Override
    long word() {
      hesitate();
      return super.word();
    }

    @Override
    LeaseWindow window() {
      hesitate();
      return super.window();
    }

    @Override
    boolean advance(long from, long to) {
      hesitate();
      return super.advance(from, to);
    }

    /** Long enough for another thread to swap the lease. */
    static void hesitate() {
      for (int i = 0; i < 100; i++) {
        Thread.onSpinWait();
      }
    }
  }

  private enum StandingTime implements TimeSource {
    INSTANCE;

    /** Odd, so that a wait of no time is over at once: see the generator's deadline. */
    static final long NANOS = 1;

    @Override
    public long nanoTime() {
      return NANOS;
    }

    @Override
    public long wallMillis() {
      return 0;
    }
  }
}
