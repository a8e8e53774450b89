package io.github.snowlease.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import io.github.snowlease.Snowflake;
import java.net.URISyntaxException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ArchitectureTest {
  private static final Architecture RULES = new Architecture("io.github.snowlease");
  private static final JavaClasses PRODUCT = product();

  private static JavaClasses product() {
    try {
      return new ClassFileImporter()
          .importPath(
              Path.of(Snowflake.class.getProtectionDomain().getCodeSource().getLocation().toURI()));
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void looksAtTheProductAndNotAtItsTests() {
    assertThat(PRODUCT.contain(Snowflake.class)).isTrue();
    assertThat(PRODUCT.contain(ArchitectureTest.class)).isFalse();
    assertThat(PRODUCT).hasSizeGreaterThan(50);
  }

  @Test
  void theCoreKnowsNoStoreClientAndNoLeaf() {
    hold(RULES.coreKnowsNoStoreClientAndNoLeaf());
  }

  @Test
  void redisKnowsTheCoreAndItsClientOnly() {
    hold(RULES.redisKnowsTheCoreAndItsClientOnly());
  }

  @Test
  void nobodyKnowsTheRedisStore() {
    hold(RULES.nobodyKnowsTheRedisStore());
  }

  @Test
  void packagesHaveNoCycles() {
    hold(RULES.packagesHaveNoCycles());
  }

  private static void hold(ArchRule rule) {
    assertThat(rule.evaluate(PRODUCT).getFailureReport().getDetails())
        .as(rule.getDescription())
        .isEmpty();
  }
}
