package io.github.snowlease.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Looks whether a store is fit for leases. */
@Command(
    name = "doctor",
    mixinStandardHelpOptions = true,
    description = {
      "Looks whether a store is fit for leases: one line for each thing looked at, with what to do.",
      "",
      "If the namespace exists and has a free slot, one is leased for a moment and handed back, to"
          + " see that all rights are there.",
      "Exit code 1 if anything is amiss; warnings count, so that a pipeline can rely on it."
    })
final class DoctorCommand implements Callable<Integer> {
  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec command;

  @Mixin private NamespaceOptions options = new NamespaceOptions();

  @Option(names = "--json", description = "Prints one line of JSON instead.")
  private boolean json;

  @Override
  public Integer call() {
    List<Finding> findings;
    try (StoreView view = options.open()) {
      findings = new Examination(view, options.layout()).run();
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

  private static Map<String, Object> asMap(Finding finding) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("level", finding.level().name().toLowerCase(Locale.ROOT));
    map.put("about", finding.about());
    map.put("text", finding.text());
    return map;
  }

  private static String line(Ansi ansi, Finding finding) {
    String level = String.format("%-4s", finding.level());
    Ansi.IStyle[] styles =
        Ansi.Style.parse(
            switch (finding.level()) {
              case OK -> "green";
              case WARN -> "bold,yellow";
              case FAIL -> "bold,red";
            });
    List<String> parts = new ArrayList<>();
    parts.add(ansi.enabled() ? Ansi.Style.on(styles) + level + Ansi.Style.off(styles) : level);
    parts.add(String.format("%-11s", finding.about()));
    parts.add(finding.text());
    return String.join(" ", parts);
  }
}
