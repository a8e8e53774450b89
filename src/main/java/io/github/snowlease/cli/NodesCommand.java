package io.github.snowlease.cli;

import io.github.snowlease.BitLayout;
import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.Slot;
import io.github.snowlease.cli.Snapshot.Seat;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Draws the slots and lists their holders. */
@Command(
    name = "nodes",
    mixinStandardHelpOptions = true,
    description = {
      "Draws all slots as a map, and lists who holds them.",
      "",
      "Those held on this host, as HOSTNAME or the system names it, are M: in containers, each of"
          + " which is a host of its own, that is none. UNTIL is the end of the time in which the"
          + " holder may mint; it moves on with each renewal. A process that was killed keeps its slot"
          + " until then, and a few seconds more.",
      "While --watch goes on, a store that cannot be reached is tried again."
    })
final class NodesCommand implements Callable<Integer> {
  private static final int ROW = 64;
  private static final int GROUP = 8;

  /** With this, a holder with a short host name fits into 80 columns. */
  private static final int LONGEST_APP = 16;

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec command;

  @Mixin private NamespaceOptions options = new NamespaceOptions();

  @Option(names = "--json", description = "Prints one line of JSON instead.")
  private boolean json;

  @Option(
      names = "--watch",
      arity = "0..1",
      paramLabel = "SECONDS",
      fallbackValue = "1",
      description = "Draws it again and again, every second or so many, until interrupted.")
  private double watchSeconds;

  @Option(
      names = "--times",
      paramLabel = "N",
      description = "With --watch: ends after so many times.")
  private int times;

  @Override
  public Integer call() throws InterruptedException {
    try (StoreView view = options.open()) {
      for (int drawn = 1; ; drawn++) {
        boolean isRead = show(view, drawn > 1);
        if (watchSeconds <= 0 || drawn == times || !isRead) {
          return SnowleaseCommand.OK;
        }
        TimeUnit.MILLISECONDS.sleep(Math.max(100, Math.round(watchSeconds * 1_000)));
      }
    }
  }

  /** Shows the namespace as it is now; returns whether somebody still looks. */
  private boolean show(StoreView view, boolean again) {
    PrintWriter out = command.commandLine().getOut();
    try {
      Snapshot snapshot = view.read();
      List<Seat> seats = snapshot.seats(thisHost());
      if (json) {
        out.println(Json.of(asMap(snapshot, seats)));
      } else {
        Ansi ansi = command.commandLine().getColorScheme().ansi();
        StringBuilder screen = new StringBuilder();
        if (ansi.enabled() && watchSeconds > 0) {
          screen.append("\u001b[H\u001b[2J");
        } else if (again) {
          screen.append('\n');
        }
        draw(screen, ansi, view, snapshot, seats);
        out.print(screen);
      }
    } catch (LeaseStoreException e) {
      if (watchSeconds <= 0) {
        throw e;
      }
      // Whoever watches wants to see it come back.
      command.commandLine().getErr().println(e.getMessage());
    }
    return !out.checkError();
  }

  private void draw(
      StringBuilder screen, Ansi ansi, StoreView view, Snapshot snapshot, List<Seat> seats) {
    BitLayout layout = options.layout();
    line(screen, "Slots of " + view.where());
    line(screen, "Layout   " + layout);
    if (!snapshot.exists()) {
      line(screen, "Nobody has leased a slot here yet; 'init' creates the namespace.");
    } else if (snapshot.layout() != null && !snapshot.layout().equals(layout.toString())) {
      line(
          screen,
          paint(ansi, SlotState.BLOCKED, "The namespace has another layout: " + snapshot.layout())
              + "; draw that with --layout");
    }
    if (snapshot.quarantineLeft() > 0) {
      line(
          screen,
          paint(
                  ansi,
                  SlotState.QUARANTINED,
                  "In quarantine for " + seconds(snapshot.quarantineLeft()) + " more")
              + ": the store was empty, restarted or failed over, and grants no new lease until then");
    }
    line(screen, "");
    drawMap(screen, ansi, layout, seats);
    drawLegend(screen, ansi, seats);
    drawHolders(screen, ansi, snapshot, seats);
  }

