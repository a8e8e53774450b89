package io.github.snowlease.cli;

import io.github.snowlease.Slot;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Takes a slot back from a dead holder. */
@Command(
    name = "evict",
    mixinStandardHelpOptions = true,
    description = {
      "Takes a slot back whose holder is dead, without waiting for its grace.",
      "",
      "This never leads to equal ids: the slot is leased anew only after the end of its holder's"
          + " window, which stays on record. The slot of a dead holder comes free by itself some"
          + " seconds later, so this is seldom needed.",
      "",
      "While the holder renews its lease it lives, and the command refuses. With --force it is"
          + " evicted all the same: it stops minting at its next renewal, and leases another slot."
    })
final class EvictCommand implements Callable<Integer> {
  private static final Pattern SLOT = Pattern.compile("(\\d{1,9}):(\\d{1,9})");
  private static final long LOOK_MILLIS = 200;

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec command;

  @Parameters(paramLabel = "SLOT", description = "The slot as 'nodes' shows it, as in 3:7.")
  private String slotText = "";

  @Mixin private NamespaceOptions options = new NamespaceOptions();

  @Option(names = "--force", description = "Evicts a holder that lives, too.")
  private boolean force;

  @Option(
      names = "--observe",
      paramLabel = "SECONDS",
      defaultValue = "10",
      description =
          "For how long to see whether the holder renews: longer than its heartbeat. Default:"
              + " ${DEFAULT-VALUE}")
  private double observeSeconds;

  @Override
  public Integer call() throws InterruptedException {
    Matcher parts = SLOT.matcher(slotText);
    if (!parts.matches()) {
      throw new ParameterException(
          command.commandLine(), "SLOT must be cluster:node, as in 3:7: " + slotText);
    }
    Slot slot = new Slot(Integer.parseInt(parts.group(1)), Integer.parseInt(parts.group(2)));
    try (StoreView view = options.open()) {
      return evict(view, slot);
    }
  }

  private int evict(StoreView view, Slot slot) throws InterruptedException {
    Snapshot before = view.read();
    String field = before.ledger().get(slot.toString());
    Long until = before.heldUntil(slot);
    if (field == null || until == null) {
      return refuse(
          "Nobody holds the slot "
              + slot
              + (field == null || field.endsWith("||")
                  ? ", so there is nothing to take back."
                  : " as far as can be told: its entry in the ledger is damaged, and only somebody who"
                      + " knows what it was may repair it."));
    }
    Snapshot.Lease lease = before.leases().get(slot);
    boolean surelyDead = lease != null && Boolean.FALSE.equals(lease.isAlive());
    if (!force && !surelyDead && isRenewed(view, slot, field, until, before.now())) {
      return refuse(
          "The holder of "
              + slot
              + " lives: it has just renewed its lease. End that process, or use --force.");
    }
    if (!view.evict(slot, field)) {
      return refuse(
          "The slot " + slot + " has changed hands or was renewed meanwhile; look again.");
    }
    PrintWriter out = command.commandLine().getOut();
    out.println(
        "Took back "
            + slot
            + "; it can be leased from "
            + Instant.ofEpochMilli(until + 1)
            + " on, after the last id that its holder may have minted.");
    return SnowleaseCommand.OK;
  }

  /** Watches the slot, until its window has ended at the latest: then nobody can renew it. */
  private boolean isRenewed(StoreView view, Slot slot, String field, long until, long now)
      throws InterruptedException {
    long left = Math.min(Math.round(observeSeconds * 1_000), until - now + 1);
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(left);
    if (left > LOOK_MILLIS) {
      command
          .commandLine()
          .getErr()
          .println(
              "Watching " + slot + " for " + (left + 999) / 1_000 + "s, whether it is renewed …");
    }
    while (System.nanoTime() - deadline < 0) {
      TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
      if (!field.equals(view.ledger().get(slot.toString()))) {
        return true;
      }
    }
    return false;
  }

  private int refuse(String why) {
    command.commandLine().getErr().println(why);
    return SnowleaseCommand.FOUND;
  }
}
