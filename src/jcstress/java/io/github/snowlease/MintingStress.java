package io.github.snowlease;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLLL_Result;
import org.openjdk.jcstress.infra.results.LLL_Result;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * Callers against callers, while the clock goes on. Names and words are those of {@link
 * GeneratorFixture}. An outcome that is not listed is forbidden.
 */
public final class MintingStress {
  private MintingStress() {}

  @JCStressTest
  @Description("nextId ∥ nextId")
  @Outcome(id = "A5.0, A5.1", expect = ACCEPTABLE, desc = "The first caller came first.")
  @Outcome(id = "A5.1, A5.0", expect = ACCEPTABLE, desc = "The second caller came first.")
  @State
  public static class TwoCallers extends GeneratorFixture {
    public TwoCallers() {
      ids.open(A_TO_9);
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
  @Description("nextId ∥ nextId, with time between their steps")
  @Outcome(id = "A5.0, A5.1", expect = ACCEPTABLE, desc = "The first caller came first.")
  @Outcome(id = "A5.1, A5.0", expect = ACCEPTABLE, desc = "The second caller came first.")
  @State
  public static class HesitatingCallers extends GeneratorFixture {
    public HesitatingCallers() {
      super(Hesitating::new);
      ids.open(A_TO_9);
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
  @Description("nextId, nextId ∥ nextId: a caller's ids increase, and no word is left out")
  @Outcome(id = "A5.0, A5.1, A5.2", expect = ACCEPTABLE, desc = "The single call came last.")
  @Outcome(id = "A5.0, A5.2, A5.1", expect = ACCEPTABLE, desc = "The single call came between.")
  @Outcome(id = "A5.1, A5.2, A5.0", expect = ACCEPTABLE, desc = "The single call came first.")
  @State
  public static class TwoCallsAndOne extends GeneratorFixture {
    public TwoCallsAndOne() {
      ids.open(A_TO_9);
    }

    @Actor
    public void twice(LLL_Result r) {
      r.r1 = nextId();
      r.r2 = nextId();
    }

    @Actor
    public void once(LLL_Result r) {
      r.r3 = nextId();
    }
  }

  @JCStressTest
  @Description("nextId ∥ nextIds: a batch that fits into its tick is not torn")
  @Outcome(id = "A5.0, A5.1 A5.2", expect = ACCEPTABLE, desc = "The single id came first.")
  @Outcome(id = "A5.2, A5.0 A5.1", expect = ACCEPTABLE, desc = "The batch came first.")
  @State
  public static class CallerAndBatch extends GeneratorFixture {
    public CallerAndBatch() {
      ids.open(A_TO_9);
    }

    @Actor
    public void one(LL_Result r) {
      r.r1 = nextId();
    }

    @Actor
    public void batch(LL_Result r) {
      r.r2 = nextIds(2);
    }
  }

  @JCStressTest
  @Description("nextIds ∥ nextIds")
  @Outcome(id = "A5.0 A5.1, A5.2 A5.3", expect = ACCEPTABLE, desc = "The first batch came first.")
  @Outcome(id = "A5.2 A5.3, A5.0 A5.1", expect = ACCEPTABLE, desc = "The second batch came first.")
  @State
  public static class TwoBatches extends GeneratorFixture {
    public TwoBatches() {
      ids.open(A_TO_9);
    }

    @Actor
    public void first(LL_Result r) {
      r.r1 = nextIds(2);
    }

    @Actor
    public void second(LL_Result r) {
      r.r2 = nextIds(2);
    }
  }

  @JCStressTest
  @Description("nextId, nextId ∥ nextIds use up tick 5: nothing is left of it afterwards")
  @Outcome(
      id = "A5.0, A5.1, A5.2 A5.3, SATURATED",
      expect = ACCEPTABLE,
      desc = "The batch came last.")
  @Outcome(
      id = "A5.0, A5.3, A5.1 A5.2, SATURATED",
      expect = ACCEPTABLE,
      desc = "The batch came between.")
  @Outcome(
      id = "A5.2, A5.3, A5.0 A5.1, SATURATED",
      expect = ACCEPTABLE,
      desc = "The batch came first.")
  @State
  public static class WholeTick extends GeneratorFixture {
    public WholeTick() {
      ids.open(A_TO_9);
    }

    @Actor
    public void twice(LLLL_Result r) {
      r.r1 = nextId();
      r.r2 = nextId();
    }

    @Actor
    public void batch(LLLL_Result r) {
      r.r3 = nextIds(2);
    }

    @Arbiter
    public void afterwards(LLLL_Result r) {
      r.r4 = nextId();
    }
  }

  @JCStressTest
  @Description("nextId ∥ nextId with one sequence left in the tick")
  @Outcome(
      id = {"A5.3, SATURATED", "SATURATED, A5.3"},
      expect = ACCEPTABLE,
      desc = "One took it; the other would have waited for the next tick.")
  @State
  public static class LastOfTheTick extends GeneratorFixture {
    public LastOfTheTick() {
      ids.open(A_TO_9);
      leaveInTick(1);
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
  @Description("nextId with one sequence left in tick 5 ∥ the clock goes on to tick 6, then nextId")
  @Outcome(
      id = "A5.3, A6.0",
      expect = ACCEPTABLE,
      desc = "The last sequence of tick 5, then the first of tick 6.")
  @Outcome(
      id = {"A6.0, A6.1", "A6.1, A6.0"},
      expect = ACCEPTABLE,
      desc = "Both came after the clock; the last sequence of tick 5 is left out.")
  @Outcome(
      id = "SATURATED, A6.0",
      expect = ACCEPTABLE,
      desc = "The first had read the clock before, the word after: it would have read it again.")
  @State
  public static class SequenceRollover extends GeneratorFixture {
    public SequenceRollover() {
      ids.open(A_TO_9);
      leaveInTick(1);
    }

    @Actor
    public void first(LL_Result r) {
      r.r1 = nextId();
    }

    @Actor
    public void second(LL_Result r) {
      clockTo(6);
      r.r2 = nextId();
    }
  }

  @JCStressTest
  @Description(
      "nextIds with two sequences left in tick 5 ∥ the clock goes on to tick 6, then nextId")
  @Outcome(
      id = {"A5.2 A5.3 A6.0, A6.1", "A5.2 A5.3 A6.1, A6.0"},
      expect = ACCEPTABLE,
      desc = "The batch took the rest of tick 5, and its third id in tick 6.")
  @Outcome(
      id = {"A6.0 A6.1 A6.2, A6.3", "A6.1 A6.2 A6.3, A6.0"},
      expect = ACCEPTABLE,
      desc = "Both came after the clock.")
  @Outcome(
      id = "SATURATED, A6.0",
      expect = ACCEPTABLE,
      desc = "The batch had read the clock before it went on, and would have waited.")
  @State
  public static class BatchOverRollover extends GeneratorFixture {
    public BatchOverRollover() {
      ids.open(A_TO_9);
      leaveInTick(2);
    }

    @Actor
    public void batch(LL_Result r) {
      r.r1 = nextIds(3);
    }

    @Actor
    public void one(LL_Result r) {
      clockTo(6);
      r.r2 = nextId();
    }
  }
}
