package io.github.snowlease.cli;

import io.github.snowlease.IdFormat;
import io.github.snowlease.SnowflakeId;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Takes an id apart. */
@Command(
    name = "parse",
    mixinStandardHelpOptions = true,
    description = "Takes an id apart: when it was minted, and on which slot. Asks no store.")
final class ParseCommand implements Callable<Integer> {
  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec command;

  @Parameters(paramLabel = "ID", description = "The id, in any form.")
  private String id = "";

  @Mixin private LayoutOption layout = new LayoutOption();

  @Option(
      names = "--form",
      paramLabel = "FORM",
      converter = IdForm.Converter.class,
      completionCandidates = IdForm.Words.class,
      description = "How the id is written: ${COMPLETION-CANDIDATES}. Guessed if left out.")
  private @Nullable IdFormat form;

  @Option(names = "--json", description = "Prints one line of JSON instead.")
  private boolean json;

  @Override
  public Integer call() {
    SnowflakeId parts = layout.layout.parse(IdForm.read(id, form));
    PrintWriter out = command.commandLine().getOut();
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("id", json ? Long.toString(parts.value()) : parts.value());
    all.put("timestamp", parts.timestamp());
    all.put("cluster", parts.cluster());
    all.put("node", parts.node());
    all.put("sequence", parts.sequence());
    for (IdFormat other : IdFormat.values()) {
      if (other != IdFormat.DECIMAL) {
        all.put(IdForm.name(other), other.format(parts.value()));
      }
    }
    all.put("layout", layout.layout);
    if (json) {
      out.println(Json.of(all));
    } else {
      all.forEach((name, value) -> out.println(String.format("%-10s %s", name, value)));
    }
    return SnowleaseCommand.OK;
  }
}