  /** One row a cluster, or several if it has more nodes than fit; clusters with nothing in go. */
  private static void drawMap(StringBuilder screen, Ansi ansi, BitLayout layout, List<Seat> seats) {
    int nodes = 1 << layout.nodeBits();
    int columns = Math.min(ROW, nodes);
    StringBuilder header = new StringBuilder("cluster  node");
    for (int column = 0; column < columns; column += GROUP) {
      header.append(String.format(" %-" + Math.min(GROUP, columns) + "d", column));
    }
    line(screen, header.toString().stripTrailing());
    int emptyClusters = 0;
    boolean allFree = seats.stream().allMatch(seat -> seat.state() == SlotState.FREE);
    for (int from = 0; from < seats.size(); from += nodes) {
      List<Seat> cluster = seats.subList(from, from + nodes);
      boolean empty = cluster.stream().allMatch(seat -> seat.state() == SlotState.FREE);
      // At least one row is drawn, so that a newcomer sees what the map looks like.
      if (empty && !(allFree && from == 0)) {
        emptyClusters++;
        continue;
      }
      for (int row = 0; row < nodes; row += columns) {
        StringBuilder text = new StringBuilder();
        text.append(String.format("%7d %5d", cluster.get(0).slot().cluster(), row));
        for (int column = 0; column < columns; column++) {
          SlotState state = cluster.get(row + column).state();
          text.append(column % GROUP == 0 ? " " : "");
          text.append(paint(ansi, state, String.valueOf(state.symbol)));
        }
        line(screen, text.toString());
      }
    }
    if (emptyClusters > 0) {
      line(screen, "        and " + emptyClusters + " clusters of " + nodes + " free slots each");
    }
    line(screen, "");
  }

  private static void drawLegend(StringBuilder screen, Ansi ansi, List<Seat> seats) {
    counts(seats)
        .forEach(
            (state, count) ->
                line(
                    screen,
                    String.format("%7d ", count)
                        + paint(ansi, state, String.valueOf(state.symbol))
                        + " "
                        + state.meaning));
  }

  private static void drawHolders(
      StringBuilder screen, Ansi ansi, Snapshot snapshot, List<Seat> seats) {
    List<String[]> rows = new ArrayList<>();
    List<SlotState> states = new ArrayList<>();
    for (Seat seat : seats) {
      if (isHolder(seat)) {
        states.add(seat.state());
        rows.add(
            new String[] {
              seat.slot().toString(),
              seat.state() == SlotState.MINE
                  ? "mine"
                  : seat.state().name().toLowerCase(Locale.ROOT),
              seat.value("host"),
              seat.value("pid"),
              shortened(seat.value("app")),
              toTheMinute(seat.value("since")),
              seat.until() < 0 ? "-" : relative(seat.until() - snapshot.now()),
              age(snapshot, seat)
            });
      }
    }
    if (rows.isEmpty()) {
      return;
    }
    line(screen, "");
    String[] titles = {"SLOT", "STATE", "HOST", "PID", "APP", "SINCE", "UNTIL", "AGE"};
    int[] widths = new int[titles.length];
    for (int i = 0; i < titles.length; i++) {
      widths[i] = titles[i].length();
      for (String[] row : rows) {
        widths[i] = Math.max(widths[i], row[i].length());
      }
    }
    line(screen, padded(titles, widths));
    for (int i = 0; i < rows.size(); i++) {
      line(screen, paint(ansi, states.get(i), padded(rows.get(i), widths)));
    }
  }

  private static boolean isHolder(Seat seat) {
    return seat.state() != SlotState.FREE && seat.state() != SlotState.QUARANTINED;
  }

