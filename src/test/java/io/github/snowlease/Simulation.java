package io.github.snowlease;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Five minutes of a fleet in virtual time, from one seed, on one thread: the production classes, a
 * model of the scripts, and faults at random.
 *
 * <p><b>Stopping inside a step.</b> The code under test runs on this thread. To stop one of its
 * threads between two steps, the hook at that place runs the rest of the world from within: the
 * other processes, the network, Redis, and the other threads of the same process. So the production
 * {@code nextId} itself is what is stopped between reading its window and its compare-and-set.
 */
// Ordinals index arrays of counters; the exceptions unwind a run, and their stack is read by
// nobody.
@SuppressWarnings({"EnumOrdinal", "StaticAssignmentOfThrowable"})
final class Simulation {
  static final long NANOS_PER_MILLI = 1_000_000;
  static final long MEAN_MINTING_GAP_NANOS = 100 * NANOS_PER_MILLI;

  private static final long SECOND = 1_000 * NANOS_PER_MILLI;
  private static final long DURATION = 300 * SECOND;
  private static final long EXCUSE_NANOS = 100 * SECOND;
  private static final String NAMESPACE = "sim";

  /** The clocks of the two masters may differ, too, by 300 ms at most. */
  private static final long LONGEST_SPLIT_BRAIN = (LeaseTerms.GRACE - 500) * NANOS_PER_MILLI;

  private static final int MAX_NESTING = 4;
  private static final Map<String, Settings> SETTINGS = new ConcurrentHashMap<>();

  /** A Redis process: its memory, its clock, and copies of its memory as it was. */
  private static final class Server {
    final SimLedgerModel memory;
    final long clockOffsetMillis;
    final List<Copy> copies = new ArrayList<>();
    long downUntil;
    String lastRev = "";

    Server(SimLedgerModel memory, long clockOffsetMillis) {
      this.memory = memory;
      this.clockOffsetMillis = clockOffsetMillis;
    }
  }

  private record Copy(long time, SimLedgerModel memory) {}

  /** Told what happens, to find out why; null in a hurry. */
  @Nullable Consumer<String> trace;

  final SimSystem system;
  final SimFaultSet faultSet;
  final SimIds ids = new SimIds();
  final Map<SimFault, Integer> fired = new EnumMap<>(SimFault.class);

  /** Nanoseconds since the run began. */
  long now;

  /** How often a caller got no id. */
  long refusals;

  /** How often an id was not greater than one that had been returned before the call. */
  int outOfOrder;

  /** How often a beat of the lease thread threw something. */
  int failedBeats;

  /** How often a lease was lost. */
  int leasesLost;

  /** How often a lease was lost though nothing had happened that excuses it. */
  int leasesLostWithoutReason;

  private final SimRandom random;

  /** Whether nothing goes wrong but what a test asks for. */
  private final boolean scripted;

  private final SimAgenda agenda = new SimAgenda();
  private final long bootMillis;
  private final int slotBits;
  private final int tickMillis;
  private final int sequenceBits;
  private final boolean shortLease;
  private final List<SimProcess> processes = new ArrayList<>();
  private long redisStepMillis;
  private Server redis;
  private @Nullable Server oldMaster;
  private long redisDisturbedAt = Long.MIN_VALUE / 2;
  private int processNumber;
  private long runIds;
  private long stopLimit = DURATION;
  private int nesting;
  private long hash = 0xcbf29ce484222325L;

  private Simulation(long seed, SimFaultSet faultSet, SimSystem system, boolean scripted) {
    this.system = system;
    this.faultSet = faultSet;
    this.scripted = scripted;
    this.random = new SimRandom(seed);
    this.bootMillis = 1_750_000_000_000L + random.between(0, 1_000_000_000_000L);
    this.slotBits = scripted ? 1 : (int) random.between(1, 2);
    this.tickMillis = scripted ? 100 : new int[] {1, 1, 10, 100, 1_000}[random.nextInt(5)];
    this.sequenceBits = (int) random.between(2, 6);
    this.shortLease = !scripted && random.oneIn(4);
    this.redis = new Server(system.newServer(), scripted ? 0 : random.between(-500, 500));
    redis.memory.runId = newRunId();
  }

  static Simulation run(long seed, SimFaultSet faultSet, SimSystem system) {
    Simulation simulation = new Simulation(seed, faultSet, system, false);
    simulation.run();
    return simulation;
  }

