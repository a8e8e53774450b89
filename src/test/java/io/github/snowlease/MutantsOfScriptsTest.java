package io.github.snowlease;

import static io.github.snowlease.Mutants.assertEndsDifferently;
import static io.github.snowlease.Mutants.assertMintsTwice;
import static io.github.snowlease.Mutants.withScripts;

import io.github.snowlease.LeaseStore.Claim;
import io.github.snowlease.LeaseStore.ClaimReply;
import io.github.snowlease.LeaseStore.Granted;
import io.github.snowlease.LeaseStore.Release;
import io.github.snowlease.LeaseStore.RenewReply;
import io.github.snowlease.LeaseStore.Renewal;
import io.github.snowlease.LeaseStore.Renewed;
import io.github.snowlease.Mutants.Ids;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The rules of the scripts, each broken once. */
class MutantsOfScriptsTest {

  /** A flushed Redis grants a slot at once, while its holder still mints in its old window. */
  @Test
  void noBirth() throws InterruptedException {
    assertMintsTwice(
        withScripts(
            () ->
                new SimLedgerModel() {
                  @Override
                  protected long openAt(Memory memory) {
                    return now;
                  }
                }),
        SimFaultSet.FLUSH);
  }

  /** A promoted replica that lacks the last grants is not noticed, and grants their slots again. */
  @Test
  void noRunIdAndNoRev() throws InterruptedException {
    assertMintsTwice(
        withScripts(
            () ->
                new SimLedgerModel() {
                  @Override
                  protected boolean isAnotherServer(@Nullable String stored, String server) {
                    return false;
                  }

                  @Override
                  protected boolean isOlderThan(long rev, long seenRev) {
                    return false;
                  }
                }),
        SimFaultSet.FAILOVER);
  }

  /** The quarantine is over before the windows that were granted before it are. */
  @Test
  void quarantineShorterThanTheWindow() throws InterruptedException {
    assertMintsTwice(
        withScripts(
            () ->
                new SimLedgerModel() {
                  @Override
                  protected long openAt(Memory memory) {
                    return super.openAt(memory) - memory.quarantine + 2_000;
                  }
                }),
        SimFaultSet.FLUSH);
  }

  /**
   * Instead of being made to wait, a newcomer gets a window that begins where the quarantine ends:
   * if Redis is flushed once more, the next newcomer gets a window that overlaps it.
   */
  @Test
  void futureDatedStartInsteadOfQuarantine() throws InterruptedException {
    assertEndsDifferently(
        system -> {
          Simulation world = Simulation.scripted(system);
          world.flush();
          SimProcess first = world.startOn(0);
          world.runForSeconds(2);
          world.cutOffForSeconds(first, 200);
          world.flush();
          world.runForSeconds(5);
          SimProcess second = world.startOn(0);
          world.runForSeconds(100);
          world.runForSeconds(second.isDead ? 0 : 50);
          return Ids.of(world);
        },
        new SimSystem() {
          @Override
          SimLedgerModel newServer() {
            return new FutureDatingModel();
          }

          @Override
          SnowflakeGenerator generatorOf(
              SimProcess process, BitLayout layout, IdClock clock, TimeSource time) {
            return new LateOpeningGenerator(process, layout, clock, time);
          }
        },
        Ids.ALL_DIFFERENT,
        Ids.MINTED_TWICE);
  }

  private static final class FutureDatingModel extends SimLedgerModel {
    private long opening;

    @Override
    protected long openAt(Memory memory) {
      opening = super.openAt(memory);
      return now;
    }

    @Override
    protected ClaimReply grant(LeaseTerms terms, Claim claim, Memory memory, Slot slot) {
      Granted granted = (Granted) super.grant(terms, claim, memory, slot);
      long until = Math.max(now, opening) + terms.window();
      ledger.put(slot.toString(), field(until, claim.token(), claim.nonce()));
      return new Granted(now, slot, until, granted.rev(), false);
    }
  }

  /** A window of a future-dated grant begins one length before its end. */
  private static final class LateOpeningGenerator extends SimGenerator {
    private final BitLayout layout;
    private final long window;
    private long firstTick;

    LateOpeningGenerator(SimProcess process, BitLayout layout, IdClock clock, TimeSource time) {
      super(process, layout, clock, time);
      this.layout = layout;
      this.window = process.settings.terms.window();
    }

    @Override
    boolean open(LeaseWindow granted) {
      firstTick = (granted.lastWord >>> layout.sequenceBits()) - window / layout.tickMillis() + 1;
      return super.open(granted);
    }

    @Override
    LeaseWindow window() {
      LeaseWindow granted = super.window();
      return granted.isEmpty() || granted.firstWord >>> layout.sequenceBits() >= firstTick
          ? granted
          : MutantWindows.between(
              layout, granted, firstTick, granted.lastWord >>> layout.sequenceBits());
    }
  }

