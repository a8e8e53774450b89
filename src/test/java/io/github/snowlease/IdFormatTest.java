package io.github.snowlease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class IdFormatTest {

  @ParameterizedTest
  @CsvSource({
    "DECIMAL, 0, 0",
    "DECIMAL, 1234567890, 1234567890",
    "DECIMAL, 9223372036854775807, 9223372036854775807",
    "CROCKFORD_BASE32, 0, 0000000000000",
    "CROCKFORD_BASE32, 31, 000000000000Z",
    "CROCKFORD_BASE32, 1234567890, 00000014SC0PJ",
    "CROCKFORD_BASE32, 9223372036854775807, 7ZZZZZZZZZZZZ",
    "BASE62, 0, 00000000000",
    "BASE62, 61, 0000000000z",
    "BASE62, 1234567890, 000001LY7VK",
    "BASE62, 9223372036854775807, AzL8n0Y58m7",
    "HEX, 0, 0000000000000000",
    "HEX, 1234567890, 00000000499602d2",
    "HEX, 9223372036854775807, 7fffffffffffffff",
  })
  void writesAndReadsEachForm(IdFormat format, long id, String text) {
    assertThat(format.format(id)).isEqualTo(text);
    assertThat(format.parse(text)).isEqualTo(id);
  }

  @Property
  void readsBackWhatItWrites(@ForAll IdFormat format, @ForAll @LongRange(min = 0) long id) {
    String text = format.format(id);
    assertThat(format.parse(text)).isEqualTo(id);
    assertThat(text.length()).isLessThanOrEqualTo(format.maxLength());
  }

  @Property
  void writesThePositionalNumberOfItsRadix(@ForAll @LongRange(min = 0) long id) {
    assertThat(IdFormat.DECIMAL.format(id)).isEqualTo(Long.toString(id));
    assertThat(IdFormat.HEX.format(id)).isEqualTo(String.format(Locale.ROOT, "%016x", id));
    // Java's radix 32 counts on from 9 to v; Crockford's leaves letters out.
    assertThat(IdFormat.CROCKFORD_BASE32.format(id))
        .isEqualTo(
            translated(
                String.format(Locale.ROOT, "%13s", Long.toString(id, 32)).replace(' ', '0'),
                "0123456789abcdefghijklmnopqrstuv",
                "0123456789ABCDEFGHJKMNPQRSTVWXYZ"));
    BigInteger sum = BigInteger.ZERO;
    for (char c : IdFormat.BASE62.format(id).toCharArray()) {
      int digit = Character.isDigit(c) ? c - '0' : Character.isUpperCase(c) ? c - 55 : c - 61;
      sum = sum.multiply(BigInteger.valueOf(62)).add(BigInteger.valueOf(digit));
    }
    assertThat(sum).isEqualTo(BigInteger.valueOf(id));
  }

  private static String translated(String text, String from, String to) {
    StringBuilder result = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      result.append(to.charAt(from.indexOf(text.charAt(i))));
    }
    return result.toString();
  }

  @Property
  void sortsAsTextInTheOrderOfTheIds(
      @ForAll("ofFixedLength") IdFormat format,
      @ForAll @LongRange(min = 0) long one,
      @ForAll @LongRange(min = 0) long other) {
    String text = format.format(one);
    assertThat(text).hasSize(format.maxLength());
    assertThat(Integer.signum(text.compareTo(format.format(other))))
        .isEqualTo(Long.compare(one, other));
  }

  @Provide
  Arbitrary<IdFormat> ofFixedLength() {
    return Arbitraries.of(IdFormat.CROCKFORD_BASE32, IdFormat.BASE62, IdFormat.HEX);
  }

  @Property
  void writesTheSameIntoArraysAndNothingAround(
      @ForAll IdFormat format, @ForAll @LongRange(min = 0) long id) {
    String text = format.format(id);
    byte[] bytes = new byte[text.length() + 5];
    char[] chars = new char[text.length() + 5];
    assertThat(format.format(id, bytes, 3)).isEqualTo(text.length());
    assertThat(format.format(id, chars, 3)).isEqualTo(text.length());
    assertThat(new String(bytes, StandardCharsets.US_ASCII)).isEqualTo("\0\0\0" + text + "\0\0");
    assertThat(new String(chars)).isEqualTo("\0\0\0" + text + "\0\0");
  }

  @ParameterizedTest
  @EnumSource
  void writesNothingIfTheTextDoesNotFit(IdFormat format) {
    byte[] bytes = new byte[format.maxLength()];
    char[] chars = new char[format.maxLength()];
    for (int offset : new int[] {1, -1, Integer.MAX_VALUE}) {
      assertThatThrownBy(() -> format.format(Long.MAX_VALUE, bytes, offset))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> format.format(Long.MAX_VALUE, chars, offset))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
    assertThat(bytes).containsOnly(0);
    assertThat(chars).containsOnly('\0');
  }

  @ParameterizedTest
  @EnumSource
  void refusesANegativeNumber(IdFormat format) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> format.format(-1))
        .withMessage("id must be >= 0: id=-1");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> format.format(Long.MIN_VALUE, new byte[19], 0))
        .withMessage("id must be >= 0: id=-9223372036854775808");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> format.format(Long.MIN_VALUE, new char[19], 0))
        .withMessage("id must be >= 0: id=-9223372036854775808");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1j4sc0pj2abcd",
        "IJ4SC0PJ2ABCD",
        "ij4sc0pj2abcd",
        "LJ4SC0PJ2ABCD",
        "lj4sCoPJ2ABCD",
        "1J4SCOPJ2ABCD",
        "1J4S-C0PJ-2ABC-D",
        "1-J-4-S-C-0-P-J-2-A-B-C-D"
      })
  void forgivesWhatPeopleMistypeInCrockfordsForm(String text) {
    assertThat(IdFormat.CROCKFORD_BASE32.parse(text))
        .isEqualTo(IdFormat.CROCKFORD_BASE32.parse("1J4SC0PJ2ABCD"));
  }

  @Test
  void readsHexInEitherCase() {
    assertThat(IdFormat.HEX.parse("7ABCDEF0abcdef01")).isEqualTo(0x7abcdef0abcdef01L);
  }

  @Test
  void readsDecimalWithLeadingZeros() {
    assertThat(IdFormat.DECIMAL.parse("0000000000000000042")).isEqualTo(42);
  }

  @Test
  void readsBase62WithUpperAndLowerCaseApart() {
    assertThat(IdFormat.BASE62.parse("0000000000A")).isEqualTo(10);
    assertThat(IdFormat.BASE62.parse("0000000000a")).isEqualTo(36);
  }

  @ParameterizedTest
  @CsvSource(
      ignoreLeadingAndTrailingWhitespace = false,
      value = {
        "DECIMAL,''",
        "DECIMAL,-1",
        "DECIMAL,+1",
        "DECIMAL, 1",
        "DECIMAL,1 ",
        "DECIMAL,1_000",
        "DECIMAL,00000000000000000001",
        "DECIMAL,٣",
        "DECIMAL,１",
      })
  void refusesWhatIsNoDecimalId(IdFormat format, String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> format.parse(text))
        .withMessage("an id in decimal must be 1 to 19 characters of 0-9: text=" + text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-",
        "000000000000",
        "00000000000000",
        "000000000000U",
        "000000000000u",
        "-0000000000000",
        "0000000000000-",
        "000000--0000000",
        "000000000000 ",
        "000000000000Ｚ",
      })
  void refusesWhatIsNoIdInCrockfordsForm(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> IdFormat.CROCKFORD_BASE32.parse(text))
        .withMessage(
            "an id in crockford_base32 must be 13 characters of 0-9A-Z without I, L, O, U (hyphens"
                + " between them are skipped): text="
                + text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "0000000000", "000000000000", "0000000000-", "0000000000é"})
  void refusesWhatIsNoIdInBase62(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> IdFormat.BASE62.parse(text))
        .withMessage("an id in base62 must be 11 characters of 0-9A-Za-z: text=" + text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "0x00000000000000", "000000000000000", "000000000000000g"})
  void refusesWhatIsNoIdInHex(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> IdFormat.HEX.parse(text))
        .withMessage("an id in hex must be 16 characters of 0-9a-f: text=" + text);
  }

  @ParameterizedTest
  @CsvSource({
    "DECIMAL, decimal, 9223372036854775807, 9223372036854775808",
    "DECIMAL, decimal, 9223372036854775807, 9999999999999999999",
    "CROCKFORD_BASE32, crockford_base32, 7ZZZZZZZZZZZZ, 8000000000000",
    "CROCKFORD_BASE32, crockford_base32, 7ZZZZZZZZZZZZ, ZZZZZZZZZZZZZ",
    "BASE62, base62, AzL8n0Y58m7, AzL8n0Y58m8",
    "BASE62, base62, AzL8n0Y58m7, zzzzzzzzzzz",
    "HEX, hex, 7fffffffffffffff, 8000000000000000",
    "HEX, hex, 7fffffffffffffff, ffffffffffffffff",
  })
  void refusesWhatIsMoreThanALongHolds(IdFormat format, String name, String largest, String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> format.parse(text))
        .withMessage("an id in " + name + " must be <= " + largest + ": text=" + text);
  }

  @Test
  void showsTheBeginningOfALongTextOnly() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> IdFormat.DECIMAL.parse("7".repeat(100_000)))
        .withMessage(
            "an id in decimal must be 1 to 19 characters of 0-9: text="
                + "7".repeat(64)
                + "… (100000 characters)");
  }

  @Property
  void readsOnlyWhatItWritesBackOrRefuses(@ForAll IdFormat format, @ForAll("texts") String text) {
    long id;
    try {
      id = format.parse(text);
    } catch (IllegalArgumentException e) {
      assertThat(e).hasMessageStartingWith("an id in ").hasMessageEndingWith(": text=" + text);
      return;
    }
    String canonical = format.format(id);
    String plain = text.replace("-", "").toUpperCase(Locale.ROOT);
    switch (format) {
      case DECIMAL -> assertThat(text.replaceFirst("^0+(?=.)", "")).isEqualTo(canonical);
      case BASE62 -> assertThat(text).isEqualTo(canonical);
      case HEX -> assertThat(text).isEqualToIgnoringCase(canonical);
      case CROCKFORD_BASE32 ->
          assertThat(plain.replace('I', '1').replace('L', '1').replace('O', '0'))
              .isEqualTo(canonical);
    }
  }

  @Provide
  Arbitrary<String> texts() {
    return Arbitraries.oneOf(
        Arbitraries.strings().ofMaxLength(20),
        Arbitraries.strings().withChars("0123456789abcdefABCDEF").ofMinLength(1).ofMaxLength(20),
        Arbitraries.strings().withChars("017-ILOiloUuXx").ofLength(13),
        Arbitraries.strings().alpha().numeric().ofMinLength(11).ofMaxLength(13));
  }

  @Test
  void allocatesNothingWhenItWritesIntoAnArrayOrReads() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    byte[] bytes = new byte[19];
    char[] chars = new char[19];
    String text = IdFormat.BASE62.format(Long.MAX_VALUE);
    long sum = writeAndRead(bytes, chars, text);
    long before = threads.getCurrentThreadAllocatedBytes();
    sum += writeAndRead(bytes, chars, text);
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    assertThat(sum).isNotZero();
    // 20,000 rounds: an object each would be 320,000 bytes.
    assertThat(allocated).isLessThan(20_000);
  }

  private static long writeAndRead(byte[] bytes, char[] chars, String text) {
    long sum = 0;
    for (int i = 0; i < 20_000; i++) {
      sum += IdFormat.CROCKFORD_BASE32.format(i, bytes, 0);
      sum += IdFormat.DECIMAL.format(i, chars, 0);
      sum += IdFormat.BASE62.parse(text);
    }
    return sum;
  }
}
