package io.github.snowlease.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;

/**
 * The directions of {@code docs/design.md} §6, below a root package, so that they can be tried on
 * planted violations too.
 */
final class Architecture {
  private final String root;

  Architecture(String root) {
    this.root = root;
  }

  /** The core needs the JDK and three small interfaces, and none of its leaves. */
  ArchRule coreKnowsNoStoreClientAndNoLeaf() {
    return classes()
        .that()
        .resideInAPackage(root)
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(root, "java..", "org.slf4j..", "org.jspecify..", "org.crac..")
        .as("the core depends on the JDK, slf4j, jspecify and crac only");
  }

  /** The Redis store stands on the core and on its client. */
  ArchRule redisKnowsTheCoreAndItsClientOnly() {
    return classes()
        .that()
        .resideInAPackage(root + ".redis..")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(
            root,
            root + ".redis..",
            "java..",
            "javax.net.ssl..",
            "org.slf4j..",
            "org.jspecify..",
            "io.lettuce..",
            "io.netty..",
            "javax.net.ssl..",
            "reactor..")
        .allowEmptyShould(true)
        .as("the redis package depends on the core and on Lettuce only");
  }

  /**
   * A store is found by the scheme of its URI, through LeaseStoreProvider. The command line is an
   * application that stands on everything, and that nothing stands on.
   */
  ArchRule nobodyKnowsTheRedisStore() {
    return noClasses()
        .that()
        .resideOutsideOfPackages(root + ".redis..", root + ".cli..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage(root + ".redis..")
        .as("nothing depends on the redis package but through LeaseStoreProvider");
  }

  ArchRule packagesHaveNoCycles() {
    return slices()
        .assignedFrom(packagesBelow(root))
        .should()
        .beFreeOfCycles()
        .as("packages depend on each other in one direction");
  }

  private static SliceAssignment packagesBelow(String root) {
    return new SliceAssignment() {
      @Override
      public SliceIdentifier getIdentifierOf(JavaClass javaClass) {
        String name = javaClass.getPackageName();
        return name.equals(root) || name.startsWith(root + ".")
            ? SliceIdentifier.of(name)
            : SliceIdentifier.ignore();
      }

      @Override
      public String getDescription() {
        return "packages below " + root;
      }
    };
  }
}