  private static Map<SlotState, Integer> counts(List<Seat> seats) {
    Map<SlotState, Integer> counts = new EnumMap<>(SlotState.class);
    seats.forEach(seat -> counts.merge(seat.state(), 1, Integer::sum));
    return counts;
  }

  private Map<String, Object> asMap(Snapshot snapshot, List<Seat> seats) {
    Map<String, Object> counts = new LinkedHashMap<>();
    counts(seats)
        .forEach((state, count) -> counts.put(state.name().toLowerCase(Locale.ROOT), count));
    List<Object> holders = new ArrayList<>();
    for (Seat seat : seats) {
      if (isHolder(seat)) {
        Slot slot = seat.slot();
        Map<String, Object> holder = new LinkedHashMap<>();
        holder.put("slot", slot.toString());
        holder.put("cluster", slot.cluster());
        holder.put("node", slot.node());
        holder.put("state", seat.state().name().toLowerCase(Locale.ROOT));
        holder.put("host", seat.value("host"));
        holder.put("pid", seat.value("pid").equals("-") ? null : Long.valueOf(seat.value("pid")));
        holder.put("app", seat.value("app"));
        holder.put("since", seat.value("since"));
        holder.put("until", seat.until() < 0 ? null : Instant.ofEpochMilli(seat.until()));
        holder.put("leftMillis", seat.until() < 0 ? null : seat.until() - snapshot.now());
        holders.add(holder);
      }
    }
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("namespace", options.namespace());
    map.put("now", Instant.ofEpochMilli(snapshot.now()));
    map.put("exists", snapshot.exists());
    map.put("layout", snapshot.layout());
    map.put("quarantineMillis", snapshot.quarantineLeft());
    map.put("slots", counts);
    map.put("holders", holders);
    return map;
  }

  private static String age(Snapshot snapshot, Seat seat) {
    try {
      Instant since = Instant.parse(seat.value("since"));
      return span(Duration.between(since, Instant.ofEpochMilli(snapshot.now())));
    } catch (DateTimeException e) {
      return "-";
    }
  }

  /** Keeps the name of a jar, and the end of a class's; --json has all of it. */
  private static String shortened(String app) {
    if (app.length() <= LONGEST_APP) {
      return app;
    }
    return app.endsWith(".jar")
        ? app.substring(0, LONGEST_APP - 1) + "…"
        : "…" + app.substring(app.length() - LONGEST_APP + 1);
  }

  private static String toTheMinute(String since) {
    try {
      return Instant.parse(since).truncatedTo(ChronoUnit.MINUTES).toString().replace(":00Z", "Z");
    } catch (DateTimeException e) {
      return since;
    }
  }

  private static String relative(long millis) {
    return millis >= 0 ? "in " + seconds(millis) : seconds(-millis) + " ago";
  }

  private static String seconds(long millis) {
    return span(Duration.ofMillis(millis));
  }

  private static String span(Duration span) {
    long seconds = Math.max(0, span.toSeconds());
    if (seconds < 120) {
      return seconds + "s";
    }
    if (seconds < 7_200) {
      return seconds / 60 + "m";
    }
    return seconds < 172_800 ? seconds / 3_600 + "h" : seconds / 86_400 + "d";
  }

  private static String padded(String[] cells, int[] widths) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < cells.length; i++) {
      text.append(String.format("%-" + widths[i] + "s  ", cells[i]));
    }
    return text.toString().stripTrailing();
  }

  private static String paint(Ansi ansi, SlotState state, String text) {
    return Paint.on(ansi, state.style, text);
  }

  private static void line(StringBuilder screen, String text) {
    screen.append(text).append(System.lineSeparator());
  }

  /** As the library names this host to others. */
  private static String thisHost() {
    String host = System.getenv("HOSTNAME");
    if (host != null && !host.isBlank()) {
      return host;
    }
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "unknown";
    }
  }
}
