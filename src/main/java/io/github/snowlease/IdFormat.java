package io.github.snowlease;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;

/**
 * The forms in which an id is written as text, and read back. Each form writes every id from 0 to
 * {@link Long#MAX_VALUE}; a negative number is no id and is refused.
 *
 * <p>All forms but {@link #DECIMAL} have one length for all ids, and so sort as text in the order
 * of the ids: compared by ASCII code, which is how {@link String#compareTo} and the binary or "C"
 * collations of databases compare.
 *
 * <p>What {@link #format(long)} writes, {@link #parse} reads back to the same id. Reading refuses
 * what is no id, rather than guess: wrong characters, a wrong length, a number above {@link
 * Long#MAX_VALUE}.
 *
 * <p>Stateless and thread-safe. The methods that write into an array allocate nothing.
 */
@SuppressWarnings("ImmutableEnumChecker") // the table is private and never written again
public enum IdFormat {
  /**
   * 1 to 19 digits, as {@link Long#toString(long)} writes them. Does not sort as text. Leading
   * zeros are read, up to 19 digits in all.
   */
  DECIMAL("0123456789", 19, "1 to 19 characters of 0-9"),

  /**
   * 13 characters of Crockford's base 32, in upper case: no I, L, O and U, so that it can be read
   * out and typed. Reading forgives: lower case, I and L for 1, O for 0, and hyphens between
   * digits.
   */
  CROCKFORD_BASE32(
      "0123456789ABCDEFGHJKMNPQRSTVWXYZ",
      13,
      "13 characters of 0-9A-Z without I, L, O, U (hyphens between them are skipped)"),

  /** 11 characters of 0-9, A-Z, a-z: the shortest form. Upper and lower case differ. */
  BASE62(
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
      11,
      "11 characters of 0-9A-Za-z"),

  /** 16 hexadecimal digits, in lower case; read in either case. */
  HEX("0123456789abcdef", 16, "16 characters of 0-9a-f");

  private static final byte GARBAGE = -1;
  private static final byte HYPHEN = -2;
  private static final int SHOWN_CHARACTERS = 64;

  private final String digits;
  private final int maxLength;
  private final String rule;

  /** What an ASCII character stands for: the value of a digit, {@link #GARBAGE} or a hyphen. */
  private final byte[] values = new byte[128];

  IdFormat(String digits, int maxLength, String rule) {
    this.digits = digits;
    this.maxLength = maxLength;
    this.rule = rule;
    Arrays.fill(values, (byte) -1);
    boolean ignoresCase = digits.length() < 62;
    for (int value = 0; value < digits.length(); value++) {
      char digit = digits.charAt(value);
      values[digit] = (byte) value;
      if (ignoresCase) {
        values[Character.toLowerCase(digit)] = (byte) value;
        values[Character.toUpperCase(digit)] = (byte) value;
      }
    }
    if (digits.length() == 32) {
      for (char one : new char[] {'I', 'i', 'L', 'l'}) {
        values[one] = 1;
      }
      values['O'] = 0;
      values['o'] = 0;
      values['-'] = -2;
    }
  }

  /**
   * How many characters an id takes at most: the room to leave in an array.
   *
   * @return 19, 13, 11 or 16; all forms but {@link #DECIMAL} always take that many
   */
  public int maxLength() {
    return maxLength;
  }

  /**
   * Writes an id.
   *
   * @param id the id, {@code >= 0}
   * @return its text
   * @throws IllegalArgumentException if the id is negative
   */
  public String format(long id) {
    byte[] text = new byte[length(id)];
    format(id, text, 0);
    return new String(text, StandardCharsets.ISO_8859_1);
  }

  /**
   * Writes an id into an array of ASCII bytes. Allocates nothing.
   *
   * @param id the id, {@code >= 0}
   * @param target where to write
   * @param offset the index of the first character
   * @return how many characters were written
   * @throws IllegalArgumentException if the id is negative
   * @throws IndexOutOfBoundsException if the text does not fit; then nothing is written
   */
  public int format(long id, byte[] target, int offset) {
    int length = length(id);
    Objects.checkFromIndexSize(offset, length, target.length);
    long rest = id;
    for (int i = offset + length - 1; i >= offset; i--) {
      long quotient = byRadix(rest);
      target[i] = (byte) digits.charAt((int) (rest - quotient * digits.length()));
      rest = quotient;
    }
    return length;
  }

  /**
   * Writes an id into an array of characters. Allocates nothing.
   *
   * @param id the id, {@code >= 0}
   * @param target where to write
   * @param offset the index of the first character
   * @return how many characters were written
   * @throws IllegalArgumentException if the id is negative
   * @throws IndexOutOfBoundsException if the text does not fit; then nothing is written
   */
  public int format(long id, char[] target, int offset) {
    int length = length(id);
    Objects.checkFromIndexSize(offset, length, target.length);
    long rest = id;
    for (int i = offset + length - 1; i >= offset; i--) {
      long quotient = byRadix(rest);
      target[i] = digits.charAt((int) (rest - quotient * digits.length()));
      rest = quotient;
    }
    return length;
  }

  /**
   * Reads an id. Allocates nothing.
   *
   * @param text the whole text, without space around it
   * @return the id, {@code >= 0}
   * @throws IllegalArgumentException if the text is no id in this form
   */
  public long parse(CharSequence text) {
    long id = 0;
    int count = 0;
    byte value = HYPHEN; // what the last character stood for; a hyphen may not come first
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      byte before = value;
      value = c < values.length ? values[c] : GARBAGE;
      if (value == GARBAGE || (value == HYPHEN && before == HYPHEN)) {
        throw refused("be " + rule, text);
      }
      if (value == HYPHEN) {
        continue;
      }
      if (++count > maxLength) {
        throw refused("be " + rule, text);
      }
      if (id > byRadix(Long.MAX_VALUE - value)) {
        throw refused("be <= " + format(Long.MAX_VALUE), text);
      }
      id = id * digits.length() + value;
    }
    if (value == HYPHEN || (count < maxLength && this != DECIMAL)) {
      throw refused("be " + rule, text);
    }
    return id;
  }

  private IllegalArgumentException refused(String must, CharSequence text) {
    String shown =
        text.length() <= SHOWN_CHARACTERS
            ? text.toString()
            : text.subSequence(0, SHOWN_CHARACTERS) + "… (" + text.length() + " characters)";
    return new IllegalArgumentException(
        "an id in " + name().toLowerCase(Locale.ROOT) + " must " + must + ": text=" + shown);
  }

  private int length(long id) {
    if (id < 0) {
      throw new IllegalArgumentException("id must be >= 0: id=" + id);
    }
    if (this != DECIMAL) {
      return maxLength;
    }
    int length = 1;
    for (long rest = id; rest >= 10; rest /= 10) {
      length++;
    }
    return length;
  }

  /** Divides by the radix: by constants, which are multiplications and shifts. */
  private long byRadix(long number) {
    return switch (digits.length()) {
      case 10 -> number / 10;
      case 16 -> number >>> 4;
      case 32 -> number >>> 5;
      default -> number / 62;
    };
  }
}
