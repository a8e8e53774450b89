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
  private static final List<String> JVM = List.of("-Xms256m", "-Xmx256m", "-Duser.timezone=UTC");

  /** How long a run takes. */
  private enum Mode {
    /** About four minutes on an idle machine. */
    SHORT(3, 1, 400, 3, 100, 400),
    /** About forty. */
    FULL(5, 5, 1_000, 5, 500, 2_000);

    /** Rounds of what JMH measures: a fork's luck differs, most of all with several threads. */
    final int rounds;

    final int loadRounds;
    final int warmupMillis;
    final int iterations;
    final int iterationMillis;
    final int sceneMillis;

    Mode(
        int rounds,
        int loadRounds,
        int warmupMillis,
        int iterations,
        int iterationMillis,
        int sceneMillis) {
      this.rounds = rounds;
      this.loadRounds = loadRounds;
      this.warmupMillis = warmupMillis;
      this.iterations = iterations;
      this.iterationMillis = iterationMillis;
      this.sceneMillis = sceneMillis;
    }
  }

  private final Mode mode;
  private final Results results = new Results();

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
      for (int threads : new int[] {1, 2, 8}) {
        say(round, "ids with " + threads + " threads");
        for (Subject subject : Subject.values()) {
          boolean another = round == 1 || !subject.showsALimit();
          if (another && (threads == 1 || !subject.isYardstick())) {
            jmh(subject, "nextId", "subject", subject.name(), threads, "wide." + threads);
          }
        }
      }
      say(round, "batches");
      for (String length : new String[] {"16", "256", "1024"}) {
        jmh(Subject.SNOWLEASE, "nextIds", "length", length, 1, "batch." + length);
      }
      if (round > mode.loadRounds) {
        continue;
      }
      say(round, "saturation, latency, clocks");
      for (Subject subject : Subject.values()) {
        if (!subject.isYardstick()) {
          load(subject);
        }
      }
    }
  }

  private void say(int round, String scene) {
    System.out.println("round " + round + " of " + mode.rounds + ": " + scene);
  }

  private void jmh(
      Subject subject, String method, String parameter, String value, int threads, String figure)
      throws RunnerException {
    ChainedOptionsBuilder options =
        new OptionsBuilder()
            .include(IdBenchmark.class.getName() + "." + method + "$")
            .param(parameter, value)
            .threads(threads)
            .forks(1)
            .jvmArgs(JVM.toArray(String[]::new))
            .warmupIterations(2)
            .warmupTime(TimeValue.milliseconds(mode.warmupMillis / 2))
            .measurementIterations(mode.iterations)
            .measurementTime(TimeValue.milliseconds(mode.iterationMillis))
            .shouldFailOnError(true)
            .verbosity(VerboseMode.SILENT);
    results.add(
        subject, figure, new Runner(options.build()).runSingle().getPrimaryResult().getScore());
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
