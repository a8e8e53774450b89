package io.github.snowlease.acceptance;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.snowlease.NoLeaseException;
import io.github.snowlease.Slot;
import io.github.snowlease.Snowflake;
import io.github.snowlease.demo.IdFile;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * A process that leases a slot and mints: on as many threads as its first argument says, each into
 * a file of its own in the directory that the second one names. Told "where", it says its slot and
 * how many ids it has minted, and how many calls failed; told "halt", it ends the threads. Without
 * threads it only mints one id. A third argument makes them wait so many microseconds after each 16
 * ids.
 */
final class MintingProcess {
  private final Snowflake ids;
  private final AtomicLong minted = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();
  private final long pauseMicros;
  private volatile boolean halted;

  private MintingProcess(Snowflake ids, long pauseMicros) {
    this.ids = ids;
    this.pauseMicros = pauseMicros;
  }

  public static void main(String[] arguments) throws IOException, InterruptedException {
    int count = Integer.parseInt(arguments[0]);
    try (Snowflake ids = Snowflake.start()) {
      ids.nextId();
      MintingProcess process =
          new MintingProcess(ids, arguments.length > 2 ? Long.parseLong(arguments[2]) : 0);
      process.say("started");
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        Path file = Path.of(arguments[1], i + ".ids");
        Thread thread = new Thread(() -> process.mintInto(file), "minter-" + i);
        thread.setDaemon(true);
        thread.start();
        threads.add(thread);
      }
      BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, UTF_8));
      for (String line = commands.readLine(); line != null; line = commands.readLine()) {
        if (line.equals("halt")) {
          process.halted = true;
          for (Thread thread : threads) {
            thread.join();
          }
        }
        process.say(line);
      }
    }
  }

  private void mintInto(Path path) {
    long[] chunk = new long[pauseMicros > 0 ? 16 : 256];
    try (FileChannel file = IdFile.open(path)) {
      while (!halted) {
        int filled = 0;
        try {
          while (filled < chunk.length) {
            chunk[filled] = ids.nextId();
            filled++;
          }
        } catch (NoLeaseException e) {
          failed.incrementAndGet(); // and asks again
        }
        IdFile.append(file, chunk, filled);
        minted.addAndGet(filled);
        if (pauseMicros > 0) {
          LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(pauseMicros));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void say(String word) {
    String slot = ids.status().slot().map(Slot::toString).orElse("none");
    System.out.println(word + " " + slot + " " + minted + " " + failed);
  }
}
