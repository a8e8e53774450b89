package io.github.snowlease.cli;

import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes JSON: maps, collections, texts, numbers, booleans and null. */
final class Json {
  private Json() {}

  static String of(@Nullable Object value) {
    StringBuilder json = new StringBuilder();
    write(json, value);
    return json.toString();
  }

  private static void write(StringBuilder json, @Nullable Object value) {
    if (value == null || value instanceof Number || value instanceof Boolean) {
      json.append(value);
    } else if (value instanceof Map<?, ?> map) {
      json.append('{');
      String separator = "";
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        json.append(separator);
        quote(json, String.valueOf(entry.getKey()));
        json.append(':');
        write(json, entry.getValue());
        separator = ",";
      }
      json.append('}');
    } else if (value instanceof Collection<?> all) {
      json.append('[');
      String separator = "";
      for (Object one : all) {
        json.append(separator);
        write(json, one);
        separator = ",";
      }
      json.append(']');
    } else {
      quote(json, value.toString());
    }
  }

  private static void quote(StringBuilder json, String text) {
    json.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        json.append('\\').append(c);
      } else if (c < ' ' || c == 0x7f) {
        json.append(String.format("\\u%04x", (int) c));
      } else {
        json.append(c);
      }
    }
    json.append('"');
  }
}
