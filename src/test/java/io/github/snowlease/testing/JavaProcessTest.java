package io.github.snowlease.testing;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class JavaProcessTest {

  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final Duration A_MOMENT = Duration.ofMillis(300);

  /** Says what it was started with, then echoes. */
  static final class Echo {
    public static void main(String[] arguments) throws IOException {
      Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook ran")));
      System.out.println("arguments " + List.of(arguments));
      System.out.println("environment " + System.getenv("SNOWLEASE_ECHO"));
      System.out.println("heap " + (Runtime.getRuntime().maxMemory() >> 20));
      System.err.println("a complaint");
      BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        System.out.println("echo " + line);
      }
      System.exit(7);
    }
  }

  /** Starts an Echo, tells its pid, and waits to be killed. */
  static final class Parent {
    public static void main(String[] arguments) {
      JavaProcess child = JavaProcess.of(Echo.class).start();
      child.awaitLine("heap", LIMIT);
      child.pause();
      System.out.println(child.pid());
      child.awaitExit(Duration.ofMinutes(5));
    }
  }

  @Test
  void talksLineByLineAndTellsItsExitCode() {
    try (JavaProcess echo =
        JavaProcess.of(Echo.class)
            .arguments("a", "b c")
            .environment("SNOWLEASE_ECHO", "here")
            .jvmOptions("-Xmx64m")
            .start()) {
      assertThat(echo.readLine(LIMIT)).isEqualTo("arguments [a, b c]");
      assertThat(echo.readLine(LIMIT)).isEqualTo("environment here");
      assertThat(echo.awaitLine("heap ", LIMIT)).matches("heap 6[0-4]");
      echo.writeLine("one");
      echo.writeLine("two");
      assertThat(echo.awaitLine("echo two", LIMIT)).isEqualTo("echo two");
      echo.closeInput();
      assertThat(echo.awaitExit(LIMIT)).isEqualTo(7);
      assertThat(echo.isAlive()).isFalse();
      assertThat(echo.takeLines()).containsExactly("hook ran");
      assertThat(echo.errors()).containsExactly("a complaint");
    }
  }

  @Test
  void takesTheClassPathOfALoaderOfItsOwn() throws Exception {
    String ofThisJvm = System.getProperty("java.class.path");
    String[] classPath = ofThisJvm.split(File.pathSeparator, -1);
    URL[] urls = new URL[classPath.length];
    for (int i = 0; i < urls.length; i++) {
      urls[i] = Path.of(classPath[i]).toUri().toURL();
    }
    // As in `mvn exec:java`, where the JVM's own class path is Maven's.
    System.setProperty("java.class.path", "nowhere");
    try (URLClassLoader loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
        JavaProcess echo = JavaProcess.of(loader.loadClass(Echo.class.getName())).start()) {
      assertThat(echo.readLine(LIMIT)).isEqualTo("arguments []");
    } finally {
      System.setProperty("java.class.path", ofThisJvm);
    }
  }

  @Test
  void saysNothingWhileFrozenAndGoesOnWhenThawed() {
    try (JavaProcess echo = JavaProcess.of(Echo.class).start()) {
      echo.awaitLine("heap", LIMIT);
      echo.pause();
      echo.writeLine("frozen");
      assertThatIllegalStateException().isThrownBy(() -> echo.readLine(A_MOMENT));
      echo.resume();
      assertThat(echo.readLine(LIMIT)).isEqualTo("echo frozen");
    }
  }

  @Test
  void runsShutdownHooksWhenTerminatedAndNoneWhenKilled() {
    try (JavaProcess echo = JavaProcess.of(Echo.class).start()) {
      echo.awaitLine("heap", LIMIT);
      echo.terminate();
      assertThat(echo.awaitExit(LIMIT)).isEqualTo(128 + 15);
      assertThat(echo.takeLines()).containsExactly("hook ran");
    }
    try (JavaProcess echo = JavaProcess.of(Echo.class).start()) {
      echo.awaitLine("heap", LIMIT);
      echo.pause();
      echo.kill();
      assertThat(echo.awaitExit(LIMIT)).isEqualTo(128 + 9);
      assertThat(echo.takeLines()).isEmpty();
    }
  }

  @Test
  void tellsAtOnceThatAChildEndedWithoutTheLine() {
    try (JavaProcess echo = JavaProcess.of(Echo.class).start()) {
      echo.closeInput();
      assertThatIllegalStateException()
          .isThrownBy(() -> echo.awaitLine("never", Duration.ofMinutes(3)))
          .withMessageContaining("no line 'never…'")
          .withMessageContaining("exit=7")
          .withMessageContaining("a complaint");
    }
  }

  @Test
  void aFrozenChildDiesWithAParentThatWasKilled() {
    try (JavaProcess parent = JavaProcess.of(Parent.class).start()) {
      long orphan = Long.parseLong(parent.readLine(LIMIT));
      assertThat(ProcessHandle.of(orphan)).isPresent();
      parent.kill();
      await()
          .atMost(LIMIT)
          .until(() -> ProcessHandle.of(orphan).filter(ProcessHandle::isAlive).isEmpty());
    }
  }
}
