package io.github.snowlease;

import static io.github.snowlease.Mutants.assertEndsDifferently;
import static io.github.snowlease.Mutants.assertMintsTwice;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.snowlease.LeaseStore.Holder;
import io.github.snowlease.Mutants.Ids;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** The rules that a process keeps, each broken once. */
class MutantsOfProcessTest {

  /**
   * All claims of a process carry the same token: the release of one whose answer was lost frees
   * the slot that a later one won.
   */
  @Test
  void tokenSharedBetweenClaims() throws InterruptedException {
    assertMintsTwice(
        new SimSystem() {
          @Override
          LeaseStore storeOf(SimProcess process, LeaseStore network) {
            String token = String.format("%032x", 1 + process.number);
            return new MutantStore(network) {
              @Override
              public CompletionStage<ClaimReply> claim(LeaseTerms terms, Claim c) {
                return network.claim(
                    terms,
                    new Claim(
                        token,
                        c.nonce(),
                        c.wallClock(),
                        c.estimate(),
                        c.seenRev(),
                        c.candidates(),
                        c.holder()));
              }

              @Override
              public CompletionStage<RenewReply> renew(LeaseTerms terms, Renewal r) {
                return network.renew(
                    terms,
                    new Renewal(
                        token,
                        r.slot(),
                        r.until(),
                        r.nonces(),
                        r.newNonce(),
                        r.estimate(),
                        r.seenRev(),
                        r.holder()));
              }

              @Override
              public CompletionStage<Boolean> release(LeaseTerms terms, Release r) {
                return network.release(terms, new Release(token, r.lastIssued(), r.candidates()));
              }
            };
          }
        },
        SimFaultSet.ORDINARY);
  }

  /**
   * Ids carry the host's wall clock and the beginning of the window is not looked at: a new holder
   * whose clock is behind mints the ids of the one before.
   */
  @Test
  void wallClockAsIdClockWithoutAFloor() throws InterruptedException {
    assertMintsTwice(
        new SimSystem() {
          @Override
          SnowflakeGenerator generatorOf(
              SimProcess process, BitLayout layout, IdClock clock, TimeSource time) {
            return new SimGenerator(process, layout, wallClock(process, layout), time) {
              @Override
              LeaseWindow window() {
                LeaseWindow granted = super.window();
                return granted.isEmpty()
                    ? granted
                    : MutantWindows.between(
                        layout, granted, 0, granted.lastWord >>> layout.sequenceBits());
              }
            };
          }
        },
        SimFaultSet.HOST_CLOCKS);
  }

  private static IdClock wallClock(SimProcess process, BitLayout layout) {
    TimeSource wall =
        new TimeSource() {
          @Override
          public long nanoTime() {
            return (wallMillis() - layout.epochMillis()) * 1_000_000;
          }

          @Override
          public long wallMillis() {
            return process.wallMillis();
          }
        };
    IdClock clock = new IdClock(wall, layout.epochMillis(), layout.tickMillis());
    long now = wall.nanoTime();
    clock.observe(now, now, layout.epochMillis() + now / 1_000_000);
    return clock;
  }

  /** A thawed copy takes the time of its snapshot for now, and mints what its original minted. */
  @Test
  void noStallDetector() throws InterruptedException {
    assertMintsTwice(
        new SimSystem() {
          @Override
          TimeSource clocksOf(SimProcess process) {
            return new UnsuspiciousClocks(process);
          }
        },
        SimFaultSet.CLONES);
  }

  /** The wall clock follows nanoTime, so that comparing the two tells nothing. */
  private static final class UnsuspiciousClocks implements TimeSource {
    private final SimProcess process;
    private boolean started;
    private long offsetMillis;

    UnsuspiciousClocks(SimProcess process) {
      this.process = process;
    }

    @Override
    public long nanoTime() {
      return process.nanoTime();
    }

    @Override
    public long wallMillis() {
      long millis = Math.floorDiv(process.nanoTime(), 1_000_000L);
      if (!started) {
        started = true;
        offsetMillis = process.wallMillis() - millis;
      }
      return millis + offsetMillis;
    }
  }

