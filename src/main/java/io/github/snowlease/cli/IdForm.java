package io.github.snowlease.cli;

import io.github.snowlease.IdFormat;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Guesses in which form an id is written: by its length, in which the forms differ. */
final class IdForm {
  private IdForm() {}

  /**
   * Reads an id.
   *
   * @param form its form, or null to guess
   * @throws IllegalArgumentException if it is no id, or may be two
   */
  static long read(String text, @Nullable IdFormat form) {
    if (form != null) {
      return form.parse(text);
    }
    List<IdFormat> fitting = new ArrayList<>();
    for (IdFormat candidate : IdFormat.values()) {
      if (fits(text, candidate)) {
        fitting.add(candidate);
      }
    }
    if (fitting.isEmpty()) {
      throw new IllegalArgumentException(
          "an id is decimal, 13 characters of base32, 11 of base62 or 16 of hex: id=" + text);
    }
    // Digits alone are a decimal number to everybody.
    return fitting.get(0).parse(text);
  }

  private static boolean fits(String text, IdFormat form) {
    try {
      return form.parse(text) >= 0;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  /** The word for a form on the command line. */
  static String name(IdFormat form) {
    return form == IdFormat.CROCKFORD_BASE32 ? "base32" : form.name().toLowerCase(Locale.ROOT);
  }

  /** Reads the word for a form. */
  static final class Converter implements ITypeConverter<IdFormat> {
    @Override
    public IdFormat convert(String word) {
      return Arrays.stream(IdFormat.values())
          .filter(form -> name(form).equals(word.toLowerCase(Locale.ROOT)))
          .findFirst()
          .orElseThrow(
              () ->
                  new TypeConversionException(
                      "a form is decimal, base32, base62 or hex, not '" + word + "'"));
    }
  }

  /** The words, for the help. */
  static final class Words extends ArrayList<String> {
    private static final long serialVersionUID = 1L;

    Words() {
      super(Arrays.stream(IdFormat.values()).map(IdForm::name).toList());
    }
  }
}