  /** Seeds take turns through the fault sets. */
  static Simulation run(long seed) {
    return run(seed, SimFaultSet.of(seed), SimSystem.UNCHANGED);
  }

  /** Two slots, a namespace that was just created, ticks of 100 ms; a test says what happens. */
  static Simulation scripted(SimSystem system) {
    // The set in which processes can be copied.
    Simulation simulation = new Simulation(1, SimFaultSet.CLONES, system, true);
    simulation.setClock(simulation.redis);
    simulation.redis.memory.createNamespace(simulation.newSettings().terms);
    simulation.keepCopy(simulation.redis);
    return simulation;
  }

  /** Tells what happens in a run. */
  static void trace(long seed, Consumer<String> listener) {
    Simulation simulation = new Simulation(seed, SimFaultSet.of(seed), SimSystem.UNCHANGED, false);
    simulation.trace = listener;
    simulation.run();
    simulation.ids.describeOverlaps(listener);
  }

  private void run() {
    setClock(redis);
    if (!random.oneIn(8)) {
      redis.memory.createNamespace(newSettings().terms);
    }
    keepCopy(redis);
    int fleet = (int) random.between(3, 5);
    for (int i = 0; i < fleet; i++) {
      agenda.add(random.between(0, 5 * SECOND), this::startProcess);
    }
    planNextFault();
    planNextDataFault();
    runUntil(DURATION);
    mix(ids.count());
  }

  private void runUntil(long time) {
    while (agenda.hasUntil(time)) {
      now = Math.max(now, agenda.nextTime());
      agenda.take().run();
    }
    now = Math.max(now, time);
  }

  /** The same for two runs that did the same. */
  long traceHash() {
    return hash;
  }

  private void mix(long value) {
    hash = (hash ^ value) * 0x100000001b3L;
    hash ^= hash >>> 29;
  }

  void tell(Supplier<String> what) {
    Consumer<String> listening = trace;
    if (listening != null) {
      listening.accept(String.format("%9.3f %s", now / 1e9, what.get()));
    }
  }

  private void fire(SimFault fault) {
    tell(fault::name);
    fired.merge(fault, 1, Integer::sum);
    mix(fault.ordinal());
    mix(now);
  }

  boolean copiesProcesses() {
    return faultSet.has(SimFault.CLONE);
  }

  long randomBits() {
    return random.nextLong();
  }

  // ---- Processes

  private Settings newSettings() {
    int leaseSeconds = shortLease ? 10 : 30;
    if (faultSet.has(SimFault.MIXED_LEASE_TTL)) {
      leaseSeconds = new int[] {10, 30, 60}[random.nextInt(3)];
      fired.merge(SimFault.MIXED_LEASE_TTL, 1, Integer::sum);
    }
    String layout =
        "epoch=1700000000000,tick=" + tickMillis + ",bits=41/0/" + slotBits + "/" + sequenceBits;
    int seconds = leaseSeconds;
    return SETTINGS.computeIfAbsent(
        layout + seconds,
        key ->
            settings(
                Map.of(
                    Setting.NAMESPACE,
                    NAMESPACE,
                    Setting.LAYOUT,
                    BitLayout.of(layout),
                    Setting.LEASE_TTL,
                    Duration.ofSeconds(seconds))));
  }

  private static Settings settings(Map<Setting, Object> built) {
    return new Settings(built, name -> null, name -> null);
  }

  private void startProcess() {
    boolean infoDenied = faultSet.has(SimFault.INFO_DENIED) && random.oneIn(2);
    if (infoDenied) {
      fire(SimFault.INFO_DENIED);
    }
    start(newSettings(), infoDenied);
  }

  private SimProcess start(Settings settings, boolean infoDenied) {
    SimProcess process =
        new SimProcess(this, processNumber++, settings, infoDenied, random.nextLong());
    processes.add(process);
    process.start();
    return process;
  }

  long wallOffsetOfNewHost() {
    if (scripted) {
      return 0;
    }
    return random.oneIn(10) ? random.between(-8_000, 8_000) : random.between(-1_000, 1_000);
  }

  long trueMillis() {
    return bootMillis + now / NANOS_PER_MILLI;
  }

  /** Something that a process does, as soon as it runs. */
  void plan(SimProcess process, long time, Runnable action) {
    agenda.add(time, () -> perform(process, action));
  }

  private void perform(SimProcess process, Runnable action) {
    if (process.isDead) {
      return;
    }
    if (process.stoppedUntil > now) {
      // Which of its threads runs first afterwards is anybody's guess.
      plan(process, process.stoppedUntil + random.between(0, 5 * NANOS_PER_MILLI), action);
      return;
    }
    action.run();
  }

