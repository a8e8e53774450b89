package io.github.snowlease.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** The scripts, each put together from its resources, and the digest by which Redis knows it. */
enum Script {
  CLAIM("common", "memory", "claim"),
  RENEW("common", "memory", "renew"),
  RELEASE("common", "release"),
  CREATE("common", "create"),
  TIME("common", "time"),
  EVICT("common", "evict");

  private final String text;
  private final String digest;

  Script(String... parts) {
    StringBuilder joined = new StringBuilder();
    for (String part : parts) {
      joined.append(read(part + ".lua"));
    }
    text = joined.toString();
    digest = sha1(text);
  }

  /** The source, for EVAL. */
  String text() {
    return text;
  }

  /** The SHA-1 of the source in hex, for EVALSHA. */
  String digest() {
    return digest;
  }

  private static String read(String resource) {
    try (InputStream in = Script.class.getResourceAsStream(resource)) {
      if (in == null) {
        throw new IllegalStateException("resource is missing from the jar: " + resource);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String sha1(String text) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-1", e);
    }
  }
}