  /** Only the lease key decides: once it is evicted, the slot of a live holder is granted. */
  @Test
  void noFence() throws InterruptedException {
    assertMintsTwice(
        withScripts(
            () ->
                new SimLedgerModel() {
                  @Override
                  protected long freeAt(Slot slot) {
                    return now;
                  }
                }),
        SimFaultSet.EVICTION);
  }

  /**
   * A holder whose window ended long ago renews after a failover has forgotten that its slot was
   * granted to somebody else, who is still minting.
   */
  @Test
  void renewalAfterExpiry() throws InterruptedException {
    assertEndsDifferently(
        system -> {
          Simulation world = Simulation.scripted(system);
          SimProcess first = world.startOn(0);
          world.runForSeconds(5);
          world.cutOffForSeconds(first, 100);
          SimProcess second = world.startOn(0);
          world.runUntilHeldBy(second);
          world.runForSeconds(0.5);
          world.cutOffForSeconds(second, 100);
          world.failOver(1.5);
          world.heal(first);
          world.runForSeconds(60);
          return Ids.of(world);
        },
        new RenewingForever(),
        Ids.ALL_DIFFERENT,
        Ids.MINTED_TWICE);
  }

  /**
   * Neither the script nor the manager looks at the end of the window; the generator still does.
   */
  private static final class RenewingForever extends SimSystem {
    private static final long HOUR = 3_600_000;

    @Override
    SimLedgerModel newServer() {
      return new SimLedgerModel() {
        @Override
        protected boolean hasExpired(long standingUntil) {
          return false;
        }
      };
    }

    @Override
    LeaseStore storeOf(SimProcess process, LeaseStore network) {
      return new MutantStore(network) {
        @Override
        public CompletionStage<ClaimReply> claim(LeaseTerms terms, Claim claim) {
          return network
              .claim(terms, claim)
              .thenApply(
                  reply ->
                      reply instanceof Granted g
                          ? new Granted(
                              g.now(), g.slot(), g.until() + HOUR, g.rev(), g.trustedEmpty())
                          : reply);
        }

        @Override
        public CompletionStage<RenewReply> renew(LeaseTerms terms, Renewal r) {
          Renewal honest =
              new Renewal(
                  r.token(),
                  r.slot(),
                  r.until() - HOUR,
                  r.nonces(),
                  r.newNonce(),
                  r.estimate(),
                  r.seenRev(),
                  r.holder());
          return network
              .renew(terms, honest)
              .thenApply(
                  reply ->
                      reply instanceof Renewed renewed
                          ? new Renewed(renewed.now(), renewed.until() + HOUR, renewed.rev())
                          : reply);
        }
      };
    }

    @Override
    SnowflakeGenerator generatorOf(
        SimProcess process, BitLayout layout, IdClock clock, TimeSource time) {
      return new SimGenerator(process, layout, clock, time) {
        @Override
        LeaseWindow window() {
          LeaseWindow told = super.window();
          return told.isEmpty()
              ? told
              : MutantWindows.between(
                  layout,
                  told,
                  told.firstWord >>> layout.sequenceBits(),
                  (told.lastWord >>> layout.sequenceBits()) - HOUR / layout.tickMillis());
        }
      };
    }
  }

  /** Whoever asks frees the slot: a late release ends the lease of the next holder. */
  @Test
  void releaseWithoutToken() throws InterruptedException {
    assertMintsTwice(
        withScripts(
            () ->
                new SimLedgerModel() {
                  @Override
                  protected boolean mayRelease(Fence fence, Release release) {
                    return !fence.token().isEmpty();
                  }
                }),
        SimFaultSet.ORDINARY);
  }

  /**
   * The fence of a slot is lost by a claim whose reply was lost: once Redis's clock steps back, the
   * slot is granted for a time in which ids were minted before.
   */
  @Test
  void releaseOfAnUnknownClaimThatWritesZero() throws InterruptedException {
    assertEndsDifferently(
        system -> {
          Simulation world = Simulation.scripted(system);
          SimProcess first = world.startOn(0);
          world.runForSeconds(5);
          first.close();
          world.runForSeconds(0.2);
          SimProcess second = world.startOn(0);
          world.loseRepliesForSeconds(second, 1);
          world.runForSeconds(0.1);
          second.close(); // releases the claim of which it has heard nothing
          world.runForSeconds(0.2);
          world.stepRedisClock(-4_500);
          world.startOn(0);
          world.runForSeconds(10);
          return Ids.of(world);
        },
        withScripts(
            () ->
                new SimLedgerModel() {
                  @Override
                  protected long fenceOfUnknownGrant(Fence fence, LeaseTerms terms) {
                    return 0;
                  }
                }),
        Ids.ALL_DIFFERENT,
        Ids.MINTED_TWICE);
  }

