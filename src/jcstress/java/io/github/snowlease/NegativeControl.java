package io.github.snowlease;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * Broken generators, each in the test that is there to find it. A run of these must fail, each of
 * them; {@code .ci/run} sees to that.
 */
public final class NegativeControl {
  private NegativeControl() {}

  @JCStressTest
  @Description("The window is read before the word: nextId ∥ seal slot A, open slot B")
  @Outcome(expect = ACCEPTABLE, desc = "As with the sound generator.")
  @Outcome(
      id = "A5.0, 1.0",
      expect = FORBIDDEN,
      desc = "Minted on A after it was handed back as if nothing had been minted on it.")
  @State
  public static class WindowBeforeWord extends GeneratorFixture {
    public WindowBeforeWord() {
      super(
          (layout, clock, time, maxWaitNanos, refusal) ->
              new SnowflakeGenerator(layout, clock, time, maxWaitNanos, refusal) {
                // One caller: only its thread writes this.
                private LeaseWindow early = LeaseWindow.NONE;

                @Override
                long word() {
                  early = super.window();
                  Hesitating.hesitate();
                  return super.word();
                }

                @Override
                LeaseWindow window() {
                  return early;
                }
              });
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
  @Description("The word is set without a compare-and-set: nextId ∥ nextId")
  @Outcome(expect = ACCEPTABLE, desc = "As with the sound generator.")
  @Outcome(id = "A5.0, A5.0", expect = FORBIDDEN, desc = "The same id twice.")
  @State
  public static class NoCompareAndSet extends GeneratorFixture {
    public NoCompareAndSet() {
      super(
          (layout, clock, time, maxWaitNanos, refusal) ->
              new SnowflakeGenerator(layout, clock, time, maxWaitNanos, refusal) {
                @Override
                boolean advance(long from, long to) {
                  word = to;
                  return true;
                }
              });
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
  @Description("The seal is set in two steps: nextId ∥ seal")
  @Outcome(expect = ACCEPTABLE, desc = "As with the sound generator.")
  @Outcome(id = "A5.0, 1.0", expect = FORBIDDEN, desc = "Minted above the fence.")
  @State
  public static class SealInTwoSteps extends GeneratorFixture {
    public SealInTwoSteps() {
      super(
          (layout, clock, time, maxWaitNanos, refusal) ->
              new SnowflakeGenerator(layout, clock, time, maxWaitNanos, refusal) {
                @Override
                void seal() {
                  long seen = word;
                  word = seen | Long.MIN_VALUE;
                }
              });
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
}
