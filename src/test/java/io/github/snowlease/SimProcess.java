package io.github.snowlease;

import io.github.snowlease.LeaseStore.Holder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One process with the production manager, generator and clock in it, its threads and its host's
 * clocks. It can be stopped between any two steps, killed, and copied.
 */
final class SimProcess implements TimeSource, LeaseListener, Waiting.Refusal {
  private static final long NANOS_PER_MILLI = 1_000_000;

  @SuppressWarnings(
      "StaticAssignmentOfThrowable") // thrown millions of times, its stack read by nobody
  private static final NoLeaseException NO_ID =
      new NoLeaseException(NoLeaseException.Reason.LOST, "no id", null);

  final Simulation world;
  final int number;
  final Settings settings;
  final boolean infoDenied;

  /** Differs between two copies, so that it must not be drawn from {@link #random}. */
  private final SimRandom luck;

  private final long seed;
  private final Random random;
  private final long nanoOrigin;
  private final IdClock clock;
  private final SnowflakeGenerator generator;
  private final IdSource ids;
  private final NodeLeaseManager manager;
  private final @Nullable SimJournal journal;
  private SimJournal.@Nullable Reader replay;

  private final List<CompletableFuture<Object>> questions = new ArrayList<>();
  private final List<SimIds.Use> uses = new ArrayList<>();
  private long largestReturned;

  /** How long the host was frozen in all; its nanoTime stood still meanwhile. */
  long frozenNanos;

  /** How far the host's wall clock is off. */
  long wallOffsetMillis;

  /** All threads stand still until then. */
  long stoppedUntil;

  /** Nothing goes to or comes from Redis until then. */
  long partitionedUntil;

  int partitionKind;

  /** On which side of a split brain this process is. */
  boolean seesOldMaster;

  /** When the newest of its commands that have reached Redis was sent. */
  long newestCommandSeen;

  /** When something last happened to this process that may cost it its lease. */
  long disturbedAt = Long.MIN_VALUE / 2;

  static final long EXIT_GRACE_MILLIS = 10_000;

  boolean isDead;
  boolean closeRequested;

  /** Its host's wall clock was stepped since its last beat. */
  boolean hasUnnoticedClockStep;

  boolean isTerminated;

  /** The copy of a frozen machine serves no requests before its first beat. */
  boolean servesRequests = true;

  private int stepsUnderWay;
  private boolean leaseThreadIsBusy;

  /** Whose step is under way: the lease thread's or another's. */
  private boolean onLeaseThread;

  private boolean leaseThreadWoken;
  private int pollTicket;
  private int unansweredInARow;
  private int stepsToStop;
  private Runnable meanwhile = () -> {};

  SimProcess(Simulation world, int number, Settings settings, boolean infoDenied, long seed) {
    this(world, number, settings, infoDenied, seed, world.randomBits(), null);
    this.wallOffsetMillis = world.wallOffsetOfNewHost();
  }

  private SimProcess(
      Simulation world,
      int number,
      Settings settings,
      boolean infoDenied,
      long seed,
      long luckSeed,
      SimJournal.@Nullable Reader replay) {
    this.world = world;
    this.number = number;
    this.settings = settings;
    this.infoDenied = infoDenied;
    this.seed = seed;
    this.luck = new SimRandom(luckSeed);
    this.replay = replay;
    this.journal = world.copiesProcesses() && replay == null ? new SimJournal() : null;
    this.random = new Random(seed);
    this.nanoOrigin = random.nextLong(); // nanoTime may wrap at any time
    TimeSource time = world.system.clocksOf(this);
    this.clock = new IdClock(time, settings.layout.epochMillis(), settings.layout.tickMillis());
    this.generator = world.system.generatorOf(this, settings.layout, clock, time);
    this.ids = world.system.idsOf(generator, settings.layout, clock);
    this.manager =
        new NodeLeaseManager(
            world.system.storeOf(this, new SimStore(this)),
            settings.terms,
            settings.layout,
            settings.range,
            settings.timings,
            time,
            random,
            clock,
            generator,
            new Holder("host", number, "", 0, ""),
            this);
    manager.onWakeUp(this::wakeLeaseThread);
  }

