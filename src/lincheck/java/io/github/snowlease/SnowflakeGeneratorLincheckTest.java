package io.github.snowlease;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;

/**
 * Every concurrent run of the generator gives results that one after the other could have given,
 * too: those of {@link Sequential}, which has no thread to fear.
 *
 * <p>A refusal is a refusal here, whatever its reason: a call that meets a close halfway is told
 * LOST rather than CLOSED. No two close at once: the one that tells the last tick need not be the
 * one that stopped a caller first, and exactly one tells, which jcstress sees to. The clock stands
 * still, so that a tick has a last id.
 */
class SnowflakeGeneratorLincheckTest {
  private static final int SCENARIOS = Integer.getInteger("lincheck.scenarios", 30);

  @Test
  void generatorIsLinearizableInEveryInterleavingThatTheModelCheckerTries() {
    modelChecking().check(Concurrent.class);
  }

  @Test
  void generatorIsLinearizableUnderStress() {
    new StressOptions()
        .threads(3)
        .actorsPerThread(3)
        .iterations(SCENARIOS)
        .invocationsPerIteration(1_000)
        .sequentialSpecification(Sequential.class)
        .check(Concurrent.class);
  }

  @Test
  void modelCheckerFindsAWindowThatIsReadBeforeTheWord() {
    assertThatThrownBy(() -> modelChecking().iterations(200).check(WindowBeforeWord.class))
        .isInstanceOf(LincheckAssertionError.class)
        .hasMessageContaining("Invalid execution results");
  }

  private static ModelCheckingOptions modelChecking() {
    return new ModelCheckingOptions()
        .threads(3)
        .actorsPerThread(3)
        .iterations(SCENARIOS)
        .invocationsPerIteration(500)
        .sequentialSpecification(Sequential.class);
  }

  /** What callers, the one lease thread, and whoever closes can do. */
  interface Steps {
    String nextId();

    String nextIds();

    void seal();

    /** Opens slot A, or B, in turn, if it was sealed. */
    String open();

    void extend();

    String close();
  }

  /** The generator. */
  public static class Concurrent implements Steps {
    private final GeneratorFixture generator;
    // Of the lease thread alone.
    private boolean slotB;
    private boolean sealed;

    public Concurrent() {
      this(SnowflakeGenerator::new);
    }

    Concurrent(GeneratorFixture.Factory factory) {
      generator = new GeneratorFixture(factory);
      generator.ids.open(GeneratorFixture.A_TO_5);
    }

    @Override
    @Operation
    public String nextId() {
      return idOrRefusal(generator.nextId());
    }

    @Override
    @Operation
    public String nextIds() {
      return idOrRefusal(generator.nextIds(2));
    }

    @Override
    @Operation(nonParallelGroup = "lease")
    public void seal() {
      generator.ids.seal();
      sealed = true;
    }

    @Override
    @Operation(nonParallelGroup = "lease")
    public String open() {
      if (!sealed) {
        return "is open";
      }
      boolean opened =
          generator.ids.open(slotB ? GeneratorFixture.A_TO_5 : GeneratorFixture.B_TO_4);
      slotB = !slotB;
      sealed = false;
      return Boolean.toString(opened);
    }

    @Override
    @Operation(nonParallelGroup = "lease")
    public void extend() {
      generator.ids.extend(GeneratorFixture.B_TO_4, GeneratorFixture.B_TO_9);
    }

    @Override
    @Operation(nonParallelGroup = "close")
    public String close() {
      long told = generator.ids.close();
      return told == SnowflakeGenerator.CLOSED ? "told" : Long.toString(told);
    }

    private static String idOrRefusal(String result) {
      return Character.isDigit(result.charAt(1)) ? result : "refused";
    }
  }

  /** The order of reads that the generator's class warns of. */
  public static final class WindowBeforeWord extends Concurrent {
    private static final ThreadLocal<LeaseWindow> EARLY = new ThreadLocal<>();

    public WindowBeforeWord() {
      super(
          (layout, clock, time, maxWaitNanos, refusal) ->
              new SnowflakeGenerator(layout, clock, time, maxWaitNanos, refusal) {
                @Override
                long word() {
                  EARLY.set(super.window());
                  return super.word();
                }

                @Override
                LeaseWindow window() {
                  return EARLY.get();
                }
              });
    }
  }

  /** What the generator does, for one thread: a tick and a sequence, a slot and its last tick. */
  public static final class Sequential implements Steps {
    private static final int SEQUENCES = 4;
    private static final int CLOCK = 5;

    private int tick = 1;
    private int sequence;
    private char slot = 'A';
    private int lastTick = 5;
    private boolean sealed;
    private boolean closed;

    @Override
    public String nextId() {
      return mint(1);
    }

    @Override
    public String nextIds() {
      return mint(2);
    }

    private String mint(int count) {
      StringBuilder ids = new StringBuilder();
      for (int i = 0; i < count; i++) {
        boolean full = tick == CLOCK && sequence == SEQUENCES - 1;
        if (closed || sealed || tick > CLOCK || full || lastTick < CLOCK) {
          return "refused"; // what a batch has taken until here is gone
        }
        sequence = tick == CLOCK ? sequence + 1 : 0;
        tick = CLOCK;
        ids.append(i == 0 ? "" : " ").append(slot).append(tick).append('.').append(sequence);
      }
      return ids.toString();
    }

    @Override
    public void seal() {
      sealed = true;
    }

    @Override
    public String open() {
      if (!sealed) {
        return "is open";
      }
      lastTick = slot == 'A' ? 4 : 5;
      slot = slot == 'A' ? 'B' : 'A';
      sealed = false;
      if (!closed) {
        tick++;
        sequence = 0;
      }
      return Boolean.toString(!closed);
    }

    @Override
    public void extend() {
      if (slot == 'B') {
        lastTick = 9;
      }
    }

    @Override
    public String close() {
      if (closed) {
        return "told";
      }
      closed = true;
      return Integer.toString(tick);
    }
  }
}
