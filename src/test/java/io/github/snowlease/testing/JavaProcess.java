package io.github.snowlease.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.URI;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A child JVM on the class path of this one, that a test talks with line by line, and may freeze,
 * thaw and kill. It ends with this JVM at the latest.
 *
 * <pre>{@code
 * try (JavaProcess minter = JavaProcess.of(Minter.class).arguments(redis.uri()).start()) {
 *   minter.awaitLine("ready", Duration.ofSeconds(20));
 *   minter.writeLine("mint 1000");
 *   minter.pause();
 * }
 * }</pre>
 *
 * <p>For use by one thread. Standard error is kept, and shown by the exceptions thrown here.
 */
public final class JavaProcess implements AutoCloseable {

  private static final int KEPT_ERROR_LINES = 200;
  private static final long WAKE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final long KILL_LIMIT_SECONDS = 10;

  private final String name;
  private final Process process;
  private final Writer input;
  private final LinkedBlockingQueue<String> output = new LinkedBlockingQueue<>();
  private final List<String> errors = new ArrayList<>();
  private final Thread outputReader;
  private final Thread errorReader;

  private JavaProcess(String name, Process process) {
    this.name = name;
    this.process = process;
    this.input = process.outputWriter(UTF_8);
    this.outputReader = reader(process.inputReader(UTF_8), output::add);
    this.errorReader = reader(process.errorReader(UTF_8), this::keepError);
  }

  /** Prepares a child JVM that runs {@code main} of this class. */
  public static Builder of(Class<?> mainClass) {
    return new Builder(mainClass);
  }

  /** Its process id. */
  public long pid() {
    return process.pid();
  }

  /** Whether it runs, frozen or not. */
  public boolean isAlive() {
    return process.isAlive();
  }

  /** Writes a line to its standard input. */
  public void writeLine(String line) {
    try {
      input.write(line + "\n");
      input.flush();
    } catch (IOException e) {
      throw new IllegalStateException("does not listen: " + this, e);
    }
  }

