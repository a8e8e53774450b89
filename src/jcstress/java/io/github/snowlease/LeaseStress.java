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
 * Callers against what the lease thread does, and against {@code close}, which any thread may call.
 * Names and words are those of {@link GeneratorFixture}; a fence reads {@code 5.0}, the tick and
 * sequence of the last id as a seal tells it, and {@code 1.0} if there was none. An outcome that is
 * not listed is forbidden.
 */
public final class LeaseStress {
  private LeaseStress() {}

  // ---- The window ends, or is extended

  @JCStressTest
  @Description("nextId ∥ extend by the tick that the clock shows")
  @Outcome(id = "LOST, true", expect = ACCEPTABLE, desc = "The call came before the extension.")
  @Outcome(id = "A5.0, true", expect = ACCEPTABLE, desc = "The call came after the extension.")
  @State
  public static class Extension extends GeneratorFixture {
    public Extension() {
      ids.open(A_TO_4);
    }

    @Actor
    public void caller(LL_Result r) {
      r.r1 = nextId();
    }

    @Actor
    public void lease(LL_Result r) {
      r.r2 = ids.extend(A_TO_4, A_TO_9);
    }
  }

  @JCStressTest
  @Description("nextIds ∥ extend by the tick that the clock shows")
  @Outcome(id = "LOST, true", expect = ACCEPTABLE, desc = "The batch came before the extension.")
  @Outcome(
      id = "A5.0 A5.1, true",
      expect = ACCEPTABLE,
      desc = "The batch came after the extension.")
  @State
  public static class BatchAndExtension extends GeneratorFixture {
    public BatchAndExtension() {
      ids.open(A_TO_4);
    }

    @Actor
    public void batch(LL_Result r) {
      r.r1 = nextIds(2);
    }

    @Actor
    public void lease(LL_Result r) {
      r.r2 = ids.extend(A_TO_4, A_TO_9);
    }
  }

