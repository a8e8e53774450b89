package io.github.snowlease.cli;

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
          + " nobody mints ids in this namespace now."
    })
final class InitCommand implements Callable<Integer> {
  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec command;

  @Mixin private NamespaceOptions options = new NamespaceOptions();

  @Override
  public Integer call() {
    options.builder().createNamespace();
    command
        .commandLine()
        .getOut()
        .println(
            "Created the namespace "
                + options.namespace()
                + " with the layout "
                + options.layout());
    return SnowleaseCommand.OK;
  }
}
