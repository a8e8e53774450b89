package io.github.snowlease.acceptance;

import io.github.snowlease.testing.RedisExtension;
import io.github.snowlease.testing.RedisServer;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** The outage of {@link LivenessTest} with the default lease, which takes longer. */
@Tag("soak")
@ExtendWith(RedisExtension.class)
class LongOutageTest {
  @Test
  @Timeout(value = 4, unit = TimeUnit.MINUTES)
  void while_Redis_hangs_for_60_s_calls_fail_from_the_windows_end_and_work_within_5_s_of_its_return(
      RedisServer redis) throws Exception {
    Quiet quiet = Quiet.begin();
    try {
      LivenessTest.requireStopAndReturn(30, LivenessTest.loss(redis, 30, 60, () -> {}));
    } finally {
      quiet.close();
    }
  }
}