  @JCStressTest
  @Description("nextId ∥ nextId with one sequence left in the window")
  @Outcome(
      id = {"A5.3, LOST", "LOST, A5.3"},
      expect = ACCEPTABLE,
      desc = "One took the last id of the window; the other is refused.")
  @State
  public static class WindowEnd extends GeneratorFixture {
    public WindowEnd() {
      ids.open(A_TO_5);
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
  @Description(
      "nextId with one sequence left in the window ∥ the clock goes past its end, then nextId")
  @Outcome(
      id = "A5.3, LOST",
      expect = ACCEPTABLE,
      desc = "The last id of the window was minted before the clock went past its end.")
  @Outcome(id = "LOST, LOST", expect = ACCEPTABLE, desc = "Both came after the clock.")
  @State
  public static class ClockPastWindowEnd extends GeneratorFixture {
    public ClockPastWindowEnd() {
      ids.open(A_TO_5);
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
  @Description("nextIds over the end of the window ∥ nextId")
  @Outcome(
      id = "LOST, A5.2",
      expect = ACCEPTABLE,
      desc = "The single id came first; the batch is refused.")
  @Outcome(
      id = "LOST, LOST",
      expect = ACCEPTABLE,
      desc = "The batch used up the window, and is refused.")
  @State
  public static class BatchOverWindowEnd extends GeneratorFixture {
    public BatchOverWindowEnd() {
      ids.open(A_TO_5);
      leaveInTick(2);
    }

    @Actor
    public void batch(LL_Result r) {
      r.r1 = nextIds(3);
    }

    @Actor
    public void one(LL_Result r) {
      r.r2 = nextId();
    }
  }

  @JCStressTest
  @Description(
      "nextId, nextId at the end of the window ∥ the clock goes past it, then an extension")
  @Outcome(
      id = "A5.3, A6.0",
      expect = ACCEPTABLE,
      desc = "The last id of the window, then the first of its extension.")
  @Outcome(id = "A6.0, A6.1", expect = ACCEPTABLE, desc = "Both came after the extension.")
  @Outcome(
      id = {"A5.3, LOST", "LOST, A6.0", "LOST, LOST"},
      expect = ACCEPTABLE,
      desc = "Who is refused came after the end of the window, before its extension.")
  @Outcome(
      id = "A5.3, SATURATED",
      expect = ACCEPTABLE,
      desc =
          "The second call had read the clock before it went on, the window after the extension.")
  @State
  public static class WindowEndAndExtension extends GeneratorFixture {
    public WindowEndAndExtension() {
      ids.open(A_TO_5);
      leaveInTick(1);
    }

    @Actor
    public void caller(LL_Result r) {
      r.r1 = nextId();
      r.r2 = nextId();
    }

    @Actor
    public void lease() {
      clockTo(6);
      ids.extend(A_TO_5, A_TO_9);
    }
  }

  // ---- Sealed

  @JCStressTest
  @Description("nextId ∥ seal: no id lies above the fence that the seal tells")
  @Outcome(id = "A5.0, 5.0", expect = ACCEPTABLE, desc = "Minted before the seal.")
  @Outcome(id = "LOST, 1.0", expect = ACCEPTABLE, desc = "Sealed before anything was minted.")
  @State
  public static class Seal extends GeneratorFixture {
    public Seal() {
      ids.open(A_TO_9);
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
  @Description("nextId ∥ seal, with time between the steps of minting")
  @Outcome(id = "A5.0, 5.0", expect = ACCEPTABLE, desc = "Minted before the seal.")
  @Outcome(id = "LOST, 1.0", expect = ACCEPTABLE, desc = "Sealed before anything was minted.")
  @State
  public static class SealOfAHesitatingCaller extends GeneratorFixture {
    public SealOfAHesitatingCaller() {
      super(Hesitating::new);
      ids.open(A_TO_9);
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
  @Description("nextId, nextIds ∥ seal")
  @Outcome(id = "A5.0, A5.1 A5.2, 5.2", expect = ACCEPTABLE, desc = "Sealed after both.")
  @Outcome(id = "A5.0, LOST, 5.0", expect = ACCEPTABLE, desc = "Sealed between.")
  @Outcome(id = "LOST, LOST, 1.0", expect = ACCEPTABLE, desc = "Sealed before both.")
  @State
  public static class SealWithBatch extends GeneratorFixture {
    public SealWithBatch() {
      ids.open(A_TO_9);
    }

    @Actor
    public void caller(LLL_Result r) {
      r.r1 = nextId();
      r.r2 = nextIds(2);
    }

    @Actor
    public void lease(LLL_Result r) {
      r.r3 = seal();
    }
  }

  @JCStressTest
  @Description("nextId, nextId ∥ seal and reopen on the same window, as after a stepped wall clock")
  @Outcome(
      id = "A5.0, A5.1",
      expect = ACCEPTABLE,
      desc = "Both before the seal, or both after the reopening.")
  @Outcome(id = "A5.0, LOST", expect = ACCEPTABLE, desc = "The second call fell between.")
  @Outcome(
      id = "A5.0, SATURATED",
      expect = ACCEPTABLE,
      desc = "Reopened between the calls, one tick later, for which the second would have waited.")
  @Outcome(id = "LOST, A5.0", expect = ACCEPTABLE, desc = "The first call fell between.")
  @Outcome(id = "LOST, LOST", expect = ACCEPTABLE, desc = "Both calls fell between.")
  @State
  public static class Suspension extends GeneratorFixture {
    public Suspension() {
      ids.open(A_TO_9);
    }

    @Actor
    public void caller(LL_Result r) {
      r.r1 = nextId();
      r.r2 = nextId();
    }

    @Actor
    public void lease() {
      ids.seal();
      ids.open(A_TO_9);
    }
  }

  // ---- Swapped for another slot

  @JCStressTest
  @Description("nextId ∥ seal slot A, take its fence, open slot B")
  @Outcome(id = "A5.0, 5.0", expect = ACCEPTABLE, desc = "Minted on A, which is fenced there.")
  @Outcome(id = "LOST, 1.0", expect = ACCEPTABLE, desc = "The call fell between the two leases.")
  @Outcome(id = "B5.0, 1.0", expect = ACCEPTABLE, desc = "Minted on B; nothing on A.")
  @State
  public static class Swap extends GeneratorFixture {
    public Swap() {
      ids.open(A_TO_9);
    }

    @Actor
    public void caller(LL_Result r) {
      r.r1 = nextId();
    }

    @Actor
    public void lease(LL_Result r) {
      r.r2 = seal();
      ids.open(B_TO_9);
    }
  }

  @JCStressTest
  @Description(
      "nextId ∥ seal slot A, take its fence, open slot B, with time between the steps of minting")
  @Outcome(id = "A5.0, 5.0", expect = ACCEPTABLE, desc = "Minted on A, which is fenced there.")
  @Outcome(id = "LOST, 1.0", expect = ACCEPTABLE, desc = "The call fell between the two leases.")
  @Outcome(id = "B5.0, 1.0", expect = ACCEPTABLE, desc = "Minted on B; nothing on A.")
  @State
  public static class SwapUnderAHesitatingCaller extends GeneratorFixture {
    public SwapUnderAHesitatingCaller() {
      super(Hesitating::new);
      ids.open(A_TO_9);
    }

    @Actor
    public void caller(LL_Result r) {
      r.r1 = nextId();
    }

    @Actor
    public void lease(LL_Result r) {
      r.r2 = seal();
      ids.open(B_TO_9);
    }
  }

  @JCStressTest
  @Description("nextId, nextId ∥ seal slot A, take its fence, open slot B")
  @Outcome(
      id = "A5.0, A5.1, 5.1",
      expect = ACCEPTABLE,
      desc = "Both minted on A, which is fenced at the later.")
  @Outcome(
      id = "A5.0, LOST, 5.0",
      expect = ACCEPTABLE,
      desc = "The first minted on A, the second fell between.")
  @Outcome(
      id = "A5.0, SATURATED, 5.0",
      expect = ACCEPTABLE,
      desc =
          "The first minted on A; B opened one tick later, for which the second would have waited.")
  @Outcome(id = "B5.0, B5.1, 1.0", expect = ACCEPTABLE, desc = "Both minted on B; nothing on A.")
  @Outcome(
      id = "LOST, B5.0, 1.0",
      expect = ACCEPTABLE,
      desc = "The first fell between, the second minted on B.")
  @Outcome(id = "LOST, LOST, 1.0", expect = ACCEPTABLE, desc = "Both fell between.")
  @State
  public static class SwapUnderTwoCalls extends GeneratorFixture {
    public SwapUnderTwoCalls() {
      ids.open(A_TO_9);
    }

    @Actor
    public void caller(LLL_Result r) {
      r.r1 = nextId();
      r.r2 = nextId();
    }

    @Actor
    public void lease(LLL_Result r) {
      r.r3 = seal();
      ids.open(B_TO_9);
    }
  }

  @JCStressTest
  @Description(
      "nextIds with one sequence left in tick 5 ∥ swap from A to B, then the clock goes on")
  @Outcome(
      id = "A5.3 B7.0, 5.3",
      expect = ACCEPTABLE,
      desc = "One of A before the seal, one of B after the reopening: increasing still.")
  @Outcome(id = "B7.0 B7.1, 5.2", expect = ACCEPTABLE, desc = "All of B; nothing more on A.")
  @Outcome(
      id = {"LOST, 5.2", "LOST, 5.3"},
      expect = ACCEPTABLE,
      desc = "The batch, or its second piece, fell between the two leases.")
  @Outcome(
      id = {"SATURATED, 5.2", "SATURATED, 5.3"},
      expect = ACCEPTABLE,
      desc = "The batch, or its second piece, would have waited for the clock.")
  @State
  public static class SwapUnderABatch extends GeneratorFixture {
    public SwapUnderABatch() {
      ids.open(A_TO_9);
      leaveInTick(1);
    }

    @Actor
    public void batch(LL_Result r) {
      r.r1 = nextIds(2);
    }

    @Actor
    public void lease(LL_Result r) {
      r.r2 = seal();
      ids.open(B_TO_9);
      clockTo(7);
    }
  }

  // ---- Closed

  @JCStressTest
  @Description("nextId ∥ close: the close tells the last tick")
  @Outcome(id = "A5.0, 5", expect = ACCEPTABLE, desc = "Minted before the close.")
  @Outcome(
      id = {"LOST, 1", "CLOSED, 1"},
      expect = ACCEPTABLE,
      desc = "Closed just then, or before.")
  @State
  public static class Close extends GeneratorFixture {
    public Close() {
      ids.open(A_TO_9);
    }

    @Actor
    public void caller(LL_Result r) {
      r.r1 = nextId();
    }

    @Actor
    public void closer(LL_Result r) {
      r.r2 = ids.close();
    }
  }

  @JCStressTest
  @Description("open ∥ close: closing wins")
  @Outcome(id = "false, 0, CLOSED", expect = ACCEPTABLE, desc = "Closed before it was opened.")
  @Outcome(id = "true, 1, CLOSED", expect = ACCEPTABLE, desc = "Opened, then closed.")
  @State
  public static class OpenAndClose extends GeneratorFixture {
    @Actor
    public void lease(LLL_Result r) {
      r.r1 = ids.open(A_TO_9);
    }

    @Actor
    public void closer(LLL_Result r) {
      r.r2 = ids.close();
    }

    @Arbiter
    public void afterwards(LLL_Result r) {
      r.r3 = nextId();
    }
  }

  @JCStressTest
  @Description("nextId ∥ open, close")
  @Outcome(
      id = "A5.0, true, 5",
      expect = ACCEPTABLE,
      desc = "Minted in between; the close tells of it.")
  @Outcome(id = "NOT_YET, true, 1", expect = ACCEPTABLE, desc = "The call came before the opening.")
  @Outcome(
      id = {"LOST, true, 1", "CLOSED, true, 1"},
      expect = ACCEPTABLE,
      desc = "The call came during the close, or after.")
  @State
  public static class OpenThenCloseUnderACaller extends GeneratorFixture {
    @Actor
    public void caller(LLL_Result r) {
      r.r1 = nextId();
    }

    @Actor
    public void lease(LLL_Result r) {
      r.r2 = ids.open(A_TO_9);
      r.r3 = ids.close();
    }
  }

  @JCStressTest
  @Description("open ∥ nextId, close")
  @Outcome(id = "true, A5.0, 5", expect = ACCEPTABLE, desc = "Opened, minted, closed.")
  @Outcome(
      id = "true, NOT_YET, 1",
      expect = ACCEPTABLE,
      desc = "Opened between the call and the close.")
  @Outcome(id = "false, NOT_YET, 0", expect = ACCEPTABLE, desc = "Closed before it was opened.")
  @State
  public static class OpenUnderCallThenClose extends GeneratorFixture {
    @Actor
    public void lease(LLL_Result r) {
      r.r1 = ids.open(A_TO_9);
    }

    @Actor
    public void caller(LLL_Result r) {
      r.r2 = nextId();
      r.r3 = ids.close();
    }
  }

  @JCStressTest
  @Description("nextId, close ∥ close: one of them tells the last tick, and hands the slot back")
  @Outcome(
      id = {"A5.0, 5, -1", "A5.0, -1, 5"},
      expect = ACCEPTABLE,
      desc = "Minted before either close.")
  @Outcome(
      id = {"LOST, 1, -1", "LOST, -1, 1"},
      expect = ACCEPTABLE,
      desc = "The call came during the other close; either may end first.")
  @Outcome(id = "CLOSED, -1, 1", expect = ACCEPTABLE, desc = "The other close came first.")
  @State
  public static class CloseTwice extends GeneratorFixture {
    public CloseTwice() {
      ids.open(A_TO_9);
    }

    @Actor
    public void caller(LLL_Result r) {
      r.r1 = nextId();
      r.r2 = ids.close();
    }

    @Actor
    public void closer(LLL_Result r) {
      r.r3 = ids.close();
    }
  }

  @JCStressTest
  @Description("seal slot A, open slot B ∥ close")
  @Outcome(id = "CLOSED, false, 1, CLOSED", expect = ACCEPTABLE, desc = "Closed before the seal.")
  @Outcome(id = "1.0, false, 1, CLOSED", expect = ACCEPTABLE, desc = "Closed between.")
  @Outcome(id = "1.0, true, 2, CLOSED", expect = ACCEPTABLE, desc = "Closed after the reopening.")
  @State
  public static class SwapAndClose extends GeneratorFixture {
    public SwapAndClose() {
      ids.open(A_TO_9);
    }

    @Actor
    public void lease(LLLL_Result r) {
      r.r1 = seal();
      r.r2 = ids.open(B_TO_9);
    }

    @Actor
    public void closer(LLLL_Result r) {
      r.r3 = ids.close();
    }

    @Arbiter
    public void afterwards(LLLL_Result r) {
      r.r4 = nextId();
    }
  }
}