  // ---- Clocks

  @Override
  public long nanoTime() {
    if (replay != null) {
      return replayUntil(SimJournal.NANO_TIME);
    }
    long value = currentNanos();
    // Stopped after the clock was read: what it read is old when it goes on.
    maybeStop();
    return journaled(SimJournal.NANO_TIME, value);
  }

  @Override
  public long wallMillis() {
    if (replay != null) {
      return replayUntil(SimJournal.WALL_TIME);
    }
    return journaled(SimJournal.WALL_TIME, world.trueMillis() + wallOffsetMillis);
  }

  /** Odd, so that a call with no time to wait for is refused at once: see await(). */
  private long currentNanos() {
    return (nanoOrigin + world.now - frozenNanos) | 1;
  }

  private long journaled(byte kind, long value) {
    if (journal != null) {
      journal.add(kind, value);
    }
    return value;
  }

  IdClock idClock() {
    return clock;
  }

  SnowflakeGenerator generator() {
    return generator;
  }

  NodeLeaseManager manager() {
    return manager;
  }

  // ---- Steps

  /** Between two steps of the code under test. */
  void step() {
    if (replay != null) {
      replayUntil(SimJournal.STEP);
      return;
    }
    maybeStop();
    journaled(SimJournal.STEP, 0);
  }

  /** At the step that comes then, counted from 1, something happens before it. */
  void stopAtStep(int count, Runnable whatHappens) {
    stepsToStop = count;
    meanwhile = whatHappens;
  }

  private void maybeStop() {
    if (stepsToStop > 0 && --stepsToStop == 0) {
      meanwhile.run();
    }
    world.maybeStop(this, onLeaseThread);
  }

  boolean isInsideAStep() {
    return stepsUnderWay > 0;
  }

  // ---- The lease thread

  void start() {
    planPoll(luck.between(0, 1_000_000));
    planMint();
  }

  private void wakeLeaseThread() {
    if (replay != null) {
      return;
    }
    if (leaseThreadIsBusy) {
      leaseThreadWoken = true;
    } else {
      planPoll(luck.between(20_000, 500_000));
    }
  }

  private void planPoll(long delayNanos) {
    int ticket = ++pollTicket;
    world.plan(this, world.now + delayNanos, () -> pollIf(ticket));
  }

  private void pollIf(int ticket) {
    if (ticket != pollTicket || leaseThreadIsBusy || isTerminated) {
      return;
    }
    leaseThreadWoken = false;
    hasUnnoticedClockStep = false;
    long wakeAt = poll();
    servesRequests = true;
    if (manager.isTerminated()) {
      isTerminated = true;
      world.terminated(this);
      return;
    }
    long pause = leaseThreadWoken ? 0 : Math.max(0, wakeAt - currentNanos());
    planPoll(pause + luck.between(20_000, 500_000));
  }

  private long poll() {
    journaled(SimJournal.POLL, 0);
    boolean before = onLeaseThread;
    leaseThreadIsBusy = true;
    onLeaseThread = true;
    stepsUnderWay++;
    try {
      return manager.poll();
    } catch (RuntimeException e) {
      world.beatFailed(this, e);
      return currentNanos() + 100 * NANOS_PER_MILLI;
    } finally {
      stepsUnderWay--;
      leaseThreadIsBusy = false;
      onLeaseThread = before;
    }
  }

  // ---- Minting threads

  private void planMint() {
    long gap = luck.between(NANOS_PER_MILLI / 2, 2 * Simulation.MEAN_MINTING_GAP_NANOS);
    world.plan(this, world.now + gap, this::serveRequest);
  }

  /** One id, now; what it is and whether there is one the simulation records. */
  void mintOne() {
    mint(1);
  }

