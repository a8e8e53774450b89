package io.github.snowlease;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * All that went into a process from outside, in order: what it was called for, which times it read,
 * which answers it got. Put into a new process of the same seed it yields a copy of the old one, as
 * the code under test is deterministic.
 */
final class SimJournal {
  static final byte POLL = 0;
  static final byte MINT = 1;
  static final byte CLOSE_GENERATOR = 2;
  static final byte CLOSE_MANAGER = 3;
  static final byte ANSWER = 4;

  /** The end of a step at which other calls of the same process may have been nested. */
  static final byte STEP = 5;

  static final byte NANO_TIME = 6;
  static final byte WALL_TIME = 7;
  static final byte DRAIN = 8;

  private byte[] kinds = new byte[1024];
  private long[] values = new long[1024];
  private int size;
  private final List<Object> answers = new ArrayList<>();

  void add(byte kind, long value) {
    if (size == kinds.length) {
      kinds = Arrays.copyOf(kinds, 2 * size);
      values = Arrays.copyOf(values, 2 * size);
    }
    kinds[size] = kind;
    values[size++] = value;
  }

  void addAnswer(long question, Object answer) {
    add(ANSWER, question);
    answers.add(answer);
  }

  int size() {
    return size;
  }

  /** Reads the entries from the beginning up to where the journal ends now. */
  Reader reader() {
    return new Reader(size);
  }

  final class Reader {
    private final int end;
    private int at;
    private int answersRead;

    private Reader(int end) {
      this.end = end;
    }

    boolean isAtEnd() {
      return at == end;
    }

    byte nextKind() {
      if (at == end) {
        throw new IllegalStateException("a copy asks for more than its original did");
      }
      return kinds[at];
    }

    long take() {
      return values[at++];
    }

    Object takeAnswer() {
      return answers.get(answersRead++);
    }
  }
}
