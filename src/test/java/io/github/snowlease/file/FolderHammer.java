package io.github.snowlease.file;

import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseStore.Claim;
import io.github.snowlease.LeaseStore.ClaimReply;
import io.github.snowlease.LeaseStore.Granted;
import io.github.snowlease.LeaseStore.Holder;
import io.github.snowlease.LeaseStore.Release;
import io.github.snowlease.LeaseStore.RenewReply;
import io.github.snowlease.LeaseStore.Renewal;
import io.github.snowlease.LeaseStore.Renewed;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.Slot;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;

/**
 * A child process that claims, renews and releases slots of a folder as fast as it can, and prints
 * what was acknowledged, until it is killed.
 */
final class FolderHammer {
  static final LeaseTerms TERMS =
      new LeaseTerms("hammered", "41/5/5/12", 10_000, 5_000, 0, 2_000, false);

  private static final int SLOTS = 200;
  private static final Random RANDOM = new Random();

  private FolderHammer() {}

  /**
   * Runs until it is killed.
   *
   * @param arguments the folder, and how many slots to claim before it holds on to them; else it
   *     goes on for ever, and releases every other
   */
  public static void main(String[] arguments) throws Exception {
    try (LeaseStore store = FileLeaseStore.in(Path.of(arguments[0]))) {
      System.out.println("begin");
      if (arguments.length > 1) {
        for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
          useOneSlot(store, false);
        }
        System.out.println("done");
        new CountDownLatch(1).await();
      }
      while (true) {
        useOneSlot(store, RANDOM.nextBoolean());
      }
    }
  }

  private static void useOneSlot(LeaseStore store, boolean handBack) throws Exception {
    Holder holder = new Holder("host", ProcessHandle.current().pid(), "hammer", 0, "0");
    List<Slot> candidates =
        IntStream.range(0, 8).mapToObj(i -> new Slot(0, RANDOM.nextInt(SLOTS))).toList();
    Claim claim = new Claim(hex(2), hex(1), System.currentTimeMillis(), -1, 0, candidates, holder);
    ClaimReply reply = store.claim(TERMS, claim).toCompletableFuture().get();
    if (!(reply instanceof Granted grant)) {
      return;
    }
    say("granted", grant.slot(), grant.now(), grant.until(), grant.rev());
    String nonce = hex(1);
    Renewal renewal =
        new Renewal(
            claim.token(),
            grant.slot(),
            grant.until(),
            List.of(claim.nonce()),
            nonce,
            grant.now(),
            grant.rev(),
            holder);
    RenewReply renewed = store.renew(TERMS, renewal).toCompletableFuture().get();
    if (renewed instanceof Renewed kept) {
      say("renewed", grant.slot(), grant.now(), kept.until(), kept.rev());
      if (handBack) {
        long last = kept.now() + 1;
        say("releasing", grant.slot(), grant.now(), last, kept.rev());
        var unused =
            store
                .release(TERMS, new Release(claim.token(), last, List.of(grant.slot())))
                .toCompletableFuture()
                .get();
      }
    }
  }

  private static void say(String what, Slot slot, long from, long until, long rev) {
    System.out.println(what + " " + slot + " " + from + " " + until + " " + rev);
  }

  private static String hex(int longs) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < longs; i++) {
      text.append(HexFormat.of().toHexDigits(RANDOM.nextLong()));
    }
    return text.toString();
  }
}
