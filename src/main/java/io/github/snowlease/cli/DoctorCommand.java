package io.github.snowlease.cli;

import io.github.snowlease.LeaseTerms;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Looks whether a store is fit for leases. */
@Command(
    name = "doctor",
    mixinStandardHelpOptions = true,
    description = {
      "Looks whether a store is fit for leases: one line for each thing looked at, with what to do.",
      "",
      "It takes the settings of a service from the environment (SNOWFLAKE_MIN_REPLICAS and the"
          + " like), and, to see that all rights are there, leases a slot for a moment: in Redis in"
          + " a namespace of its own, NAME:doctor-…, which it removes.",
      "Exit code 1 if anything is amiss; warnings count, so that a pipeline can rely on it."
    })
final class DoctorCommand implements Callable<Integer> {
  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec command;

  @Mixin private NamespaceOptions options = new NamespaceOptions();

  @Option(
      names = "--cluster-id",
      paramLabel = "N",
      defaultValue = "${sys:snowflake.cluster-id:-${env:SNOWFLAKE_CLUSTER_ID:-any}}",
      description =
          "As the service has it. Environment: SNOWFLAKE_CLUSTER_ID. Now: ${DEFAULT-VALUE}")
  private String cluster = "any";

  @Option(
      names = "--node-id",
      paramLabel = "N",
      defaultValue = "${sys:snowflake.node-id:-${env:SNOWFLAKE_NODE_ID:-any}}",
      description = "As the service has it. Environment: SNOWFLAKE_NODE_ID. Now: ${DEFAULT-VALUE}")
  private String node = "any";

  @Option(names = "--json", description = "Prints one line of JSON instead.")
  private boolean json;

  @Override
  public Integer call() {
    Integer clusterId = id(cluster);
    Integer nodeId = id(node);
    LeaseTerms terms =
        options.termsOfService(
            builder -> {
              if (clusterId != null) {
                builder.clusterId(clusterId);
              }
              return nodeId == null ? builder : builder.nodeId(nodeId);
            });
    List<Finding> findings;
    try (StoreView view = options.open(terms)) {
      findings = new Examination(view, options.layout(), clusterId, nodeId).run();
    }
    PrintWriter out = command.commandLine().getOut();
    if (json) {
      out.println(Json.of(findings.stream().map(DoctorCommand::asMap).toList()));
    } else {
      Ansi ansi = command.commandLine().getColorScheme().ansi();
      findings.forEach(finding -> out.println(line(ansi, finding)));
    }
    out.flush();
    boolean well = findings.stream().allMatch(finding -> finding.level() == Finding.Level.OK);
    return well ? SnowleaseCommand.OK : SnowleaseCommand.FOUND;
  }

  private @Nullable Integer id(String text) {
    if (text.strip().equalsIgnoreCase("any")) {
      return null;
    }
    if (!text.strip().matches("\\d{1,9}")) {
      throw new ParameterException(
          command.commandLine(), "an id is a whole number >= 0, or any: " + text);
    }
    return Integer.valueOf(text.strip());
  }

  private static Map<String, Object> asMap(Finding finding) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("level", finding.level().name().toLowerCase(Locale.ROOT));
    map.put("about", finding.about());
    map.put("text", finding.text());
    return map;
  }

  private static String line(Ansi ansi, Finding finding) {
    String level = String.format("%-4s", finding.level());
    String style =
        switch (finding.level()) {
          case OK -> "green";
          case WARN -> "bold,yellow";
          case FAIL -> "bold,red";
        };
    List<String> parts = new ArrayList<>();
    parts.add(Paint.on(ansi, style, level));
    parts.add(String.format("%-11s", finding.about()));
    parts.add(finding.text());
    return String.join(" ", parts);
  }
}
