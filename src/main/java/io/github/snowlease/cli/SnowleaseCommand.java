package io.github.snowlease.cli;

import io.github.snowlease.SnowflakeException;
import java.util.logging.LogManager;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;

/** The command {@code snowlease} and its subcommands. */
@Command(
    name = "snowlease",
    mixinStandardHelpOptions = true,
    versionProvider = SnowleaseCommand.Version.class,
    synopsisSubcommandLabel = "COMMAND",
    description = {
      "Looks after snowflake ids and the slots from which processes mint them.",
      "",
      "A slot is a pair of cluster and node id. Each process leases one slot at a time, and no two"
          + " processes share one; a namespace is a set of processes that must not mint equal ids.",
      ""
    },
    footerHeading = "%nFor example:%n",
    footer = {
      "  snowlease nodes                        who holds which slot, as a map",
      "  snowlease parse 812345678901234567     when and where an id was minted",
      "  snowlease doctor                       is this Redis fit for the job?"
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:all is well",
      "1:something was found, or the command failed",
      "2:the command line is wrong"
    },
    subcommands = {
      NodesCommand.class,
      DoctorCommand.class,
      InitCommand.class,
      EvictCommand.class,
      NextCommand.class,
      ParseCommand.class,
      RangeCommand.class
    })
public final class SnowleaseCommand {
  static final int OK = 0;
  static final int FOUND = 1;

  /** Creates the command. */
  public SnowleaseCommand() {}

  /**
   * Runs the command line and ends the process.
   *
   * @param arguments the words after the program's name
   */
  public static void main(String[] arguments) {
    // Log lines are for services; here every failure becomes one line of output.
    System.setProperty("slf4j.internal.verbosity", "ERROR");
    // Where Netty logs when it finds no other way.
    LogManager.getLogManager().reset();
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    return new CommandLine(new SnowleaseCommand())
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setUsageHelpAutoWidth(true)
        .setExecutionExceptionHandler(
            (failure, command, parsed) -> {
              // These carry what to do, and no secrets; anything else is a fault worth a stack.
              if (failure instanceof SnowflakeException
                  || failure instanceof IllegalArgumentException) {
                command
                    .getErr()
                    .println(
                        command.getColorScheme().errorText(String.valueOf(failure.getMessage())));
              } else {
                failure.printStackTrace(command.getErr());
              }
              return FOUND;
            });
  }

  /** Says which version this is. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = SnowleaseCommand.class.getPackage().getImplementationVersion();
      return new String[] {"snowlease " + (version == null ? "(not released)" : version)};
    }
  }
}
