package io.github.snowlease.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Runs all scenes over all subjects and prints one table. Each figure comes from a process of its
 * own (JMH forks, {@link Load} for what JMH does not measure); within a scene the subjects follow
 * each other, and the whole is repeated in rounds, so that a change of the machine's mood hits all
 * of them and ratios hold.
 */
public final class Bench {
  private static final List<String> JVM =
      List.of(
          "-Xms256m",
          "-Xmx256m",
          "-Duser.timezone=UTC",
          // Some peers leave threads that are no daemons, for which JMH would wait half a minute.
          "-Djmh.shutdownTimeout=0",
          "-Djmh.shutdownTimeout.step=1");

  /** How long a run takes. */
  @SuppressWarnings("ImmutableEnumChecker") // its predicates keep no state
  private enum Mode {
    /** Three to four minutes on an idle machine. */
    SHORT(3, Subject::isContender, 1, 3, 100, 300),
    /** About forty. */
    FULL(5, subject -> !subject.showsALimit(), 5, 5, 500, 2_000);

    /** Rounds of single ids: a fork's luck differs, most of all with several threads. */
    final int rounds;

    /** Who is measured in the rounds after the first. */
    final Predicate<Subject> repeated;

    final int otherRounds;
    final int iterations;
    final int iterationMillis;
    final int sceneMillis;

    Mode(
        int rounds,
        Predicate<Subject> repeated,
        int otherRounds,
        int iterations,
        int iterationMillis,
        int sceneMillis) {
      this.rounds = rounds;
      this.repeated = repeated;
      this.otherRounds = otherRounds;
      this.iterations = iterations;
      this.iterationMillis = iterationMillis;
      this.sceneMillis = sceneMillis;
    }
  }

  private final Mode mode;
  private final Results results = new Results();
  private final long start = System.nanoTime();

  private Bench(Mode mode) {
    this.mode = mode;
  }

  /**
   * Measures, prints, and writes {@code benchmarks.md} and {@code benchmarks.svg}.
   *
   * @param args {@code short} or {@code full}, and the directory to write to
   */
  public static void main(String[] args) throws RunnerException, IOException, InterruptedException {
    Bench bench = new Bench(Mode.valueOf(args[0].toUpperCase(Locale.ROOT)));
    bench.run();
    String table = Report.table(bench.results);
    System.out.println(table);
    Path directory = Files.createDirectories(Path.of(args[1]));
    Files.writeString(directory.resolve("benchmarks.md"), table);
    Files.writeString(directory.resolve("benchmarks.svg"), Chart.svg(bench.results));
  }

  private void run() throws RunnerException, IOException, InterruptedException {
    for (int round = 1; round <= mode.rounds; round++) {
      List<Subject> subjects = subjectsOf(round);
      for (int threads : new int[] {1, 2, 8}) {
        say(round, "ids with " + threads + " threads");
        ids(threads, subjects);
      }
      if (round > mode.otherRounds) {
        continue;
      }
      say(round, "batches and streams");
      batches();
      say(round, "saturation, latency, clocks");
      for (Subject subject : Subject.values()) {
        if (!subject.isYardstick()) {
          load(subject);
        }
      }
    }
  }

  private void say(int round, String scene) {
    long seconds = (System.nanoTime() - start) / 1_000_000_000;
    System.out.println(seconds + " s: round " + round + " of " + mode.rounds + ": " + scene);
  }

  private List<Subject> subjectsOf(int round) {
    return Stream.of(Subject.values())
        .filter(subject -> round == 1 || mode.repeated.test(subject))
        .toList();
  }

  private void ids(int threads, List<Subject> subjects) throws RunnerException {
    ChainedOptionsBuilder options =
        options("nextId")
            .threads(threads)
            // The more threads, the less of the cores the compiler gets.
            .warmupIterations(threads > 2 ? 6 : 2)
            .param(
                "subject",
                subjects.stream()
                    .filter(subject -> threads == 1 || !subject.isYardstick())
                    .map(Subject::name)
                    .toArray(String[]::new));
    for (RunResult result : new Runner(options.build()).run()) {
      results.add(
          Subject.valueOf(result.getParams().getParam("subject")),
          "wide." + threads,
          result.getPrimaryResult().getScore());
    }
  }

  private void batches() throws RunnerException {
    for (String method : List.of("nextIds", "stream")) {
      for (RunResult result : new Runner(options(method).warmupIterations(15).build()).run()) {
        results.add(
            Subject.SNOWLEASE,
            method + "." + result.getParams().getParam("length"),
            result.getPrimaryResult().getScore());
      }
    }
  }

  private ChainedOptionsBuilder options(String method) {
    return new OptionsBuilder()
        .include(IdBenchmark.class.getName() + "." + method + "$")
        .forks(1)
        .jvmArgs(JVM.toArray(String[]::new))
        .warmupTime(TimeValue.milliseconds(mode.iterationMillis))
        .measurementIterations(mode.iterations)
        .measurementTime(TimeValue.milliseconds(mode.iterationMillis))
        .shouldFailOnError(true)
        .verbosity(VerboseMode.SILENT);
  }

  private void load(Subject subject) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(JVM);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Load.class.getName()));
    command.addAll(List.of(subject.name(), String.valueOf(mode.sceneMillis)));
    Process child = new ProcessBuilder(command).redirectErrorStream(true).start();
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(child.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] parts = line.split(" ", -1);
        if (parts.length == 3 && parts[0].equals("figure")) {
          results.add(subject, parts[1], Double.parseDouble(parts[2]));
        } else {
          System.out.println(subject.title + ": " + line);
        }
      }
    }
    if (child.waitFor() != 0) {
      throw new IllegalStateException("a subject must run: " + subject.title);
    }
  }
}
