package io.github.snowlease;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What the module promises and needs; a change here is a change for users. */
class ModuleTest {
  private static ModuleDescriptor module;

  @BeforeAll
  static void readTheBuiltDescriptor() throws IOException, URISyntaxException {
    Path classes =
        Path.of(Snowflake.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    try (InputStream descriptor = Files.newInputStream(classes.resolve("module-info.class"))) {
      module = ModuleDescriptor.read(descriptor);
    }
  }

  @Test
  void isNamedAfterItsPackage() {
    assertThat(module.name()).isEqualTo("io.github.snowlease");
    assertThat(module.isOpen()).isFalse();
    assertThat(module.isAutomatic()).isFalse();
  }

  @Test
  void exportsItsApiToEverybodyAndOpensNothing() {
    assertThat(module.exports())
        .extracting(ModuleDescriptor.Exports::toString)
        .containsExactlyInAnyOrder(
            "io.github.snowlease", "io.github.snowlease.file", "io.github.snowlease.redis");
    assertThat(module.opens()).isEmpty();
  }

  @Test
  void requiresTheRedisClientAndTheLoggingApi() {
    assertThat(module.requires())
        .extracting(needed -> new TreeSet<>(needed.modifiers()) + " " + needed.name())
        .containsExactlyInAnyOrder(
            "[MANDATED] java.base",
            "[TRANSITIVE] lettuce.core",
            "[] io.netty.buffer",
            "[] io.netty.codec",
            "[] io.netty.handler",
            "[] io.netty.transport",
            "[] org.slf4j",
            "[STATIC] info.picocli",
            "[STATIC] java.logging",
            "[STATIC] org.crac",
            "[TRANSITIVE, STATIC] org.jspecify");
  }

  @Test
  void findsStoresThroughTheirProvidersOnly() {
    assertThat(module.uses()).containsExactly("io.github.snowlease.LeaseStoreProvider");
    assertThat(module.provides())
        .extracting(ModuleDescriptor.Provides::service)
        .containsExactly("io.github.snowlease.LeaseStoreProvider");
    assertThat(module.provides())
        .flatExtracting(ModuleDescriptor.Provides::providers)
        .containsExactlyInAnyOrder(
            "io.github.snowlease.file.FileLeaseStoreProvider",
            "io.github.snowlease.redis.RedisLeaseStoreProvider");
  }
}
