package io.github.snowlease.chaos;

import io.github.snowlease.LeaseListener;
import io.github.snowlease.LeaseState;
import io.github.snowlease.NoLeaseException;
import io.github.snowlease.Snowflake;
import io.github.snowlease.SnowflakeException;
import io.github.snowlease.redis.RedisLeaseStore;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One of the processes: mints until it is ended, in single calls and in batches, and records every
 * id. It starts anew when a start fails, as its supervisor would. A SIGTERM lets it mint for two
 * seconds more, and then closes its instance.
 *
 * <p>Arguments: the record, the address of Redis, the file with the password, ids a second. The
 * rest comes from its environment.
 */
final class ChaosMinter {
  /** The user that the processes connect as. */
  static final String USER = "minter";

  private static final long ROUND_MILLIS = 20;
  private static final int SINGLES_A_ROUND = 20;

  private final IdRecord record;
  private final Path passwordFile;
  private final String uri;
  private final long[] batch;
  private volatile boolean ended;
  private final AtomicLong minted = new AtomicLong();

  private ChaosMinter(IdRecord record, String uri, Path passwordFile, int idsPerSecond) {
    this.record = record;
    this.uri = uri;
    this.passwordFile = passwordFile;
    batch = new long[(int) (idsPerSecond * ROUND_MILLIS / 1_000) - SINGLES_A_ROUND];
  }

  public static void main(String[] arguments) throws IOException, InterruptedException {
    ChaosMinter minter =
        new ChaosMinter(
            IdRecord.create(Path.of(arguments[0])),
            arguments[1],
            Path.of(arguments[2]),
            Integer.parseInt(arguments[3]));
    Thread thread = Thread.currentThread();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> minter.end(thread), "end"));
    Thread reporter = new Thread(minter::report, "reporter");
    reporter.setDaemon(true);
    reporter.start();
    minter.run();
  }

  /** Serves requests for a moment longer, as a server does that is told to end. */
  private void end(Thread minting) {
    try {
      TimeUnit.SECONDS.sleep(2);
      ended = true;
      minting.join(5_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Tells now and then how many ids there are, so that its director sees that it goes on. */
  private void report() {
    while (true) {
      System.out.println("minted " + minted);
      try {
        TimeUnit.MILLISECONDS.sleep(250);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private void run() throws IOException, InterruptedException {
    while (!ended) {
      try (RedisLeaseStore store =
              RedisLeaseStore.builder()
                  .uri(uri)
                  .credentials(
                      RedisCredentialsProvider.from(() -> RedisCredentials.just(USER, password())))
                  .build();
          Snowflake ids = Snowflake.builder().store(store).listener(listener()).start()) {
        record.setCounter(IdRecord.STARTS, record.counter(IdRecord.STARTS) + 1);
        mint(ids);
      } catch (SnowflakeException e) {
        System.out.println("nostart " + e.getClass().getSimpleName() + " " + e.getMessage());
        TimeUnit.MILLISECONDS.sleep(500);
      }
    }
  }

  private String password() {
    try {
      return Files.readString(passwordFile).strip();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static LeaseListener listener() {
    return event -> {
      if (event.to() == LeaseState.ACQUIRING && event.from() != LeaseState.ACQUIRING) {
        System.out.println("lost " + event.reason());
      }
    };
  }

  private void mint(Snowflake ids) throws IOException, InterruptedException {
    long lastSuccess = System.nanoTime();
    boolean failedSince = false;
    while (!ended) {
      try {
        for (int i = 0; i < SINGLES_A_ROUND; i++) {
          record.add(ids.nextId());
        }
        ids.nextIds(batch);
        record.addAll(batch, batch.length);
        minted.addAndGet(SINGLES_A_ROUND + batch.length);
        long now = System.nanoTime();
        if (failedSince) {
          failedSince = false;
          record.setCounter(
              IdRecord.LONGEST_OUTAGE,
              Math.max(record.counter(IdRecord.LONGEST_OUTAGE), now - lastSuccess));
        }
        lastSuccess = now;
      } catch (NoLeaseException e) {
        failedSince = true;
        record.setCounter(IdRecord.FAILED_CALLS, record.counter(IdRecord.FAILED_CALLS) + 1);
      }
      // At random, so that two processes do not take turns for ever.
      TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextLong(2 * ROUND_MILLIS));
    }
  }
}