  /** The slot is handed back; requests that are being served still ask for ids for a while. */
  void terminated(SimProcess process) {
    agenda.add(now + random.between(SECOND, 15 * SECOND), () -> end(process));
  }

  private void end(SimProcess process) {
    if (!process.isDead) {
      process.isDead = true;
      processes.remove(process);
      agenda.add(now + random.spread(SECOND / 10, 30 * SECOND), this::restartProcess);
    }
  }

  private void restartProcess() {
    fire(SimFault.RESTART_OF_PROCESS);
    startProcess();
  }

  void minted(SimProcess process, long id, boolean inOrder) {
    mix(id);
    mix(process.number);
    boolean isNew = ids.add(id);
    tell(
        () ->
            process.number
                + " minted "
                + process.settings.layout.parse(id)
                + (isNew ? "" : " DUPLICATE"));
    if (!inOrder) {
      outOfOrder++;
    }
  }

  void beatFailed(SimProcess process, RuntimeException failure) {
    failedBeats++;
    mix(process.number);
    mix(failure.getClass().getName().hashCode());
  }

  void leaseChanged(SimProcess process, LeaseEvent event) {
    mix(event.to().ordinal());
    tell(() -> process.number + " " + event);
    if (event.to() == LeaseState.ACQUIRING) {
      leasesLost++;
      if (now - Math.max(process.disturbedAt, redisDisturbedAt) > EXCUSE_NANOS) {
        leasesLostWithoutReason++;
        tell(() -> "LOST WITHOUT REASON by " + process.number);
      }
    }
  }

  // ---- Stopping threads and processes

  /** A place between two steps of a process's thread, where it may be stopped. */
  void maybeStop(SimProcess process, boolean leaseThread) {
    if (scripted
        || !random.oneIn(leaseThread ? 1_500 : 5_000)
        || nesting == MAX_NESTING
        || process.isDead) {
      return;
    }
    long end = Math.min(stopLimit, now + random.spread(NANOS_PER_MILLI / 10, 60 * SECOND));
    fire(leaseThread ? SimFault.LEASE_THREAD_PAUSE : SimFault.MINTING_PAUSE);
    if (random.oneIn(2)) {
      process.stoppedUntil = Math.max(process.stoppedUntil, end);
    }
    if ((leaseThread || process.stoppedUntil > now) && end - now > 2 * SECOND) {
      process.disturbedAt = end;
    }
    long outerLimit = stopLimit;
    stopLimit = end;
    nesting++;
    runUntil(end);
    nesting--;
    stopLimit = outerLimit;
  }

  private void pauseProcess(SimProcess process) {
    fire(SimFault.PROCESS_PAUSE);
    tell(() -> "process " + process.number);
    process.stoppedUntil =
        Math.max(process.stoppedUntil, now + random.spread(SECOND / 100, 60 * SECOND));
    process.disturbedAt = process.stoppedUntil;
  }

  /** Its nanoTime stands still meanwhile. */
  private void freeze(SimProcess process) {
    if (process.stoppedUntil > now) {
      return;
    }
    fire(SimFault.FREEZE);
    long span = random.spread(SECOND / 10, 60 * SECOND);
    process.stoppedUntil = now + span;
    process.frozenNanos += span;
    process.disturbedAt = process.stoppedUntil;
  }

  private void copy(SimProcess process) {
    if (process.hasUnnoticedClockStep) {
      return; // a step by as long as the copy will have slept would hide that: see safety.md
    }
    SimProcess.Snapshot snapshot = process.snapshot();
    agenda.add(
        now + random.between(7 * SECOND, 90 * SECOND),
        () -> {
          fire(SimFault.CLONE);
          SimProcess copy = snapshot.thaw(processNumber++);
          processes.add(copy);
          if (random.oneIn(3)) {
            partition(copy); // its network comes up late
          }
        });
  }

  // ---- Network