  private void serveRequest() {
    planMint();
    if (servesRequests) {
      int count = luck.oneIn(8) ? (int) luck.between(2, 5) : 1;
      if (count % 2 == 0 && ids instanceof StripedGenerator) {
        // One by one, so that blocks grow.
        for (int i = 0; i < 2 * count; i++) {
          mint(1);
        }
      } else {
        mint(count);
      }
    }
  }

  private void mint(int count) {
    journaled(SimJournal.MINT, count);
    boolean wasOnLeaseThread = onLeaseThread;
    onLeaseThread = false;
    stepsUnderWay++;
    long before = largestReturned;
    try {
      if (count == 1) {
        minted(ids.nextId(), before);
      } else {
        long[] batch = new long[count];
        ids.nextIds(batch);
        long last = before;
        for (long id : batch) {
          minted(id, last);
          last = id;
        }
      }
    } catch (NoLeaseException e) {
      world.refusals++;
    } finally {
      stepsUnderWay--;
      onLeaseThread = wasOnLeaseThread;
    }
  }

  private void minted(long id, long greaterThan) {
    if (replay != null || isDead) {
      return;
    }
    world.minted(this, id, id > greaterThan);
    largestReturned = Math.max(largestReturned, id);
    long slotBits =
        (id & (settings.layout.maxId() >>> settings.layout.timestampBits()))
            >>> settings.layout.sequenceBits();
    long tick = id >>> settings.layout.timestampShift();
    for (int i = uses.size() - 1; i >= 0; i--) {
      SimIds.Use use = uses.get(i);
      if (use.slotBits == slotBits && use.firstTick <= tick) {
        use.lowest = Math.min(use.lowest, tick);
        use.highest = Math.max(use.highest, tick);
        return;
      }
    }
    SimIds.Use unknown = new SimIds.Use(number, slotBits, tick);
    unknown.lowest = tick;
    unknown.highest = tick;
    uses.add(unknown);
    world.ids.add(unknown);
  }

  /** The generator was opened on a window. */
  void opened(LeaseWindow window, long firstTick) {
    if (replay == null) {
      SimIds.Use use =
          new SimIds.Use(number, window.idOf(0) >>> settings.layout.sequenceBits(), firstTick);
      uses.add(use);
      world.ids.add(use);
    }
  }

  @Override
  public NoLeaseException explain(NoLeaseException.Reason reason, long waitedNanos) {
    return NO_ID; // thrown often, looked at by nobody
  }

  // ---- Closing

  /** What {@code Snowflake.close()} does, on a thread of the application. */
  void close() {
    closeRequested = true;
    long lastTick = closeGenerator();
    if (lastTick != SnowflakeGenerator.CLOSED) {
      // The thread may be stopped here, too.
      world.plan(this, world.now + luck.spread(1_000, 10_000_000), () -> closeManager(lastTick));
    }
  }

  /** The first half of closing: from now on this thread may be stopped before the second. */
  long closeGenerator() {
    journaled(SimJournal.CLOSE_GENERATOR, 0);
    boolean wasOnLeaseThread = onLeaseThread;
    onLeaseThread = false;
    stepsUnderWay++;
    try {
      return generator.close();
    } finally {
      stepsUnderWay--;
      onLeaseThread = wasOnLeaseThread;
    }
  }

  /** The second half of closing. */
  void closeManager(long lastTick) {
    journaled(SimJournal.CLOSE_MANAGER, lastTick);
    manager.close(lastTick);
  }

  /** What the hook of {@code closeOnJvmExit} does. */
  void exit() {
    closeRequested = true;
    journaled(SimJournal.DRAIN, 0);
    manager.drain(EXIT_GRACE_MILLIS);
  }

  // ---- The store

  CompletableFuture<Object> newQuestion() {
    CompletableFuture<Object> question = new CompletableFuture<>();
    questions.add(question);
    return question;
  }

  int newestQuestion() {
    return questions.size() - 1;
  }

  boolean isReplaying() {
    return replay != null;
  }

