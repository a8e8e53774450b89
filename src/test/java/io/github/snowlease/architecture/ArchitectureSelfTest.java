package io.github.snowlease.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import io.github.snowlease.architecture.planted.Core;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A rule that finds nothing may look at nothing: each is shown to find what was planted. */
class ArchitectureSelfTest {
  private static final String ROOT = Core.class.getPackageName();
  private static final Architecture RULES = new Architecture(ROOT);
  private static final JavaClasses PLANTED = new ClassFileImporter().importPackages(ROOT);

  @Test
  void findsACoreThatKnowsAStoreClientOrALeaf() {
    List<String> found = violations(RULES.coreKnowsNoStoreClientAndNoLeaf());
    assertThat(found).anyMatch(line -> line.contains("planted.Core.client"));
    assertThat(found).anyMatch(line -> line.contains("planted.Core.store"));
    assertThat(found).noneMatch(line -> line.contains("planted.Core.allowed"));
  }

  @Test
  void findsARedisPackageThatKnowsAnotherLeaf() {
    assertThat(violations(RULES.redisKnowsTheCoreAndItsClientOnly()))
        .isNotEmpty()
        .allMatch(line -> line.contains("planted.file.FileStore"));
  }

  @Test
  void findsWhoeverKnowsTheRedisStore() {
    List<String> found = violations(RULES.nobodyKnowsTheRedisStore());
    assertThat(found).anyMatch(line -> line.contains("planted.Core.store"));
    assertThat(found).anyMatch(line -> line.contains("planted.file.FileStore.other"));
  }

  @Test
  void findsPackagesThatDependOnEachOther() {
    assertThat(violations(RULES.packagesHaveNoCycles()))
        .anyMatch(line -> line.contains("Cycle detected") && line.contains("planted.redis"));
  }

  private static List<String> violations(ArchRule rule) {
    return rule.evaluate(PLANTED).getFailureReport().getDetails();
  }
}
