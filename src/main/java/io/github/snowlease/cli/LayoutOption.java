package io.github.snowlease.cli;

import io.github.snowlease.BitLayout;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** How ids are laid out. */
final class LayoutOption {
  static final String DEFAULT = "${sys:snowflake.layout:-${env:SNOWFLAKE_LAYOUT:-standard}}";

  @Option(
      names = "--layout",
      paramLabel = "LAYOUT",
      defaultValue = DEFAULT,
      converter = Converter.class,
      description = {
        "standard, twitter, javascript-safe, fastapi-best-architecture, or text like"
            + " epoch=1704067200000,tick=1,bits=41/5/5/12.",
        "Environment: SNOWFLAKE_LAYOUT. Now: ${DEFAULT-VALUE}"
      })
  BitLayout layout = BitLayout.standard();

  /** Reads a layout. */
  static final class Converter implements ITypeConverter<BitLayout> {
    @Override
    public BitLayout convert(String text) {
      try {
        return BitLayout.of(text);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(e.getMessage());
      }
    }
  }
}