  void answer(int question, Object answer) {
    if (journal != null) {
      journal.addAnswer(question, answer);
    }
    boolean wasOnLeaseThread = onLeaseThread;
    onLeaseThread = false;
    stepsUnderWay++;
    try {
      if (answer instanceof Throwable failure) {
        questions.get(question).completeExceptionally(failure);
      } else {
        questions.get(question).complete(answer);
      }
    } finally {
      stepsUnderWay--;
      onLeaseThread = wasOnLeaseThread;
    }
  }

  void wentUnanswered() {
    unansweredInARow++;
    // So many questions fit into a window, each with its timeout and the longest pause after it.
    long attempts =
        (settings.terms.window() - settings.timings.heartbeatMillis() * 6 / 5)
            / (settings.terms.commandTimeout() + 500);
    if (unansweredInARow >= attempts) {
      disturbedAt = world.now;
    }
  }

  void wasAnswered() {
    unansweredInARow = 0;
  }

  @Override
  public void onChange(LeaseEvent event) {
    if (replay == null) {
      world.leaseChanged(this, event);
    }
  }

  // ---- Copying

  /** Whether it keeps the journal from which a copy is made. */
  boolean isOriginal() {
    return journal != null;
  }

  /**
   * What is needed to make a copy of this process as it is now, later.
   *
   * @return where its journal ends
   */
  Snapshot snapshot() {
    SimJournal kept = journal;
    if (kept == null) {
      throw new IllegalStateException("processes are copied only in runs with that fault");
    }
    return new Snapshot(kept.reader(), currentNanos(), wallOffsetMillis, uses.size());
  }

  /** A frozen process. */
  final class Snapshot {
    private final SimJournal.Reader reader;
    private final long nanos;
    private final long wallOffset;
    private final int uses;

    private Snapshot(SimJournal.Reader reader, long nanos, long wallOffset, int uses) {
      this.reader = reader;
      this.nanos = nanos;
      this.wallOffset = wallOffset;
      this.uses = uses;
    }

    /**
     * Thaws the copy: a process whose nanoTime has stood still since, on a host whose clock has
     * not.
     */
    SimProcess thaw(int number) {
      SimProcess copy =
          new SimProcess(world, number, settings, infoDenied, seed, world.randomBits(), reader);
      while (!reader.isAtEnd()) {
        copy.replayNext();
      }
      copy.replay = null;
      copy.frozenNanos = copy.nanoOrigin + world.now - nanos;
      copy.wallOffsetMillis = wallOffset;
      copy.closeRequested = closeRequested && copy.generator.word() == SnowflakeGenerator.CLOSED;
      // Two copies draw different numbers, as SecureRandom takes them from the system.
      copy.random.setSeed(world.randomBits());
      copy.servesRequests = false;
      copy.disturbedAt = world.now;
      for (int i = 0; i < uses; i++) {
        SimIds.Use known = SimProcess.this.uses.get(i);
        SimIds.Use own = new SimIds.Use(number, known.slotBits, known.firstTick);
        copy.uses.add(own);
        world.ids.add(own);
      }
      copy.planPoll(0);
      copy.planMint();
      return copy;
    }
  }

  private long replayUntil(byte kind) {
    SimJournal.Reader reader = replayReader();
    while (reader.nextKind() != kind) {
      replayNext();
    }
    return reader.take();
  }

  private SimJournal.Reader replayReader() {
    SimJournal.Reader reader = replay;
    if (reader == null) {
      throw new IllegalStateException("only a copy that is being made replays");
    }
    return reader;
  }

  private void replayNext() {
    SimJournal.Reader reader = replayReader();
    byte kind = reader.nextKind();
    long value = reader.take();
    switch (kind) {
      case SimJournal.POLL -> poll();
      case SimJournal.MINT -> mint((int) value);
      case SimJournal.CLOSE_GENERATOR -> closeGenerator();
      case SimJournal.CLOSE_MANAGER -> closeManager(value);
      case SimJournal.DRAIN -> exit();
      case SimJournal.ANSWER -> answer((int) value, reader.takeAnswer());
      default -> throw new IllegalStateException("a copy went another way than its original");
    }
  }
}