  /**
   * A process that finds itself stalled goes on with its lease whatever the store's clock says: so
   * do a copy and its original.
   */
  @Test
  void renewalAfterAStall() throws InterruptedException {
    assertMintsTwice(
        new SimSystem() {
          @Override
          LeaseStore storeOf(SimProcess process, LeaseStore network) {
            return new MutantStore(network) {
              @Override
              public CompletionStage<Long> time(LeaseTerms terms) {
                return network
                    .time(terms)
                    .thenApply(now -> process.idClock().estimateAt(process.nanoTime()));
              }
            };
          }
        },
        SimFaultSet.CLONES);
  }

  /** A process that exits mints on up to a fence that is not the one it told. */
  @Test
  void graceThatOutlastsItsFence() throws InterruptedException {
    assertMintsTwice(
        new SimSystem() {
          @Override
          LeaseStore storeOf(SimProcess process, LeaseStore network) {
            return new MutantStore(network) {
              @Override
              public CompletionStage<Boolean> release(LeaseTerms terms, Release r) {
                long tooLow = r.lastIssued() - SimProcess.EXIT_GRACE_MILLIS;
                return network.release(
                    terms, r.lastIssued() < 0 ? r : new Release(r.token(), tooLow, r.candidates()));
              }
            };
          }
        },
        SimFaultSet.ORDINARY);
  }

  /** A slot is handed back, granted anew, and its old holder mints on for a moment. */
  @Test
  void releaseBeforeSealing() throws InterruptedException {
    assertMintsTwice(
        new SimSystem() {
          @Override
          SnowflakeGenerator generatorOf(
              SimProcess process, BitLayout layout, IdClock clock, TimeSource time) {
            return new SimGenerator(process, layout, clock, time) {
              private boolean closing;

              @Override
              long close() {
                if (closing) {
                  return CLOSED;
                }
                closing = true;
                process.world.plan(
                    process, process.world.now + 2_000 * Simulation.NANOS_PER_MILLI, super::close);
                return lastTick();
              }
            };
          }
        },
        SimFaultSet.ORDINARY);
  }

  /**
   * close() leaves the generator merely sealed, so that a grant that was on its way opens it again;
   * the slot is then released, and both its next holder and the closed process mint.
   */
  @Test
  void noClosedWord() throws InterruptedException {
    assertEndsDifferently(
        MutantsOfProcessTest::closeWhileAGrantIsOnItsWay,
        new SimSystem() {
          @Override
          SnowflakeGenerator generatorOf(
              SimProcess process, BitLayout layout, IdClock clock, TimeSource time) {
            return new SimGenerator(process, layout, clock, time) {
              @Override
              long close() {
                seal();
                return lastTick();
              }
            };
          }
        },
        Ids.ALL_DIFFERENT,
        Ids.MINTED_TWICE);
  }

  /** open() does not look whether the generator was closed: the same story. */
  @Test
  void reopenAfterClose() throws InterruptedException {
    assertEndsDifferently(
        MutantsOfProcessTest::closeWhileAGrantIsOnItsWay,
        new SimSystem() {
          @Override
          SnowflakeGenerator generatorOf(
              SimProcess process, BitLayout layout, IdClock clock, TimeSource time) {
            return new SimGenerator(process, layout, clock, time) {
              @Override
              boolean open(LeaseWindow granted) {
                if (word == CLOSED) {
                  word = Long.MIN_VALUE;
                }
                return super.open(granted);
              }
            };
          }
        },
        Ids.ALL_DIFFERENT,
        Ids.MINTED_TWICE);
  }

  /**
   * Blocks of ids are used up whatever has come since they were reserved: a copy of a process and
   * its original both have them.
   */
  @Test
  void blocksThatOutliveTheirTickAndTheirLease() throws InterruptedException {
    assertMintsTwice(
        new SimSystem() {
          @Override
          IdSource idsOf(SnowflakeGenerator generator, BitLayout layout, IdClock clock) {
            return new StripedGenerator(generator, clock, layout) {
              @Override
              boolean mayTakeFrom(Block block, long tick, long word) {
                return block.tick >= 0;
              }
            };
          }
        },
        SimFaultSet.CLONES,
        SimSystem.PER_THREAD);
  }

