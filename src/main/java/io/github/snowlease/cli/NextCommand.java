package io.github.snowlease.cli;

import io.github.snowlease.IdFormat;
import io.github.snowlease.NoLeaseException;
import io.github.snowlease.Snowflake;
import io.github.snowlease.SnowflakeException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Mints ids. */
@Command(
    name = "next",
    mixinStandardHelpOptions = true,
    description = {
      "Leases a slot, mints ids, prints one a line, and hands the slot back.",
      "With --every it keeps the slot and goes on, as a service does: to see how one behaves.",
      "Takes SNOWFLAKE_CLUSTER_ID and the other settings from the environment, as a service does."
    })
final class NextCommand implements Callable<Integer> {
  private static final int MOST = 10_000_000;
  private static final int BATCH = 4_096;
  private static final long HINT_AFTER_SECONDS = 2;

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec command;

  @Parameters(
      paramLabel = "N",
      arity = "0..1",
      defaultValue = "1",
      description = "How many. Default: ${DEFAULT-VALUE}")
  private int count;

  @Mixin private NamespaceOptions options = new NamespaceOptions();

  @Option(
      names = "--form",
      paramLabel = "FORM",
      converter = IdForm.Converter.class,
      completionCandidates = IdForm.Words.class,
      defaultValue = "decimal",
      description = "How to write them: ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}")
  private IdFormat form = IdFormat.DECIMAL;

  @Option(
      names = "--every",
      paramLabel = "SECONDS",
      description = "Mints N ids again and again, every so many seconds, until interrupted.")
  private double everySeconds;

  @Override
  public Integer call() throws InterruptedException {
    if (count < 1 || count > MOST) {
      throw new ParameterException(command.commandLine(), "N must be 1 to " + MOST + ": " + count);
    }
    try (Snowflake ids = start()) {
      if (everySeconds <= 0) {
        print(ids);
      } else {
        goOn(ids);
      }
    }
    return SnowleaseCommand.OK;
  }

  /** Prints count ids; returns whether somebody still reads them. */
  private boolean print(Snowflake ids) {
    PrintWriter out = command.commandLine().getOut();
    for (int left = count; left > 0; left -= BATCH) {
      long[] batch = new long[Math.min(left, BATCH)];
      ids.nextIds(batch);
      for (long id : batch) {
        out.println(form.format(id));
      }
    }
    return !out.checkError();
  }

  private void goOn(Snowflake ids) throws InterruptedException {
    boolean isRead = true;
    while (isRead) {
      try {
        isRead = print(ids);
      } catch (NoLeaseException e) {
        // As a service would: it says so, and asks again.
        command.commandLine().getErr().println(e.getMessage());
      }
      TimeUnit.MILLISECONDS.sleep(Math.max(1, Math.round(everySeconds * 1_000)));
    }
  }

  private Snowflake start() throws InterruptedException {
    CompletableFuture<Snowflake> starting =
        options.builder().closeOnJvmExit(everySeconds > 0).startAsync();
    try {
      try {
        return starting.get(HINT_AFTER_SECONDS, TimeUnit.SECONDS);
      } catch (TimeoutException e) {
        command
            .commandLine()
            .getErr()
            .println(
                "No lease yet. A store that is new, restarted or failed over grants none for up to a"
                    + " minute; 'nodes' shows for how long, 'doctor' what else may be wrong, and for a"
                    + " new namespace 'init' skips the wait.");
        return starting.get();
      }
    } catch (ExecutionException e) {
      Throwable cause =
          e.getCause() instanceof CompletionException wrapped && wrapped.getCause() != null
              ? wrapped.getCause()
              : e.getCause();
      throw cause instanceof SnowflakeException known
          ? known
          : new IllegalStateException("starting failed", cause);
    }
  }
}
