package io.github.snowlease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.snowlease.NoLeaseException.Reason;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SnowflakeGeneratorTest {
  private static final long EPOCH = 1_704_067_200_000L;
  private static final long START = EPOCH + 1_000_000; // tick 1,000,000
  private static final long START_TICK = 1_000_000;
  private static final long MILLI = 1_000_000;
  private static final long SECOND = 1_000 * MILLI;
  private static final long WINDOW = 25_000;

  /** Four ids a tick, so that ticks fill up at once. */
  private static final BitLayout TIGHT =
      new BitLayout(Instant.ofEpochMilli(EPOCH), Duration.ofMillis(1), 41, 5, 5, 2);

  private static final BitLayout WIDE = BitLayout.standard();
  private static final Slot SLOT = new Slot(3, 17);
  private static final Slot OTHER = new Slot(9, 1);

  /** A generator with its clocks, whose id clock shows {@link #START} when it begins. */
  private static final class Fixture {
    final BitLayout layout;
    final ManualTime time;
    final IdClock clock;
    final SnowflakeGenerator generator;
    volatile long waitedNanos = Long.MIN_VALUE;

    Fixture(BitLayout layout, long maxWaitNanos) {
      this(layout, maxWaitNanos, new ManualTime(Long.MAX_VALUE - 40 * SECOND));
    }

    Fixture(BitLayout layout, long maxWaitNanos, ManualTime time) {
      this.layout = layout;
      this.time = time;
      this.clock = new IdClock(time, layout.epochMillis(), layout.tickMillis());
      this.generator =
          new SnowflakeGenerator(
              layout,
              clock,
              time,
              maxWaitNanos,
              (reason, waited) -> {
                waitedNanos = waited;
                return new NoLeaseException(reason, "waited=" + waited, null);
              });
      observe(START);
    }

    /** An answer of the store that took no time. */
    void observe(long storeMillis) {
      long now = time.nanoTime();
      clock.observe(now, now, storeMillis);
    }

    LeaseWindow window(Slot slot, long lo, long until) {
      return LeaseWindow.of(layout, slot, lo, until);
    }

    LeaseWindow open() {
      return open(SLOT, START - 10, START + WINDOW);
    }

    LeaseWindow open(Slot slot, long lo, long until) {
      LeaseWindow window = window(slot, lo, until);
      assertThat(generator.open(window)).isTrue();
      return window;
    }

    SnowflakeId next() {
      return layout.parse(generator.nextId());
    }

    long tickOf(SnowflakeId id) {
      return id.value() >>> layout.timestampShift();
    }
  }

  private static Reason reasonOf(LongSupplier call) {
    return catchThrowableOfType(NoLeaseException.class, call::getAsLong).reason();
  }

  /** Runs a call on a thread of its own, and gives that thread away. */
  private static CompletableFuture<Long> inBackground(
      LongSupplier call, AtomicReference<Thread> caller) {
    CompletableFuture<Long> result = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                result.complete(call.getAsLong());
              } catch (Throwable t) { // handed to the test
                result.completeExceptionally(t);
              }
            });
    thread.setDaemon(true);
    caller.set(thread);
    thread.start();
    return result;
  }

  private static void awaitParked(AtomicReference<Thread> caller) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .pollInterval(Duration.ofMillis(1))
        .until(() -> caller.get().getState() == Thread.State.TIMED_WAITING);
  }

  private static Throwable failureOf(CompletableFuture<Long> call) throws Exception {
    try {
      throw new AssertionError("no id was meant to come: " + call.get(30, TimeUnit.SECONDS));
    } catch (ExecutionException e) {
      return e.getCause();
    }
  }

  private static long tickOf(long tightId) {
    return tightId < 0 ? 0 : tightId >>> TIGHT.timestampShift();
  }

  // ---- order and sequence

  @Test
  void mintsIdsOfItsSlotAndOfTheClocksTickInTheOrderOfTheSequence() {
    Fixture f = new Fixture(WIDE, 0);
    f.open();
    for (int sequence = 0; sequence < 4_096; sequence++) {
      assertThat(f.generator.nextId()).isEqualTo(WIDE.compose(START_TICK, 3, 17, sequence));
    }
    assertThat(reasonOf(f.generator::nextId)).isEqualTo(Reason.SATURATED);
    f.time.advanceMillis(1);
    assertThat(f.generator.nextId()).isEqualTo(WIDE.compose(START_TICK + 1, 3, 17, 0));
    f.time.advanceMillis(7);
    assertThat(f.generator.nextId()).isEqualTo(WIDE.compose(START_TICK + 8, 3, 17, 0));
  }

  @Property(tries = 200)
  void neverRepeatsNeverGoesBackAndNeverLeavesWindowOrClock(
      @ForAll("origins") long origin, @ForAll long seed) {
    Fixture f = new Fixture(TIGHT, 0, new ManualTime(origin));
    java.util.Random random = new java.util.Random(seed);
    long fence = START - 11;
    long lo = 0;
    long until = -1;
    LeaseWindow window = LeaseWindow.NONE;
    Slot slot = SLOT;
    long last = -1;
    for (int step = 0; step < 300; step++) {
      switch (random.nextInt(8)) {
        case 0 -> f.time.advanceNanos(random.nextInt(3_000_000));
        case 1 -> f.observe(f.clock.estimateAt(f.time.nanoTime()) - 5 + random.nextInt(10));
        case 2 -> { // lost, and another slot leased
          f.generator.seal();
          assertThat(f.generator.lastTick()).isGreaterThanOrEqualTo(tickOf(last));
          fence = Math.max(fence, until);
          slot = new Slot(random.nextInt(32), random.nextInt(32));
          lo = Math.max(f.clock.estimateAt(f.time.nanoTime()), fence + 1);
          until = lo + random.nextInt(6) - 1;
          window = f.open(slot, lo, until);
        }
        case 3 -> { // renewed
          if (until >= lo) {
            until += random.nextInt(4);
            LeaseWindow longer = f.window(slot, lo, until);
            f.generator.extend(window, longer);
            window = longer;
          }
        }
        default -> {
          long tick = f.clock.tick();
          try {
            SnowflakeId id = f.next();
            assertThat(id.value()).isGreaterThan(last);
            last = id.value();
            assertThat(id.slot()).isEqualTo(slot);
            assertThat(f.tickOf(id)).isLessThanOrEqualTo(tick);
            assertThat(id.timestamp().toEpochMilli()).isBetween(lo, until);
          } catch (NoLeaseException e) {
            assertThat(e.reason())
                .isIn(Reason.NOT_YET, Reason.LOST, Reason.SATURATED, Reason.CLOCK_HELD);
          }
        }
      }
    }
  }

  @Provide
  Arbitrary<Long> origins() {
    return Arbitraries.oneOf(
        Arbitraries.longs(), Arbitraries.longs().between(Long.MAX_VALUE - SECOND, Long.MAX_VALUE));
  }

  // ---- window edges

  @Test
  void mintsFromTheFirstTickOfTheWindowToItsLastAndNotBeyond() {
    Fixture f = new Fixture(TIGHT, 0);
    f.open(SLOT, START + 2, START + 3);
    assertThat(reasonOf(f.generator::nextId)).isEqualTo(Reason.CLOCK_HELD);
    f.time.advanceMillis(2);
    assertThat(f.tickOf(f.next())).isEqualTo(START_TICK + 2);
    f.time.advanceMillis(1);
    for (int sequence = 0; sequence < 4; sequence++) {
      assertThat(f.generator.nextId()).isEqualTo(TIGHT.compose(START_TICK + 3, 3, 17, sequence));
    }
    assertThat(reasonOf(f.generator::nextId)).isEqualTo(Reason.LOST);
    f.time.advanceMillis(1);
    assertThat(reasonOf(f.generator::nextId)).isEqualTo(Reason.LOST);
  }

  @Test
  void mintsNothingInATickThatTheWindowCuts() {
    BitLayout slow = new BitLayout(Instant.ofEpochMilli(EPOCH), Duration.ofSeconds(1), 33, 5, 5, 2);
    Fixture f = new Fixture(slow, 0);
    f.open(SLOT, START + 1, START + 2_998); // wholly inside: the second from START + 1,000 on
    assertThat(reasonOf(f.generator::nextId)).isEqualTo(Reason.SATURATED);
    f.time.advanceMillis(1_000);
    assertThat(f.next().timestamp().toEpochMilli()).isEqualTo(START + 1_000);
    f.time.advanceMillis(1_000);
    assertThat(reasonOf(f.generator::nextId)).isEqualTo(Reason.LOST);
  }

  @Test
  void mintsNothingInAnEmptyWindow() {
    Fixture f = new Fixture(TIGHT, 0);
    assertThat(f.generator.open(LeaseWindow.NONE)).isTrue();
    assertThat(reasonOf(f.generator::nextId)).isEqualTo(Reason.LOST);
  }

  // ---- extending

  @Test
  void mintsOnInAnExtendedWindow() {
    Fixture f = new Fixture(TIGHT, 0);
    LeaseWindow window = f.open(SLOT, START, START);
    f.time.advanceMillis(1);
    assertThat(reasonOf(f.generator::nextId)).isEqualTo(Reason.LOST);
    assertThat(f.generator.extend(window, f.window(SLOT, START, START + 1))).isTrue();
    assertThat(f.tickOf(f.next())).isEqualTo(START_TICK + 1);
  }

  @Test
  void extendsThePresentWindowOnly() {
    Fixture f = new Fixture(TIGHT, 0);
    LeaseWindow first = f.open(SLOT, START, START + 1);
    LeaseWindow longer = f.window(SLOT, START, START + 5);
    assertThat(f.generator.extend(first, longer)).isTrue();
    // An extension of a window of before, of an equal one, or of another grant changes nothing.
    assertThat(f.generator.extend(first, f.window(SLOT, START, START + 9))).isFalse();
    assertThat(
            f.generator.extend(f.window(SLOT, START, START + 5), f.window(SLOT, START, START + 9)))
        .isFalse();
    f.time.advanceMillis(6);
    assertThat(reasonOf(f.generator::nextId)).isEqualTo(Reason.LOST);
  }

  @Test
  void extendsUpwardsOnly() {
    Fixture f = new Fixture(TIGHT, 0);
    LeaseWindow window = f.open(SLOT, START, START + 5);
    assertThat(f.generator.extend(window, f.window(SLOT, START, START + 4))).isFalse();
    assertThat(f.generator.extend(window, f.window(SLOT, START - 1, START + 9))).isFalse();
    assertThat(f.generator.extend(window, f.window(OTHER, START, START + 9))).isFalse();
    f.time.advanceMillis(5);
    assertThat(f.next().slot()).isEqualTo(SLOT);
    f.time.advanceMillis(1);
    assertThat(reasonOf(f.generator::nextId)).isEqualTo(Reason.LOST);
  }

  @Test
  void takesAnExtensionThatAddsNoWholeTick() {
    Fixture f = new Fixture(TIGHT, 0);
    LeaseWindow window = f.open(SLOT, START, START + 5);
    LeaseWindow same = f.window(SLOT, START, START + 5);
    assertThat(f.generator.extend(window, same)).isTrue();
    assertThat(f.generator.extend(same, f.window(SLOT, START, START + 6))).isTrue();
  }

  @Test
  void extendsAnEmptyWindowToTheFirstTicksOfItsGrant() {
    Fixture f = new Fixture(TIGHT, 0);
    f.generator.open(LeaseWindow.NONE); // such as a grant that ends before the epoch
    assertThat(f.generator.extend(LeaseWindow.NONE, f.window(SLOT, START - 5, START + 5))).isTrue();
    assertThat(f.next().slot()).isEqualTo(SLOT);
  }

  @Test
  void neverExtendsASealedOrClosedGenerator() {
    Fixture f = new Fixture(TIGHT, 0);
    LeaseWindow window = f.open(SLOT, START, START + 5);
    f.generator.seal();
    assertThat(f.generator.extend(window, f.window(SLOT, START, START + 9))).isFalse();
    f.generator.open(window);
    f.time.advanceMillis(6);
    assertThat(reasonOf(f.generator::nextId)).isEqualTo(Reason.LOST);
    f.generator.close();
    assertThat(f.generator.extend(window, f.window(SLOT, START, START + 9))).isFalse();
  }

  // ---- sealing and reopening

  @Property(tries = 100)
  void sealingKeepsTheExactLastTick(
      @ForAll @LongRange(max = 1_000) long pause, @ForAll @IntRange(max = 5_000) int count) {
    Fixture f = new Fixture(WIDE, 0);
    f.open();
    f.time.advanceMillis(2);
    long last = f.generator.nextId();
    for (int i = 0; i < count; i++) {
      if (i % 1_000 == 0) {
        f.time.advanceMillis(pause % 7 + 1);
      }
      last = f.generator.nextId();
    }
    f.time.advanceMillis(pause);
    f.generator.seal();
    f.time.advanceMillis(pause);
    assertThat(f.generator.lastTick()).isEqualTo(f.tickOf(WIDE.parse(last)));
    assertThat(reasonOf(f.generator::nextId)).isEqualTo(Reason.LOST);
  }

  @Test
  void sealingTwiceIsTheSameAsOnce() {
    Fixture f = new Fixture(TIGHT, 0);
    f.open();
    f.generator.nextId();
    f.generator.seal();
    f.generator.seal();
    assertThat(f.generator.lastTick()).isEqualTo(START_TICK);
  }

  @Test
  void goesOnInALaterTickWhenItIsReopened() {
    Fixture f = new Fixture(WIDE, 0);
    f.open(SLOT, START, START + WINDOW);
    long before = f.generator.nextId();
    f.generator.seal();
    f.open(new Slot(0, 0), START, START + WINDOW); // a lower slot: the same tick would go back
    assertThat(reasonOf(f.generator::nextId)).isEqualTo(Reason.SATURATED);
    f.time.advanceMillis(1);
    SnowflakeId after = f.next();
    assertThat(after.value()).isGreaterThan(before);
    assertThat(after.slot()).isEqualTo(new Slot(0, 0));
    assertThat(f.tickOf(after)).isEqualTo(START_TICK + 1);
  }

  @Test
  void isOpenedOnlyWhenSealed() {
    Fixture f = new Fixture(TIGHT, 0);
    LeaseWindow window = f.open();
    assertThatIllegalStateException()
        .isThrownBy(() -> f.generator.open(window))
        .withMessage("only a sealed generator is opened: word=4");
  }

  // ---- closing

  @Test
  void closingTellsTheLastTickOnceAndEndsMintingForGood() {
    Fixture f = new Fixture(TIGHT, SECOND);
    LeaseWindow window = f.open();
    f.generator.nextId();
    assertThat(f.generator.close()).isEqualTo(START_TICK);
    assertThat(f.generator.close()).isEqualTo(SnowflakeGenerator.CLOSED);
    assertThat(reasonOf(f.generator::nextId)).isEqualTo(Reason.CLOSED);
    assertThat(f.waitedNanos).isZero();
    assertThat(f.generator.open(window)).isFalse();
    f.generator.seal();
    assertThat(reasonOf(f.generator::nextId)).isEqualTo(Reason.CLOSED);
    assertThat(f.generator.lastTick()).isGreaterThan(TIGHT.maxTick());
  }

  @Test
  void canBeClosedBeforeItWasOpened() {
    Fixture f = new Fixture(TIGHT, 0);
    assertThat(f.generator.close()).isZero();
    assertThat(f.generator.open(f.window(SLOT, START, START + 5))).isFalse();
    assertThat(reasonOf(f.generator::nextId)).isEqualTo(Reason.CLOSED);
  }

  @Test
  void closingAfterSealingTellsTheSealedTick() {
    Fixture f = new Fixture(TIGHT, 0);
    f.open();
    f.generator.nextId();
    f.generator.seal();
    f.time.advanceMillis(5);
    assertThat(f.generator.close()).isEqualTo(START_TICK);
  }

  // ---- waiting

  @Test
  void saysAtOnceWhyNoIdComesIfItMayNotWait() {
    for (long origin : new long[] {0, 1, -1, 2, Long.MAX_VALUE, Long.MIN_VALUE}) {
      Fixture f = new Fixture(TIGHT, 0, new ManualTime(origin));
      assertThat(reasonOf(f.generator::nextId)).isEqualTo(Reason.NOT_YET);
      assertThat(f.waitedNanos).isBetween(0L, 1L);
      LeaseWindow window = f.open();
      f.generator.nextIds(new long[4]);
      assertThat(reasonOf(f.generator::nextId)).isEqualTo(Reason.SATURATED);
      assertThat(f.waitedNanos).isBetween(0L, 1L);
      f.observe(START - 1_000);
      f.generator.seal();
      f.generator.open(window);
      assertThat(reasonOf(f.generator::nextId)).isIn(Reason.SATURATED, Reason.CLOCK_HELD);
      f.generator.seal();
      assertThat(reasonOf(f.generator::nextId)).isEqualTo(Reason.LOST);
      f.generator.close();
      assertThat(reasonOf(f.generator::nextId)).isEqualTo(Reason.CLOSED);
      assertThat(f.waitedNanos).isBetween(0L, 1L);
    }
  }

  /** A case of each reason to wait, on clocks that go on by 100 µs at each look. */
  private static Fixture waitingFor(Reason reason, long maxWaitNanos) {
    Fixture f = new Fixture(TIGHT, maxWaitNanos);
    switch (reason) {
      case NOT_YET -> {}
      case LOST -> {
        f.open();
        f.generator.seal();
      }
      case CLOCK_HELD -> f.open(SLOT, START + 1_000, START + WINDOW);
      default -> throw new AssertionError("no case of it: " + reason);
    }
    f.time.tickAtEachRead(100_000);
    return f;
  }

  @ParameterizedTest
  @ValueSource(strings = {"NOT_YET", "LOST", "CLOCK_HELD"})
  void waitsForMaxWaitAndNoLonger(String name) {
    Reason reason = Reason.valueOf(name);
    Fixture f = waitingFor(reason, 2 * MILLI);
    assertThat(reasonOf(f.generator::nextId)).isEqualTo(reason);
    assertThat(f.waitedNanos).isBetween(2 * MILLI, 3 * MILLI);
    assertThat(
            reasonOf(
                () -> {
                  f.generator.nextIds(new long[3]);
                  return 0;
                }))
        .isEqualTo(reason);
    assertThat(f.waitedNanos).isBetween(2 * MILLI, 3 * MILLI);
  }

  @Test
  void waitsForTheNextTickWhenTheSequenceIsFull() {
    Fixture f = new Fixture(TIGHT, SECOND);
    f.open();
    f.generator.nextIds(new long[4]);
    f.time.tickAtEachRead(100_000);
    assertThat(f.tickOf(f.next())).isEqualTo(START_TICK + 1);
  }

  @Test
  void waitsForTheClockToReachTheWindow() {
    Fixture f = new Fixture(TIGHT, SECOND);
    f.open(SLOT, START + 3, START + WINDOW);
    f.time.tickAtEachRead(100_000);
    assertThat(f.tickOf(f.next())).isEqualTo(START_TICK + 3);
  }

  @Test
  void waitsForAHeldClockToGoOn() {
    Fixture f = new Fixture(TIGHT, SECOND);
    f.open();
    f.generator.nextId();
    f.observe(START - 4); // the id clock goes on at half speed
    f.generator.nextIds(new long[3]);
    f.time.tickAtEachRead(100_000);
    assertThat(f.tickOf(f.next())).isEqualTo(START_TICK + 1);
  }

  @Test
  void aCallerThatWaitsForTheFirstLeaseIsWokenByIt() throws Exception {
    Fixture f = new Fixture(TIGHT, 30 * SECOND);
    AtomicReference<Thread> caller = new AtomicReference<>();
    CompletableFuture<Long> id = inBackground(f.generator::nextId, caller);
    awaitParked(caller);
    f.open();
    assertThat(id.get(20, TimeUnit.SECONDS)).isEqualTo(TIGHT.compose(START_TICK, 3, 17, 0));
  }

  @Test
  void aCallerThatWaitsAtTheEndOfAWindowIsWokenByItsExtension() throws Exception {
    Fixture f = new Fixture(TIGHT, 30 * SECOND);
    LeaseWindow window = f.open(SLOT, START, START);
    f.time.advanceMillis(1);
    AtomicReference<Thread> caller = new AtomicReference<>();
    CompletableFuture<Long> id = inBackground(f.generator::nextId, caller);
    awaitParked(caller);
    f.generator.extend(window, f.window(SLOT, START, START + 1));
    assertThat(id.get(20, TimeUnit.SECONDS)).isEqualTo(TIGHT.compose(START_TICK + 1, 3, 17, 0));
  }

  @Test
  void aCallerThatWaitsForALostLeaseMintsOnTheNextSlot() throws Exception {
    Fixture f = new Fixture(TIGHT, 30 * SECOND);
    f.open();
    f.generator.nextId();
    f.generator.seal();
    AtomicReference<Thread> caller = new AtomicReference<>();
    CompletableFuture<Long> id = inBackground(f.generator::nextId, caller);
    awaitParked(caller);
    f.time.advanceMillis(5);
    f.open(OTHER, START + 5, START + WINDOW);
    assertThat(id.get(20, TimeUnit.SECONDS)).isEqualTo(TIGHT.compose(START_TICK + 5, 9, 1, 0));
  }

  @ParameterizedTest
  @ValueSource(strings = {"NOT_YET", "LOST", "CLOCK_HELD"})
  void aCallerThatWaitsIsToldAtOnceWhenItIsClosed(String name) throws Exception {
    Fixture f = new Fixture(TIGHT, 30 * SECOND);
    if (!name.equals("NOT_YET")) {
      f.open(SLOT, START + (name.equals("LOST") ? 0 : 20_000), START + WINDOW);
    }
    if (name.equals("LOST")) {
      f.generator.seal();
    }
    AtomicReference<Thread> caller = new AtomicReference<>();
    CompletableFuture<Long> id = inBackground(f.generator::nextId, caller);
    awaitParked(caller);
    f.generator.close();
    Throwable failure = failureOf(id);
    assertThat(failure).isInstanceOf(NoLeaseException.class);
    assertThat(((NoLeaseException) failure).reason()).isEqualTo(Reason.CLOSED);
  }

  @Test
  void aCallerThatWaitsForAHeldClockMintsWhenAnotherLeaseLetsIt() throws Exception {
    Fixture f = new Fixture(TIGHT, 40 * SECOND);
    f.open(SLOT, START + 20_000, START + WINDOW);
    AtomicReference<Thread> caller = new AtomicReference<>();
    CompletableFuture<Long> id = inBackground(f.generator::nextId, caller);
    awaitParked(caller);
    f.generator.seal();
    f.time.advanceMillis(1);
    f.open(OTHER, START, START + WINDOW);
    assertThat(TIGHT.parse(id.get(15, TimeUnit.SECONDS)).slot()).isEqualTo(OTHER);
  }

  // ---- interrupts

  @ParameterizedTest
  @ValueSource(strings = {"NOT_YET", "LOST", "CLOCK_HELD"})
  void anInterruptedCallerThatWouldHaveToWaitIsToldAtOnceAndStaysInterrupted(String name) {
    Fixture f = waitingFor(Reason.valueOf(name), 30 * SECOND);
    Thread.currentThread().interrupt();
    assertThat(reasonOf(f.generator::nextId)).isEqualTo(Reason.INTERRUPTED);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(f.waitedNanos).isBetween(0L, MILLI);
  }

  @Test
  void anInterruptedCallerWithNothingToWaitForMints() {
    Fixture f = new Fixture(TIGHT, 30 * SECOND);
    f.open();
    Thread.currentThread().interrupt();
    assertThat(f.generator.nextId()).isEqualTo(TIGHT.compose(START_TICK, 3, 17, 0));
    assertThat(Thread.interrupted()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"NOT_YET", "LOST", "CLOCK_HELD"})
  void aCallerInterruptedWhileItWaitsIsToldAtOnceAndStaysInterrupted(String name) throws Exception {
    Fixture f = new Fixture(TIGHT, 40 * SECOND);
    if (!name.equals("NOT_YET")) {
      f.open(SLOT, START + (name.equals("LOST") ? 0 : 20_000), START + WINDOW);
    }
    if (name.equals("LOST")) {
      f.generator.seal();
    }
    AtomicReference<Thread> caller = new AtomicReference<>();
    CompletableFuture<Long> call =
        inBackground(
            () -> {
              Reason reason = reasonOf(f.generator::nextId);
              return reason == Reason.INTERRUPTED && Thread.currentThread().isInterrupted() ? 1 : 0;
            },
            caller);
    awaitParked(caller);
    caller.get().interrupt();
    assertThat(call.get(20, TimeUnit.SECONDS)).isEqualTo(1);
  }

  // ---- before the first answer of the store

  @Property(tries = 200)
  void waitsForTheFirstLeaseWhateverNanoTimeMayBe(@ForAll long origin) {
    ManualTime time = new ManualTime(origin);
    SnowflakeGenerator generator =
        new SnowflakeGenerator(
            TIGHT,
            new IdClock(time, EPOCH, 1),
            time,
            0,
            (reason, waited) -> new NoLeaseException(reason, "", null));
    assertThat(reasonOf(generator::nextId)).isEqualTo(Reason.NOT_YET);
  }

  // ---- horizon

  private static BitLayout endingAt(int timestampBits, int sequenceBits) {
    return new BitLayout(
        Instant.ofEpochMilli(EPOCH), Duration.ofMillis(1), timestampBits, 0, 0, sequenceBits);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 10, 30})
  void mintsUpToTheHorizonAndThenFailsAtOnce(int sequenceBits) {
    BitLayout layout = endingAt(33, sequenceBits);
    Fixture f = new Fixture(layout, 30 * SECOND);
    long horizon = layout.horizon().toEpochMilli();
    f.observe(horizon);
    f.open(new Slot(0, 0), horizon - 5, horizon + WINDOW);
    assertThat(f.tickOf(f.next())).isEqualTo(layout.maxTick());
    f.time.advanceMillis(1);
    assertThatThrownBy(f.generator::nextId)
        .isInstanceOf(HorizonReachedException.class)
        .hasMessage(
            "ids end at the horizon of the layout: horizon="
                + layout.horizon()
                + " layout="
                + layout
                + "; move the table to a layout with a later epoch or more timestamp bits");
    f.time.advanceMillis(100_000);
    assertThatThrownBy(() -> f.generator.nextIds(new long[2]))
        .isInstanceOf(HorizonReachedException.class);
    f.generator.seal();
    assertThatThrownBy(f.generator::nextId).isInstanceOf(HorizonReachedException.class);
    assertThat(f.generator.close()).isEqualTo(layout.maxTick());
    assertThat(reasonOf(f.generator::nextId)).isEqualTo(Reason.CLOSED);
  }

  @Test
  void repeatsNothingWhenItIsReopenedInTheLastTickOfAll() {
    BitLayout layout = endingAt(33, 30); // words of 63 bits
    Fixture f = new Fixture(layout, 0);
    long horizon = layout.horizon().toEpochMilli();
    f.observe(horizon);
    LeaseWindow window = f.open(new Slot(0, 0), horizon - 5, horizon);
    long id = f.generator.nextId();
    for (int i = 0; i < 3; i++) {
      f.generator.seal();
      assertThat(f.generator.lastTick()).isEqualTo(layout.maxTick());
      assertThat(f.generator.open(window)).isTrue();
      assertThat(reasonOf(f.generator::nextId)).as("after %s", id).isEqualTo(Reason.LOST);
    }
    assertThat(f.generator.close()).isEqualTo(layout.maxTick());
  }

  @Test
  void reservesNoMoreThanThereIsAtTheVeryEnd() {
    BitLayout layout = endingAt(33, 30);
    Fixture f = new Fixture(layout, 0);
    long horizon = layout.horizon().toEpochMilli();
    f.observe(horizon);
    f.open(new Slot(0, 0), horizon - 5, horizon);
    f.generator.word = Long.MAX_VALUE - 10; // as if a thousand million ids had been minted
    assertThat(
            reasonOf(
                () -> {
                  f.generator.nextIds(new long[100]);
                  return 0;
                }))
        .isEqualTo(Reason.LOST);
    assertThat(f.generator.lastTick()).isEqualTo(layout.maxTick());
  }

  // ---- batches

  @Test
  void fillsAnArrayWithIdsThatGrow() {
    Fixture f = new Fixture(WIDE, 0);
    f.open();
    long[] ids = new long[4_096];
    f.generator.nextIds(ids);
    for (int i = 0; i < ids.length; i++) {
      assertThat(ids[i]).isEqualTo(WIDE.compose(START_TICK, 3, 17, i));
    }
  }

  @Property(tries = 50)
  void fillsAnArrayBeyondTheEndOfATick(@ForAll @IntRange(max = 100) int length) {
    Fixture f = new Fixture(TIGHT, SECOND);
    f.open();
    f.generator.nextId(); // a batch need not begin at the beginning of a tick
    f.time.tickAtEachRead(100_000);
    long[] ids = new long[length];
    f.generator.nextIds(ids);
    assertThat(Arrays.stream(ids).distinct().count()).isEqualTo(length);
    assertThat(ids).isSorted();
    for (long id : ids) {
      SnowflakeId parts = TIGHT.parse(id);
      assertThat(parts.slot()).isEqualTo(SLOT);
      assertThat(f.tickOf(parts)).isBetween(START_TICK, f.clock.tick());
    }
  }

  @Test
  void waitsInABatchForMaxWaitEachTimeAndNotInAll() {
    Fixture f = new Fixture(TIGHT, 2 * MILLI); // a tick is 1 ms: each wait is shorter
    f.open();
    f.time.tickAtEachRead(100_000);
    long[] ids = new long[40]; // ten ticks: longer in all
    f.generator.nextIds(ids);
    assertThat(ids).isSorted().doesNotContain(0);
  }

  @Test
  void failsWithABatchThatTheWindowCannotHold() {
    Fixture f = new Fixture(TIGHT, 0);
    f.open(SLOT, START, START);
    long[] ids = new long[5];
    assertThat(
            reasonOf(
                () -> {
                  f.generator.nextIds(ids);
                  return 0;
                }))
        .isEqualTo(Reason.LOST);
    // What was reserved is spent, so that nobody else gets it.
    f.generator.seal();
    assertThat(f.generator.lastTick()).isEqualTo(START_TICK);
    assertThat(f.generator.word & 3).isEqualTo(3);
  }

  @Test
  void fillsAnEmptyArrayWithoutWaiting() {
    Fixture f = new Fixture(TIGHT, 0);
    long[] ids = new long[0];
    f.generator.nextIds(ids);
    assertThat(f.waitedNanos).as("not refused").isEqualTo(Long.MIN_VALUE);
  }
}
