package io.github.snowlease.chaos;

/** What the {@link RespProxy} may do to a command and its reply. */
enum NetworkFault {
  /** It is executed, and its reply and all later ones are lost: the connection stays silent. */
  REPLY_LOST,
  /** It reaches Redis seconds late, when whoever sent it has given it up. */
  COMMAND_LATE,
  /** It is executed at once, and its reply comes late. */
  REPLY_LATE,
  /** It is executed twice, at once; the second reply goes nowhere. */
  COMMAND_TWICE,
  /** It is executed, and once more seconds later. */
  COMMAND_AGAIN_LATER,
  /** The connection ends before it has reached Redis. */
  CUT_BEFORE,
  /** It is executed, and the connection ends before its reply. */
  CUT_AFTER,
  /** Its reply comes byte by byte. */
  SLOW
}