  void send(SimProcess process, int question, Object request, Function<SimLedgerModel, ?> command) {
    long delay =
        random.oneIn(20)
            ? random.spread(NANOS_PER_MILLI, SECOND / 2)
            : random.spread(50_000, 3 * NANOS_PER_MILLI);
    Delivery delivery = new Delivery(process, question, request, command, now);
    if (now < process.partitionedUntil) {
      sendIntoPartition(process, question, delivery);
      return;
    }
    switch (scripted ? 99 : random.nextInt(100)) {
      case 0, 1 -> {
        fire(SimFault.REQUEST_LOST);
        process.wentUnanswered();
      }
      case 2, 3, 4 -> {
        fire(SimFault.REPLY_LOST);
        process.wentUnanswered();
        delivery.loseReply = true;
        agenda.add(now + delay, delivery);
      }
      case 5, 6 -> {
        fire(SimFault.REQUEST_LATE);
        process.wentUnanswered();
        agenda.add(now + random.spread(SECOND / 2, 60 * SECOND), delivery);
      }
      case 7, 8 -> {
        fire(SimFault.REQUEST_TWICE);
        agenda.add(now + delay, delivery);
        agenda.add(now + delay + random.spread(NANOS_PER_MILLI, 30 * SECOND), delivery);
      }
      case 9 -> {
        fire(SimFault.SHORT_WAIT);
        process.wentUnanswered();
        delivery.tooFewReplicas = true;
        agenda.add(now + delay, delivery);
      }
      default -> agenda.add(now + delay, delivery);
    }
  }

  private void sendIntoPartition(SimProcess process, int question, Delivery delivery) {
    switch (process.partitionKind) {
      case 0 ->
          plan(
              process, now + NANOS_PER_MILLI, () -> process.answer(question, Failures.UNREACHABLE));
      case SWALLOWING -> {}
      case LOSING_REPLIES -> {
        delivery.loseReply = true;
        agenda.add(now + NANOS_PER_MILLI, delivery);
      }
      default -> agenda.add(process.partitionedUntil + random.between(0, SECOND / 10), delivery);
    }
  }

  /** A command on its way; run whenever it reaches Redis. */
  private final class Delivery implements Runnable {
    private final SimProcess process;
    private final int question;
    private final Object request;
    private final Function<SimLedgerModel, ?> command;
    private final long sentAt;
    boolean loseReply;
    boolean tooFewReplicas;
    private int executions;

    Delivery(
        SimProcess process,
        int question,
        Object request,
        Function<SimLedgerModel, ?> command,
        long sentAt) {
      this.process = process;
      this.question = question;
      this.request = request;
      this.command = command;
      this.sentAt = sentAt;
    }

    @Override
    public void run() {
      Server server = serverOf(process);
      if (now < server.downUntil) {
        if (random.oneIn(2)) {
          reply(Failures.UNREACHABLE);
        }
        return;
      }
      if (sentAt < process.newestCommandSeen) {
        fire(SimFault.REORDERED);
      }
      process.newestCommandSeen = Math.max(process.newestCommandSeen, sentAt);
      setClock(server);
      server.memory.infoDenied = process.infoDenied;
      Object answer = command.apply(server.memory);
      keepCopy(server);
      mix(now);
      mix(answer.toString().hashCode());
      tell(() -> process.number + " asked at " + sentAt / 1e9 + " " + request + " -> " + answer);
      if (++executions > 1 && answer instanceof LeaseStore.Lost) {
        // Refused by the mark of its own first execution. If that answer comes first, or the first
        // was lost on a connection since replaced, the holder cannot know better.
        process.disturbedAt = now;
      }
      if (!loseReply) {
        reply(tooFewReplicas ? Failures.TOO_FEW_REPLICAS : answer);
      }
    }

    private void reply(Object answer) {
      long delay =
          random.oneIn(20)
              ? random.spread(NANOS_PER_MILLI, SECOND)
              : random.spread(50_000, 3 * NANOS_PER_MILLI);
      plan(
          process,
          now + delay,
          () -> {
            if (now >= process.partitionedUntil || process.partitionKind == 0) {
              if (!(answer instanceof Throwable)) {
                process.wasAnswered();
              }
              process.answer(question, answer);
            }
          });
    }
  }

  /** Made once: a stack trace costs more than the rest of a failed command. */
  private static final class Failures {
    static final LeaseStoreException UNREACHABLE =
        new LeaseStoreException(LeaseStoreException.Reason.UNREACHABLE, "unreachable", null);
    static final LeaseStoreException TOO_FEW_REPLICAS =
        new LeaseStoreException(
            LeaseStoreException.Reason.TOO_FEW_REPLICAS, "too few replicas", null);

    private Failures() {}
  }

  private void partition(SimProcess process) {
    fire(SimFault.PARTITION);
    partition(process, random.nextInt(4), random.spread(SECOND / 2, 60 * SECOND));
  }

