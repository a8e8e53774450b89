package io.github.snowlease;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * {@link Ordering#PER_THREAD}, where all threads are of one stripe. Names and words are those of
 * {@link GeneratorFixture}. An outcome that is not listed is forbidden.
 */
public final class StripedStress {
  private StripedStress() {}

  /** A generator with one stripe. */
  static class Striped extends GeneratorFixture {
    Striped() {
      super(SnowflakeGenerator::new, 0, 1);
      ids.open(A_TO_9);
    }

    /** A5.0 and A5.1 are minted, and A5.2 is what is left of a block. */
    final void leaveOneInTheBlock() {
      nextId();
      nextId();
    }
  }

  @JCStressTest
  @Description("nextId ∥ nextId, with one id left in the block and one in the tick")
  @Outcome(
      id = {"A5.2, A5.3", "A5.3, A5.2"},
      expect = ACCEPTABLE,
      desc = "One got the last of the block, the other a new block.")
  @State
  public static class LastOfTheBlock extends Striped {
    public LastOfTheBlock() {
      leaveOneInTheBlock();
    }

    @Actor
    public void first(LL_Result r) {
      r.r1 = nextId();
    }

    @Actor
    public void second(LL_Result r) {
      r.r2 = nextId();
    }
  }

  @JCStressTest
  @Description("nextId from a block ∥ seal: what was reserved lies below the fence")
  @Outcome(id = "A5.2, 5.2", expect = ACCEPTABLE, desc = "Minted before the seal.")
  @Outcome(id = "LOST, 5.2", expect = ACCEPTABLE, desc = "Sealed before.")
  @State
  public static class SealedBlock extends Striped {
    public SealedBlock() {
      leaveOneInTheBlock();
    }

    @Actor
    public void caller(LL_Result r) {
      r.r1 = nextId();
    }

    @Actor
    public void lease(LL_Result r) {
      r.r2 = seal();
    }
  }

  @JCStressTest
  @Description(
      "nextId from a block of slot A ∥ seal slot A, open slot B, the clock goes on, nextId")
  @Outcome(id = "A5.2, B6.1", expect = ACCEPTABLE, desc = "The caller minted before the seal.")
  @Outcome(
      id = {"LOST, B6.1", "SATURATED, B6.1"},
      expect = ACCEPTABLE,
      desc = "It came between seal and clock.")
  @Outcome(
      id = {"B6.1, B6.2", "B6.2, B6.1"},
      expect = ACCEPTABLE,
      desc = "It came after, and both minted on B, of which B6.1 is the first.")
  @Outcome(
      id = {"B6.1, B6.3", "B6.3, B6.1", "B6.2, B6.3", "B6.3, B6.2"},
      expect = ACCEPTABLE,
      desc = "The same, and one reserved a word that it had to drop, as the other was faster.")
  @Outcome(
      id = "B6.1, SATURATED",
      expect = ACCEPTABLE,
      desc = "It read the clock before and reserved the tick, which the other did not see yet.")
  @State
  public static class BlockOverSlotChange extends Striped {
    public BlockOverSlotChange() {
      leaveOneInTheBlock();
    }

    @Actor
    public void caller(LL_Result r) {
      r.r1 = nextId();
    }

    @Actor
    public void lease(LL_Result r) {
      ids.seal();
      ids.open(B_TO_9);
      clockTo(6);
      r.r2 = nextId();
    }
  }

  @JCStressTest
  @Description("nextId, nextId ∥ nextIds: the ids of a thread increase")
  @Outcome(
      id = {
        "A5.0, A5.1, A5.3",
        "A5.0, A5.2, A5.1",
        "A5.1, A5.2, A5.0",
        "A5.2, A5.3, A5.0",
        "A5.2, A5.3, A5.1"
      },
      expect = ACCEPTABLE,
      desc = "The batch came last, between or first; words may have been dropped.")
  @Outcome(
      id = {"A5.0, SATURATED, A5.1", "A5.0, SATURATED, A5.3", "A5.1, SATURATED, A5.0"},
      expect = ACCEPTABLE,
      desc = "The rest of the tick was reserved, and dropped because of the batch.")
  @State
  public static class TwoCallsAndABatch extends Striped {
    @Actor
    public void twice(LLL_Result r) {
      r.r1 = nextId();
      r.r2 = nextId();
    }

    @Actor
    public void batch(LLL_Result r) {
      r.r3 = nextIds(1);
    }
  }
}
