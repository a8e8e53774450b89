package io.github.snowlease.cli;

import io.github.snowlease.BitLayout;
import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.Snowflake;
import io.github.snowlease.SnowflakeBuilder;
import java.lang.reflect.Proxy;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Which namespace, and where: by the names under which the library takes the same settings. */
final class NamespaceOptions {
  @Spec(Spec.Target.MIXEE)
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec command;

  // The store's default is not shown: it may carry a password.
  @Option(
      names = "--store",
      paramLabel = "URI",
      defaultValue = "${sys:snowflake.store:-${env:SNOWFLAKE_STORE:-redis://localhost:6379}}",
      description = {
        "Where leases are kept: redis://[[user]:password@]host[:port], rediss://…,"
            + " redis-socket://…, redis-sentinel://…, or file:FOLDER.",
        "Environment: SNOWFLAKE_STORE (better for passwords). Default: redis://localhost:6379"
      })
  private String store = "";

  @Option(
      names = "--namespace",
      paramLabel = "NAME",
      defaultValue = "${sys:snowflake.namespace:-${env:SNOWFLAKE_NAMESPACE:-snowflake}}",
      description = {
        "The set of processes that must not mint equal ids.",
        "Environment: SNOWFLAKE_NAMESPACE. Now: ${DEFAULT-VALUE}"
      })
  private String namespace = "";

  @Mixin private LayoutOption layoutOption = new LayoutOption();

  BitLayout layout() {
    return layoutOption.layout;
  }

  String namespace() {
    return namespace;
  }

  String store() {
    return store;
  }

  String scheme() {
    int colon = store.indexOf(':');
    return (colon < 0 ? store : store.substring(0, colon)).toLowerCase(Locale.ROOT);
  }

  /** What reading needs; how long leases last is the concern of those who hold them. */
  LeaseTerms terms() {
    try {
      return new LeaseTerms(namespace, layout().toString(), 30_000, 5_000, 0, 2_000, false);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command.commandLine(), e.getMessage());
    }
  }

  /** Everything else is taken from system properties and environment, as a service would. */
  SnowflakeBuilder builder() {
    return Snowflake.builder().store(store).namespace(namespace).layout(layout());
  }

  /** What a service with these settings would ask for; its rules, and its words, hold here too. */
  LeaseTerms termsOfService(UnaryOperator<SnowflakeBuilder> more) {
    AtomicReference<LeaseTerms> seen = new AtomicReference<>();
    // The settings are worked out where they belong, and shown to a store that only listens.
    LeaseStore listening =
        (LeaseStore)
            Proxy.newProxyInstance(
                LeaseStore.class.getClassLoader(),
                new Class<?>[] {LeaseStore.class},
                (proxy, method, arguments) -> {
                  seen.set((LeaseTerms) arguments[0]);
                  return CompletableFuture.completedFuture(true);
                });
    try {
      more.apply(Snowflake.builder().store(listening).namespace(namespace).layout(layout()))
          .createNamespace();
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command.commandLine(), e.getMessage());
    }
    return Objects.requireNonNull(seen.get());
  }

  /** Opens the store, to look into it. */
  StoreView open() {
    return open(terms());
  }

  /** Opens the store with these terms. */
  StoreView open(LeaseTerms terms) {
    try {
      return StoreView.open(this, terms);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command.commandLine(), e.getMessage());
    }
  }
}