  private void partition(SimProcess process, int kind, long span) {
    process.partitionKind = kind;
    process.partitionedUntil = now + span;
    process.disturbedAt = process.partitionedUntil;
  }

  // ---- Redis

  private void setClock(Server server) {
    server.memory.now = trueMillis() + server.clockOffsetMillis + redisStepMillis;
  }

  private String newRunId() {
    return Long.toHexString(0x1000 + runIds++);
  }

  private Server serverOf(SimProcess process) {
    Server old = oldMaster;
    return old != null && process.seesOldMaster ? old : redis;
  }

  private void keepCopy(Server server) {
    String rev = server.memory.ledger.get("rev");
    if (!server.lastRev.equals(rev)) {
      server.lastRev = String.valueOf(rev);
      SimLedgerModel copy = new SimLedgerModel();
      copy.copyMemoryFrom(server.memory);
      server.copies.add(new Copy(now, copy));
    }
  }

  /** The memory as it was then. */
  private static SimLedgerModel copyAsOf(Server server, long time) {
    List<Copy> copies = server.copies;
    for (int i = copies.size() - 1; i > 0; i--) {
      if (copies.get(i).time <= time) {
        return copies.get(i).memory;
      }
    }
    return copies.get(0).memory;
  }

  /** Another Redis process, which begins with a memory. */
  private Server successor(@Nullable SimLedgerModel memory, long downNanos) {
    SimLedgerModel next = system.newServer();
    next.runId = newRunId();
    if (memory != null) {
      next.copyMemoryFrom(memory);
    }
    Server server = new Server(next, redis.clockOffsetMillis + random.between(-300, 300));
    server.downUntil = now + downNanos;
    setClock(server);
    keepCopy(server);
    return server;
  }

  private void restart(@Nullable SimLedgerModel memory) {
    redis = successor(memory, random.spread(SECOND / 10, 20 * SECOND));
    oldMaster = null;
  }

  // ---- Faults

  private void planNextFault() {
    agenda.add(now + random.spread(SECOND / 2, 20 * SECOND), this::doFault);
  }

  private void doFault() {
    planNextFault();
    if (processes.isEmpty()) {
      return;
    }
    SimProcess process = processes.get(random.nextInt(processes.size()));
    if (process.isDead) {
      return;
    }
    switch (random.nextInt(10)) {
      case 0, 1 -> pauseProcess(process);
      case 2 -> {
        if (!process.isInsideAStep()) {
          freeze(process);
        }
      }
      case 3, 4 -> partition(process);
      case 5 -> {
        fire(SimFault.CRASH);
        end(process);
      }
      case 6 -> {
        if (process.stoppedUntil <= now && !process.closeRequested) {
          boolean exits = random.oneIn(2);
          fire(exits ? SimFault.EXIT : SimFault.CLOSE);
          if (exits) {
            process.exit();
          } else {
            process.close();
          }
        }
      }
      case 7, 8 -> {
        if (faultSet.has(SimFault.HOST_CLOCK_STEP)) {
          fire(SimFault.HOST_CLOCK_STEP);
          process.wallOffsetMillis = random.oneIn(3) ? 0 : random.spreadEitherWay(10, 3_600_000);
          process.hasUnnoticedClockStep = true;
        }
      }
      default -> {
        if (copiesProcesses() && !process.isInsideAStep() && process.isOriginal()) {
          copy(process);
        }
      }
    }
  }

  private void planNextDataFault() {
    agenda.add(now + random.spread(2 * SECOND, 120 * SECOND), this::doDataFault);
  }

  private void doDataFault() {
    planNextDataFault();
    List<SimFault> possible = new ArrayList<>(4);
    for (SimFault fault : faultSet.extra) {
      if (fault.compareTo(SimFault.REDIS_CLOCK_STEP) >= 0
          && fault.compareTo(SimFault.EVICTION_OF_LEDGER) <= 0) {
        possible.add(fault);
      }
    }
    if (possible.isEmpty()) {
      return;
    }
    SimFault fault = possible.get(random.nextInt(possible.size()));
    if (oldMaster != null) {
      return; // one thing after another
    }
    fire(fault);
    redisDisturbedAt = now;
    switch (fault) {
      case REDIS_CLOCK_STEP ->
          redisStepMillis = random.oneIn(4) ? 0 : random.spreadEitherWay(100, 200_000);
      case FLUSHALL -> redis.memory.flush();
      case RESTART_KEEPING_ALL -> restart(redis.memory);
      case RESTART_EMPTY -> restart(null);
      case RESTART_FROM_OLD_COPY -> restart(copyAsOf(redis, random.between(0, now)));
      case FAILOVER -> restart(copyAsOf(redis, now - random.between(0, 2 * SECOND)));
      case SPLIT_BRAIN -> splitBrain();
      case EVICTION_OF_LEASE_KEYS -> redis.memory.leaseKeys.clear();
      case EVICTION_OF_LEDGER -> redis.memory.ledger.clear();
      default -> throw new IllegalStateException("no fault of the data: " + fault);
    }
  }

