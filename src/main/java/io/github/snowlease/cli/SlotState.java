package io.github.snowlease.cli;

/** What a slot is to an operator. */
enum SlotState {
  /** Can be leased now. */
  FREE('.', "fg(8)", "free"),
  /** A process of this host holds it. */
  MINE('M', "bold,green", "held on this host"),
  /** A process of another host holds it. */
  OTHER('#', "bold,cyan", "held elsewhere"),
  /** Nobody holds it, and it cannot be leased yet. */
  QUARANTINED('~', "yellow", "quarantined: ids of its last holder may be that new"),
  /** Its holder died or froze without handing it back; it is free some seconds after its window. */
  STALE('!', "bold,magenta", "stale: its holder died or froze, and it is free soon"),
  /** Blocked by an operator, or its entry is damaged: it is never leased. */
  BLOCKED('x', "bold,red", "blocked by an operator, or damaged");

  final char symbol;
  final String style;
  final String meaning;

  SlotState(char symbol, String style, String meaning) {
    this.symbol = symbol;
    this.style = style;
    this.meaning = meaning;
  }
}