  /** The thread that closes is stopped between closing the generator and telling the manager. */
  private static Ids closeWhileAGrantIsOnItsWay(SimSystem system) {
    Simulation world = Simulation.scripted(system);
    SimProcess closing = world.startOn(0);
    world.runUntilSent(closing);
    long lastTick = closing.closeGenerator();
    world.runForSeconds(1);
    closing.closeManager(lastTick);
    world.runForSeconds(0.5);
    world.startOn(0);
    world.runForSeconds(2);
    return Ids.of(world);
  }

  /**
   * With the window read first, a thread that is stopped after that misses a seal and a reopening
   * on another slot, and mints on the old slot, which somebody else has been granted by then.
   */
  @Test
  void windowReadBeforeTheWord() throws InterruptedException {
    assertEndsDifferently(
        MutantsOfProcessTest::stopAtEachStepWhileTheLeaseChanges,
        new SimSystem() {
          @Override
          SnowflakeGenerator generatorOf(
              SimProcess process, BitLayout layout, IdClock clock, TimeSource time) {
            return new WindowFirstGenerator(process, layout, clock, time);
          }
        },
        Ids.ALL_DIFFERENT,
        Ids.MINTED_TWICE);
  }

  /** More than nextId has. */
  private static final int STEPS = 12;

  private static Ids stopAtEachStepWhileTheLeaseChanges(SimSystem system) {
    Ids ending = Ids.ALL_DIFFERENT;
    for (int step = 1; step <= STEPS; step++) {
      if (stopWhileTheLeaseChanges(system, step) == Ids.MINTED_TWICE) {
        ending = Ids.MINTED_TWICE;
      }
    }
    return ending;
  }

  private static Ids stopWhileTheLeaseChanges(SimSystem system, int step) {
    Simulation world = Simulation.scripted(system);
    SimProcess stopped = world.start();
    world.runForSeconds(5);
    stopped.servesRequests = false;
    Slot slot = stopped.manager().status().slot().orElseThrow();
    stopped.stopAtStep(
        step,
        () -> {
          // A checkpoint drops the lease long before its window ends. Somebody else is granted the
          // slot, then this process goes on, on another one.
          Future<Void> suspended = stopped.manager().suspend();
          world.runForSeconds(1);
          assertThat(suspended).isDone();
          SimProcess next = world.startOn(slot.node());
          world.runUntilHeldBy(next);
          stopped.manager().resume(new Random(step), new Holder("host", 0, "", 0, ""));
          world.runUntilHeldBy(stopped);
          assertThat(stopped.manager().status().slot()).isPresent().isNotEqualTo(Optional.of(slot));
          world.runForSeconds(1);
          next.mintOne();
        });
    stopped.mintOne();
    stopped.stopAtStep(0, () -> {}); // if it had fewer steps
    world.runForSeconds(5);
    return Ids.of(world);
  }

  /** The generator's nextId with its reads in the wrong order. */
  private static final class WindowFirstGenerator extends SimGenerator {
    private final SimProcess process;
    private final IdClock clock;
    private final int sequenceBits;

    WindowFirstGenerator(SimProcess process, BitLayout layout, IdClock clock, TimeSource time) {
      super(process, layout, clock, time);
      this.process = process;
      this.clock = clock;
      this.sequenceBits = layout.sequenceBits();
    }

    @Override
    public long nextId() {
      while (true) {
        LeaseWindow permitted = window();
        long tick = clock.tick();
        long current = word();
        long next = Math.max(current + 1, tick << sequenceBits);
        if (current < 0
            || next >= (tick + 1) << sequenceBits
            || next > permitted.lastWord
            || next < permitted.firstWord) {
          throw process.explain(NoLeaseException.Reason.LOST, 0);
        }
        if (advance(current, next)) {
          return permitted.idOf(next);
        }
      }
    }
  }
}
