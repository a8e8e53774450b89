package io.github.snowlease.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A Redis client of a hundred lines, so that a test can look at Redis without the client that it
 * tests. One connection, one command at a time, RESP2.
 */
public final class RespClient implements AutoCloseable {

  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private final Socket socket;
  private final InputStream in;

  private RespClient(Socket socket) throws IOException {
    this.socket = socket;
    this.in = new BufferedInputStream(socket.getInputStream());
  }

  /** Connects; this and each command may take 5 seconds. */
  public static RespClient connect(String host, int port) throws IOException {
    return connect(host, port, TIMEOUT);
  }

  /** Connects; this and each command may take as long as the timeout. */
  public static RespClient connect(String host, int port, Duration timeout) throws IOException {
    Socket socket = new Socket();
    try {
      int timeoutMs = Math.toIntExact(timeout.toMillis());
      socket.connect(new InetSocketAddress(host, port), timeoutMs);
      socket.setSoTimeout(timeoutMs);
      socket.setTcpNoDelay(true);
      return new RespClient(socket);
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  /**
   * Sends a command and waits for its reply.
   *
   * @return a String, a Long, a List of these, or null for nil
   * @throws RedisErrorException if Redis answers with an error
   * @throws IOException if no whole reply comes in time; the connection is then of no use
   */
  public @Nullable Object call(String... command) throws IOException {
    ByteArrayOutputStream request = new ByteArrayOutputStream();
    request.writeBytes(("*" + command.length + "\r\n").getBytes(UTF_8));
    for (String argument : command) {
      byte[] bytes = argument.getBytes(UTF_8);
      request.writeBytes(("$" + bytes.length + "\r\n").getBytes(UTF_8));
      request.writeBytes(bytes);
      request.writeBytes(new byte[] {'\r', '\n'});
    }
    socket.getOutputStream().write(request.toByteArray());
    return readReply();
  }

  private @Nullable Object readReply() throws IOException {
    String line = readLine();
    String rest = line.substring(1);
    return switch (line.charAt(0)) {
      case '+' -> rest;
      case '-' -> throw new RedisErrorException(rest);
      case ':' -> Long.valueOf(rest);
      case '$' -> readBulk(Integer.parseInt(rest));
      case '*' -> readArray(Integer.parseInt(rest));
      default -> throw new IOException("not a RESP2 reply: " + line);
    };
  }

  private @Nullable String readBulk(int length) throws IOException {
    if (length < 0) {
      return null;
    }
    byte[] bytes = in.readNBytes(length);
    if (bytes.length < length || in.readNBytes(2).length < 2) {
      throw new EOFException("Redis closed the connection within a reply");
    }
    return new String(bytes, UTF_8);
  }

  private @Nullable List<@Nullable Object> readArray(int length) throws IOException {
    if (length < 0) {
      return null;
    }
    List<@Nullable Object> elements = new ArrayList<>(length);
    for (int i = 0; i < length; i++) {
      elements.add(readReply());
    }
    return elements;
  }

  private String readLine() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int b = in.read(); b != '\r'; b = in.read()) {
      if (b < 0) {
        throw new EOFException("Redis closed the connection");
      }
      line.write(b);
    }
    if (in.read() != '\n' || line.size() == 0) {
      throw new IOException("not a RESP2 line: " + line.toString(UTF_8));
    }
    return line.toString(UTF_8);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }

  /** Redis answered with an error; the message is its text, which begins with the error's name. */
  public static final class RedisErrorException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    RedisErrorException(String message) {
      super(message);
    }
  }
}
