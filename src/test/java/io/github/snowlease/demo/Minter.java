package io.github.snowlease.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.snowlease.NoLeaseException;
import io.github.snowlease.Slot;
import io.github.snowlease.Snowflake;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One of the processes. It starts as an application does, with settings from its environment, mints
 * when it is told to, and writes every id to a file. Ends when its standard input does.
 */
final class Minter {
  private final Snowflake ids;
  private final FileChannel file;
  private final Object output = new Object();
  private volatile boolean halted;
  private final AtomicLong minted = new AtomicLong();
  private final AtomicLong refused = new AtomicLong();

  private Minter(Snowflake ids, FileChannel file) {
    this.ids = ids;
    this.file = file;
  }

  public static void main(String[] arguments) throws IOException, InterruptedException {
    long begin = System.nanoTime();
    try (FileChannel file = IdFile.open(Path.of(arguments[0]));
        Snowflake ids = Snowflake.start()) {
      Minter minter = new Minter(ids, file);
      minter.say("started " + minter.slot() + " " + (System.nanoTime() - begin));
      minter.obey();
    }
  }

  private void obey() throws IOException, InterruptedException {
    Thread stream = new Thread(this::mintUntilHalted, "minter");
    stream.setDaemon(true);
    BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      String[] words = line.split(" ", -1);
      switch (words[0]) {
        case "mint" -> mint(Integer.parseInt(words[1]));
        case "go" -> stream.start();
        case "where" -> say("where " + slot() + " " + minted + " " + refused);
        case "halt" -> {
          halted = true;
          stream.join();
          say("halted " + minted);
        }
        default -> throw new IllegalArgumentException(line);
      }
    }
  }

  private void mint(int count) throws IOException {
    long[] batch = new long[count];
    long begin = System.nanoTime();
    for (int i = 0; i < count; i++) {
      batch[i] = ids.nextId();
    }
    long took = System.nanoTime() - begin;
    IdFile.append(file, batch, count);
    say("minted " + took);
  }

  /** Mints at full speed, one id a call, and asks again when a call is refused. */
  private void mintUntilHalted() {
    long[] chunk = new long[4_096];
    while (!halted) {
      int filled = 0;
      try {
        while (filled < chunk.length) {
          chunk[filled] = ids.nextId();
          filled++;
        }
      } catch (NoLeaseException e) {
        refused.incrementAndGet();
      }
      try {
        IdFile.append(file, chunk, filled);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      minted.addAndGet(filled);
    }
  }

  private String slot() {
    return ids.status().slot().map(Slot::toString).orElse("none");
  }

  private void say(String line) {
    synchronized (output) {
      System.out.println(line);
    }
  }
}
