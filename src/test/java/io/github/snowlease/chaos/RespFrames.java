package io.github.snowlease.chaos;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;

/** Reads RESP2 frame by frame, and hands each on as the bytes that it was. */
final class RespFrames {
  private final InputStream in;

  RespFrames(InputStream in) {
    this.in = in;
  }

  /**
   * The next command or reply, whole.
   *
   * @throws EOFException if the stream ends
   */
  byte[] next() throws IOException {
    ByteArrayOutputStream frame = new ByteArrayOutputStream();
    copyFrame(frame);
    return frame.toByteArray();
  }

  /** The name of a command, or of the script that it calls: what its frame begins with. */
  static String nameOf(byte[] command) {
    String[] lines =
        new String(command, 0, Math.min(command.length, 64), US_ASCII).split("\r\n", 4);
    return lines.length > 2 ? lines[2].toUpperCase(java.util.Locale.ROOT) : "";
  }

  private void copyFrame(ByteArrayOutputStream frame) throws IOException {
    String line = copyLine(frame);
    int length = line.length() > 1 ? (int) number(line) : 0;
    switch (line.charAt(0)) {
      case '$' -> {
        if (length >= 0) {
          byte[] bytes = in.readNBytes(length + 2);
          if (bytes.length < length + 2) {
            throw new EOFException("within a frame");
          }
          frame.write(bytes);
        }
      }
      case '*' -> {
        for (int i = 0; i < length; i++) {
          copyFrame(frame);
        }
      }
      case '+', '-', ':' -> {}
      default -> throw new IOException("not RESP2: " + line);
    }
  }

  private static long number(String line) {
    char kind = line.charAt(0);
    return kind == '$' || kind == '*' ? Long.parseLong(line.substring(1)) : 0;
  }

  private String copyLine(ByteArrayOutputStream frame) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int b = in.read(); b != '\n'; b = in.read()) {
      if (b < 0) {
        throw new EOFException("the connection ended");
      }
      frame.write(b);
      if (b != '\r') {
        line.append((char) b);
      }
    }
    frame.write('\n');
    return line.toString();
  }
}
