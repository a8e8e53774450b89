package io.github.snowlease;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.TimeUnit;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Mode;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.Signal;
import org.openjdk.jcstress.annotations.State;

/** No caller sleeps through the change that it waits for. */
public final class WaitingStress {
  private static final long AN_HOUR = TimeUnit.HOURS.toNanos(1);

  private WaitingStress() {}

  @JCStressTest(Mode.Termination)
  @Description("nextId waits for a lease ∥ open")
  @Outcome(id = "TERMINATED", expect = ACCEPTABLE, desc = "Woken, or not asleep yet.")
  @Outcome(id = "STALE", expect = FORBIDDEN, desc = "The caller sleeps on.")
  @State
  public static class Opened extends GeneratorFixture {
    public Opened() {
      super(SnowflakeGenerator::new, AN_HOUR);
    }

    @Actor
    public void caller() {
      nextId();
    }

    @Signal
    public void lease() {
      ids.open(A_TO_9);
    }
  }

  @JCStressTest(Mode.Termination)
  @Description("nextId waits at the end of the window ∥ extend")
  @Outcome(id = "TERMINATED", expect = ACCEPTABLE, desc = "Woken, or not asleep yet.")
  @Outcome(id = "STALE", expect = FORBIDDEN, desc = "The caller sleeps on.")
  @State
  public static class Extended extends GeneratorFixture {
    public Extended() {
      super(SnowflakeGenerator::new, AN_HOUR);
      ids.open(A_TO_4);
    }

    @Actor
    public void caller() {
      nextId();
    }

    @Signal
    public void lease() {
      ids.extend(A_TO_4, A_TO_9);
    }
  }

  @JCStressTest(Mode.Termination)
  @Description("nextId waits for a lease ∥ close")
  @Outcome(id = "TERMINATED", expect = ACCEPTABLE, desc = "Woken, or not asleep yet.")
  @Outcome(id = "STALE", expect = FORBIDDEN, desc = "The caller sleeps on.")
  @State
  public static class Closed extends GeneratorFixture {
    public Closed() {
      super(SnowflakeGenerator::new, AN_HOUR);
    }

    @Actor
    public void caller() {
      nextId();
    }

    @Signal
    public void closer() {
      ids.close();
    }
  }
}
