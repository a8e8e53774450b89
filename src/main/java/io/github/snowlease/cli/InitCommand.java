package io.github.snowlease.cli;

import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Creates a namespace. */
@Command(
    name = "init",
    mixinStandardHelpOptions = true,
    description = {
      "Creates a namespace with its layout, so that the first start need not wait.",
      "",
      "An empty store looks the same whether it is new or has lost its data, so a first start waits"
          + " until every lease that may have been forgotten has run out. By this command you say:"
          + " nobody mints ids in this namespace now.",
      "",
      "A namespace that exists is left as it is."
    })
final class InitCommand implements Callable<Integer> {
  private static final Snapshot NOTHING = new Snapshot(0, Map.of(), Map.of(), List.of());

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec command;

  @Mixin private NamespaceOptions options = new NamespaceOptions();

  @Override
  public Integer call() {
    Snapshot before;
    try (StoreView view = options.open()) {
      before = view.isMissingFolder() ? NOTHING : view.glance();
    }
    if (before.exists()) {
      return leave(before);
    }
    options.builder().createNamespace();
    command
        .commandLine()
        .getOut()
        .println("Created the namespace " + name() + " with the layout " + options.layout());
    return SnowleaseCommand.OK;
  }

  /** What a deployment may run each time must not fail the second time. */
  private int leave(Snapshot before) {
    String layout = before.layout();
    if (layout != null && !layout.equals(options.layout().toString())) {
      return refuse(
          "The namespace "
              + name()
              + " exists with the layout "
              + layout
              + ", not "
              + options.layout()
              + ": set SNOWFLAKE_LAYOUT to the former, or use another namespace for another table");
    }
    if (before.quarantineLeft() > 0) {
      return refuse(
          "The namespace "
              + name()
              + " exists, and grants no lease for another "
              + (before.quarantineLeft() + 999) / 1_000
              + "s: a start came first, or the store was empty, restarted or failed over; wait");
    }
    command
        .commandLine()
        .getOut()
        .println("The namespace " + name() + " exists already, and was left as it is.");
    return SnowleaseCommand.OK;
  }

  private int refuse(String why) {
    command.commandLine().getErr().println(why);
    return SnowleaseCommand.FOUND;
  }

  private String name() {
    return options.namespace();
  }
}