  private void splitBrain() {
    oldMaster = redis;
    redis = successor(copyAsOf(redis, now - random.between(0, 2 * SECOND)), 0);
    for (SimProcess process : processes) {
      process.seesOldMaster = random.oneIn(2);
    }
    agenda.add(
        now + random.spread(SECOND / 10, LONGEST_SPLIT_BRAIN),
        () -> {
          oldMaster = null;
          redisDisturbedAt = now;
        });
  }

  // ---- What a scripted run is told

  private static final int SWALLOWING = 1;
  private static final int LOSING_REPLIES = 2;

  SimProcess start() {
    return start(newSettings(), false);
  }

  /** A process that leases exactly this node. */
  SimProcess startOn(int node) {
    return start(settingsWith(Map.of(Setting.CLUSTER_ID, 0, Setting.NODE_ID, node)), false);
  }

  SimProcess startOn(int node, Duration leaseTtl) {
    return start(
        settingsWith(
            Map.of(Setting.CLUSTER_ID, 0, Setting.NODE_ID, node, Setting.LEASE_TTL, leaseTtl)),
        false);
  }

  SimProcess startWithOtherLayout() {
    BitLayout other = BitLayout.of("epoch=1700000000000,tick=100,bits=40/0/1/6");
    return start(settingsWith(Map.of(Setting.LAYOUT, other)), false);
  }

  SimProcess startWithoutInfo() {
    return start(newSettings(), true);
  }

  private Settings settingsWith(Map<Setting, Object> more) {
    Settings usual = newSettings();
    Map<Setting, Object> built = new EnumMap<>(Setting.class);
    built.put(Setting.NAMESPACE, NAMESPACE);
    built.put(Setting.LAYOUT, usual.layout);
    built.putAll(more);
    return settings(built);
  }

  void runForSeconds(double seconds) {
    runUntil(now + (long) (seconds * SECOND));
  }

  /** Requests that this process sends, and answers to it, are swallowed. */
  void cutOffForSeconds(SimProcess process, double seconds) {
    partition(process, SWALLOWING, (long) (seconds * SECOND));
  }

  /** What this process asks for is done, and it does not hear of it. */
  void loseRepliesForSeconds(SimProcess process, double seconds) {
    partition(process, LOSING_REPLIES, (long) (seconds * SECOND));
  }

  void heal(SimProcess process) {
    process.partitionedUntil = now;
  }

  /** Until it has sent its first command, which has not reached Redis. */
  void runUntilSent(SimProcess process) {
    while (process.newestQuestion() < 0) {
      runUntil(now + 10_000);
    }
  }

  void runUntilHeldBy(SimProcess process) {
    long deadline = now + 100 * SECOND;
    while (process.manager().status().state() != LeaseState.HELD) {
      if (now > deadline) {
        throw new IllegalStateException("no lease in time: " + process.manager().status());
      }
      runForSeconds(0.1);
    }
  }

  void flush() {
    redis.memory.flush();
  }

  /** From now on there are two masters, and everybody talks to the old one. */
  void beginSplitBrain() {
    oldMaster = redis;
    redis = successor(redis.memory, 0);
    for (SimProcess process : processes) {
      process.seesOldMaster = true;
    }
  }

  /** A failover and another one back, to a process that lacks the latest, with nobody looking. */
  void failOverAndBack(double lagSeconds) {
    String runId = redis.memory.runId;
    failOver(lagSeconds);
    redis.memory.runId = runId;
  }

  void failOver(double lagSeconds) {
    redis = successor(copyAsOf(redis, now - (long) (lagSeconds * SECOND)), 0);
  }

  void stepRedisClock(long millis) {
    redisStepMillis += millis;
  }

  /** A copy of a process as it is now, thawed later on a host whose clock is right. */
  SimProcess thaw(SimProcess.Snapshot snapshot) {
    SimProcess copy = snapshot.thaw(processNumber++);
    processes.add(copy);
    return copy;
  }
}