  /** Closes its standard input: the end of file, to a child that reads it. */
  public void closeInput() {
    try {
      input.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Takes the next line of its standard output.
   *
   * @throws IllegalStateException if none comes in time
   */
  public String readLine(Duration limit) {
    return awaitLine(line -> true, "line", limit);
  }

  /**
   * Takes lines of its standard output up to one that begins with this text, and returns that.
   *
   * @throws IllegalStateException if none comes in time
   */
  public String awaitLine(String prefix, Duration limit) {
    return awaitLine(line -> line.startsWith(prefix), "line '" + prefix + "…'", limit);
  }

  private String awaitLine(Predicate<String> wanted, String description, Duration limit) {
    long deadline = System.nanoTime() + limit.toNanos();
    List<String> passedOver = new ArrayList<>();
    try {
      while (true) {
        String line = output.poll(WAKE_NANOS, TimeUnit.NANOSECONDS);
        if (line == null && System.nanoTime() - deadline < 0 && outputReader.isAlive()) {
          continue;
        }
        // A child that ended writes no more: say so now, not at the deadline.
        line = line == null ? output.poll() : line;
        if (line == null) {
          throw new IllegalStateException(
              "no " + description + " within " + limit + ", but " + passedOver + ": " + this);
        }
        if (wanted.test(line)) {
          return line;
        }
        passedOver.add(line);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for " + description, e);
    }
  }

  /** Takes the lines of its standard output that came and were not taken yet. */
  public List<String> takeLines() {
    List<String> lines = new ArrayList<>();
    output.drainTo(lines);
    return lines;
  }

  /** The last lines of its standard error. */
  public List<String> errors() {
    synchronized (errors) {
      return List.copyOf(errors);
    }
  }

  /** Freezes it, as a long pause of the machine would; returns when it is frozen. */
  public void pause() {
    ProcessSignal.STOP.send(pid());
  }

  /** Thaws it. */
  public void resume() {
    ProcessSignal.CONT.send(pid());
  }

  /** Asks it to end, by a SIGTERM: its shutdown hooks run. */
  public void terminate() {
    ProcessSignal.TERM.send(pid());
  }

  /** Ends it at once, by a SIGKILL; returns when it has ended. */
  public void kill() {
    process.destroyForcibly();
    awaitExit(Duration.ofSeconds(KILL_LIMIT_SECONDS));
  }

  /**
   * Waits for its end.
   *
   * @return its exit code; 128 and the signal's number if a signal ended it
   * @throws IllegalStateException if it does not end in time
   */
  public int awaitExit(Duration limit) {
    try {
      if (!process.waitFor(limit.toNanos(), TimeUnit.NANOSECONDS)) {
        throw new IllegalStateException("did not end within " + limit + ": " + this);
      }
      // So that all it said is there to be read.
      outputReader.join();
      errorReader.join();
      return process.exitValue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for its end: " + this, e);
    }
  }

  /** Kills it, if it still runs. */
  @Override
  public void close() {
    kill();
  }

  @Override
  public String toString() {
    return name
        + " pid="
        + pid()
        + (process.isAlive() ? "" : " exit=" + process.exitValue())
        + "; standard error: "
        + errors();
  }

  private void keepError(String line) {
    synchronized (errors) {
      if (errors.size() == KEPT_ERROR_LINES) {
        errors.remove(0);
      }
      errors.add(line);
    }
  }

  private Thread reader(BufferedReader stream, Consumer<String> consumer) {
    Thread thread =
        new Thread(
            () -> {
              try (stream) {
                stream.lines().forEach(consumer);
              } catch (IOException | UncheckedIOException e) {
                keepError("its output cannot be read further: " + e);
              }
            },
            "reader-of-" + name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  /** What a child JVM is started with. */
  public static final class Builder {

    private final Class<?> mainClass;
    private final List<String> jvmOptions =
        new ArrayList<>(
            List.of(
                // Small, and quick to start: tests start many of them.
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                // As in an application that brings no native transport; this JVM has one.
                "-Dio.lettuce.core.epoll=false"));
    private final Map<String, @Nullable String> environment = new HashMap<>();
    private List<String> arguments = List.of();

    private Builder(Class<?> mainClass) {
      this.mainClass = mainClass;
    }

    /** Adds options of the JVM; a later one overrides an earlier one, and the defaults. */
    public Builder jvmOptions(String... options) {
      jvmOptions.addAll(List.of(options));
      return this;
    }

    /** Sets an environment variable, or takes it away with null. */
    public Builder environment(String variable, @Nullable String value) {
      environment.put(variable, value);
      return this;
    }

    /** Sets environment variables. */
    public Builder environment(Map<String, String> variables) {
      environment.putAll(variables);
      return this;
    }

    /** The arguments of {@code main}. */
    public Builder arguments(String... arguments) {
      this.arguments = List.of(arguments);
      return this;
    }

    /** Starts the child. */
    public JavaProcess start() {
      return start(List.of());
    }

    /**
     * Starts the child through another program, as in {@code faketime -f +10s java …}.
     *
     * @param launcher the program and its arguments, to which the command line of the JVM is added
     */
    public JavaProcess start(List<String> launcher) {
      List<String> command = new ArrayList<>(launcher);
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.addAll(jvmOptions);
      command.add("-cp");
      command.add(classPath());
      command.add(mainClass.getName());
      command.addAll(arguments);
      ProcessBuilder builder = new ProcessBuilder(command);
      environment.forEach(
          (variable, value) -> {
            if (value == null) {
              builder.environment().remove(variable);
            } else {
              builder.environment().put(variable, value);
            }
          });
      try {
        Process process = builder.start();
        OrphanGuard.guard(process);
        return new JavaProcess(mainClass.getSimpleName(), process);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /**
     * That of the main class: `mvn exec:java` runs it inside Maven's JVM, with a loader of its own.
     */
    private String classPath() {
      if (mainClass.getClassLoader() instanceof URLClassLoader loader) {
        return Arrays.stream(loader.getURLs())
            .map(url -> Path.of(URI.create(url.toString())).toString())
            .collect(Collectors.joining(File.pathSeparator));
      }
      return System.getProperty("java.class.path");
    }
  }
}