  /**
   * A claim that is refused for its clock dates the loss of memory by that clock: Redis's own was
   * behind, and when it is set right the quarantine is over although windows of before are not.
   */
  @Test
  void birthWrittenUnderABadClock() throws InterruptedException {
    assertEndsDifferently(
        system -> {
          Simulation world = Simulation.scripted(system);
          SimProcess holder = world.startOn(0);
          world.runForSeconds(5);
          world.cutOffForSeconds(holder, 100);
          world.flush();
          world.stepRedisClock(-60_000);
          world.startOn(0);
          world.runForSeconds(3);
          world.stepRedisClock(60_000);
          world.runForSeconds(60);
          return Ids.of(world);
        },
        withScripts(
            () ->
                new SimLedgerModel() {
                  @Override
                  ClaimReply claim(LeaseTerms terms, Claim claim) {
                    if (Math.abs(now - claim.wallClock()) > terms.maxClockSkew()) {
                      recallAndRefuse(terms, claim);
                    }
                    return super.claim(terms, claim);
                  }
                }),
        Ids.ALL_DIFFERENT,
        Ids.MINTED_TWICE);
  }

  /**
   * Two copies of a process renew the same lease for ever, and mint the same ids. With the nonce,
   * the second one to renew is told that the lease is gone.
   */
  @Test
  void noNonce() throws InterruptedException {
    assertEndsDifferently(
        MutantsOfScriptsTest::forkWithoutASign,
        withScripts(
            () ->
                new SimLedgerModel() {
                  @Override
                  protected boolean isMine(String storedNonce, Renewal renewal) {
                    return true;
                  }
                }),
        Ids.ALL_DIFFERENT,
        Ids.MINTED_TWICE);
  }

  /** A nonce that was good once stays good: both copies know the one of before they parted. */
  @Test
  void nonceThatIsNeverForgotten() throws InterruptedException {
    Map<String, Set<String>> everStored = new HashMap<>();
    assertEndsDifferently(
        MutantsOfScriptsTest::forkWithoutASign,
        withScripts(
            () ->
                new SimLedgerModel() {
                  @Override
                  protected boolean isMine(String storedNonce, Renewal renewal) {
                    Set<String> known =
                        everStored.computeIfAbsent(renewal.token(), token -> new HashSet<>());
                    known.add(storedNonce);
                    return renewal.nonces().stream().anyMatch(known::contains);
                  }
                }),
        Ids.ALL_DIFFERENT,
        Ids.MINTED_TWICE);
  }

  /**
   * A process is copied while it runs, with no sign that the stall detector could see. Until the
   * copies have renewed once, both mint; what counts are the ids after that.
   */
  private static Ids forkWithoutASign(SimSystem system) {
    Simulation world = Simulation.scripted(system);
    SimProcess original = world.start();
    world.runForSeconds(10);
    SimProcess copy = world.thaw(original.snapshot());
    copy.servesRequests = true;
    world.runForSeconds(5);
    int duplicatesOfTheStart = world.ids.duplicates();
    world.runForSeconds(60);
    return world.ids.duplicates() > duplicatesOfTheStart ? Ids.MINTED_TWICE : Ids.ALL_DIFFERENT;
  }

  /** Whether a newcomer was granted a slot in time. */
  private enum Newcomer {
    ADMITTED,
    SHUT_OUT
  }

  /**
   * No duplicate, but nobody gets in: a client that may not ask for the run id, and one that may,
   * take each other's server for a new one at each renewal, and the quarantine never ends.
   */
  @Test
  void infoDeniedReadAsANewServer() throws InterruptedException {
    assertEndsDifferently(
        system -> {
          Simulation world = Simulation.scripted(system);
          world.start();
          world.runForSeconds(10);
          SimProcess newcomer = world.startWithoutInfo();
          world.runForSeconds(50);
          return newcomer.manager().status().state() == LeaseState.HELD
              ? Newcomer.ADMITTED
              : Newcomer.SHUT_OUT;
        },
        withScripts(
            () ->
                new SimLedgerModel() {
                  @Override
                  protected String serverName(@Nullable String stored) {
                    return infoDenied ? "-" : runId;
                  }

                  @Override
                  protected boolean isAnotherServer(@Nullable String stored, String server) {
                    return !server.equals(stored);
                  }
                }),
        Newcomer.ADMITTED,
        Newcomer.SHUT_OUT);
  }

  /** Whether the fleet that was there first goes on. */
  private enum Fleet {
    GOES_ON,
    STOPPED
  }

  /**
   * No duplicate, but the fleet stops: after a flush a newcomer with another layout, which has been
   * granted nothing, has its layout written, and all live holders are refused.
   */
  @Test
  void layoutWrittenByARefusedClaim() throws InterruptedException {
    assertEndsDifferently(
        system -> {
          Simulation world = Simulation.scripted(system);
          SimProcess holder = world.start();
          world.runForSeconds(10);
          world.flush();
          world.cutOffForSeconds(holder, 5);
          world.startWithOtherLayout();
          world.runForSeconds(10);
          return holder.manager().status().state() == LeaseState.HELD
              ? Fleet.GOES_ON
              : Fleet.STOPPED;
        },
        withScripts(
            () ->
                new SimLedgerModel() {
                  @Override
                  protected long refuse(Memory memory) {
                    memory.changed.putAll(memory.agreed);
                    return super.refuse(memory);
                  }
                }),
        Fleet.GOES_ON,
        Fleet.STOPPED);
  }
}
