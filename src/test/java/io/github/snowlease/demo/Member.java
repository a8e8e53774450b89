package io.github.snowlease.demo;

import io.github.snowlease.Slot;
import io.github.snowlease.testing.JavaProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/** A process of the demonstration, seen from the one that directs it. */
final class Member implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  final String name;
  private final JavaProcess process;
  private final Path file;
  private Slot slot = new Slot(0, 0);
  private long startNanos;

  /** Where a member stands. */
  record Position(Optional<Slot> slot, long minted, long refused) {}

  private Member(String name, JavaProcess process, Path file) {
    this.name = name;
    this.process = process;
    this.file = file;
  }

  /** Starts a process; it leases its slot in the background. */
  static Member launch(String name, Path directory, Map<String, String> settings) {
    Path file = directory.resolve(name + ".ids");
    JavaProcess.Builder builder = JavaProcess.of(Minter.class).arguments(file.toString());
    // What the user has set for other applications is not for this one.
    System.getenv().keySet().stream()
        .filter(variable -> variable.startsWith("SNOWFLAKE_"))
        .forEach(variable -> builder.environment(variable, null));
    settings.forEach(builder::environment);
    return new Member(name, builder.start(), file);
  }

  /** Waits until it has leased a slot. */
  void awaitStarted() {
    noteStarted(process.awaitLine("started ", LIMIT));
  }

  /** Looks whether it has leased a slot. */
  boolean hasStarted() {
    Optional<String> started =
        process.takeLines().stream().filter(line -> line.startsWith("started ")).findFirst();
    started.ifPresent(this::noteStarted);
    if (!process.isAlive()) {
      throw new IllegalStateException(name + " ended: " + process);
    }
    return started.isPresent();
  }

  private void noteStarted(String line) {
    String[] words = line.split(" ", -1);
    slot = parseSlot(words[1]).orElseThrow();
    startNanos = Long.parseLong(words[2]);
  }

  private static Optional<Slot> parseSlot(String text) {
    if (text.equals("none")) {
      return Optional.empty();
    }
    String[] parts = text.split(":", -1);
    return Optional.of(new Slot(Integer.parseInt(parts[0]), Integer.parseInt(parts[1])));
  }

  /** The slot that it leased first. */
  Slot firstSlot() {
    return slot;
  }

  /** How long Snowflake.start() took, with the loading of its classes. */
  long startNanos() {
    return startNanos;
  }

  long pid() {
    return process.pid();
  }

  /** Tells it to mint; {@link #awaitMinted} waits for that. */
  void mint(int count) {
    process.writeLine("mint " + count);
  }

  /** Returns how many nanoseconds the minting took. */
  long awaitMinted() {
    return Long.parseLong(process.awaitLine("minted ", LIMIT).split(" ", -1)[1]);
  }

  /** Lets it mint at full speed until {@link #halt}. */
  void go() {
    process.writeLine("go");
  }

  void halt() {
    process.writeLine("halt");
    process.awaitLine("halted ", LIMIT);
  }

  Position where() {
    process.writeLine("where");
    String[] words = process.awaitLine("where ", LIMIT).split(" ", -1);
    return new Position(parseSlot(words[1]), Long.parseLong(words[2]), Long.parseLong(words[3]));
  }

  void freeze() {
    process.pause();
  }

  void wake() {
    process.resume();
  }

  void kill() {
    process.kill();
  }

  /** Lets it end by itself, so that it hands its slot back. */
  void end() {
    process.closeInput();
    process.awaitExit(LIMIT);
  }

  /** All ids that it minted. */
  long[] ids() {
    return IdFile.read(file);
  }

  @Override
  public void close() {
    process.close();
  }
}
