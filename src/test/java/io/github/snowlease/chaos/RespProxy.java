package io.github.snowlease.chaos;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Stands between clients and Redis, knows where each command and each reply ends, and does to them
 * what it is told. A reply is never taken out of a connection that goes on: no network does that,
 * and clients match replies to commands by counting.
 */
final class RespProxy implements AutoCloseable {
  /** Delays of a fault, in milliseconds, and which fault befalls a command. */
  interface Plan {
    /** What to do to a command of this name, or null. */
    @Nullable NetworkFault next(String command);

    /** How late "late" is now, in milliseconds. */
    long delayMillis();
  }

  private static final int SLOW_BYTE_MILLIS = 2;

  private final ServerSocket listener;
  private final Plan plan;
  private final Set<Connection> connections = ConcurrentHashMap.newKeySet();
  private volatile int target;

  RespProxy(int target, Plan plan) {
    this.target = target;
    this.plan = plan;
    try {
      listener = new ServerSocket();
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    thread("accepting", this::accept);
  }

  int port() {
    return listener.getLocalPort();
  }

  /** Where new connections lead; those that stand are ended. */
  void setTarget(int port) {
    target = port;
    connections.forEach(Connection::end);
  }

  private static void thread(String name, Runnable task) {
    Thread thread = new Thread(task, "proxy-" + name);
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket client = listener.accept();
        try {
          Connection connection =
              new Connection(client, new Socket(InetAddress.getLoopbackAddress(), target));
          connections.add(connection);
          thread("commands", () -> connection.run(Connection::passCommands));
          thread("replies", () -> connection.run(Connection::passReplies));
        } catch (IOException e) {
          client.close(); // Redis is away
        }
      } catch (IOException e) {
        // The client went away, or the proxy was closed.
      }
    }
  }

  @Override
  public void close() {
    try {
      listener.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    connections.forEach(Connection::end);
  }

  /** What may go wrong with a connection, which then ends. */
  private interface Step {
    void run(Connection connection) throws IOException, InterruptedException;
  }

  /** What is to become of the next reply of Redis. */
  private enum Fate {
    PASS,
    SWALLOW,
    LATE,
    SLOW,
    /** Lost, and all that follow with it. */
    SILENCE,
    CUT
  }

  private final class Connection {
    private final Socket client;
    private final Socket redis;
    private final LinkedBlockingQueue<Fate> fates = new LinkedBlockingQueue<>();
    private volatile byte @Nullable [] credentials;

    Connection(Socket client, Socket redis) throws IOException {
      this.client = client;
      this.redis = redis;
      client.setTcpNoDelay(true);
      redis.setTcpNoDelay(true);
    }

    void run(Step step) {
      try {
        step.run(this);
      } catch (IOException e) {
        // One of the two sides ended it.
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } finally {
        end();
      }
    }

    void end() {
      connections.remove(this);
      closeQuietly(client);
      closeQuietly(redis);
    }

    void passCommands() throws IOException, InterruptedException {
      RespFrames commands = new RespFrames(new BufferedInputStream(client.getInputStream()));
      while (true) {
        byte[] command = commands.next();
        if (RespFrames.nameOf(command).equals("AUTH")) {
          credentials = command;
        }
        NetworkFault fault = plan.next(RespFrames.nameOf(command));
        if (fault == null) {
          send(command, Fate.PASS);
          continue;
        }
        switch (fault) {
          case REPLY_LOST -> send(command, Fate.SILENCE);
          case COMMAND_LATE -> {
            // Delivered even if the client has gone meanwhile: it is under way.
            TimeUnit.MILLISECONDS.sleep(plan.delayMillis());
            send(command, Fate.PASS);
          }
          case REPLY_LATE -> send(command, Fate.LATE);
          case COMMAND_TWICE -> {
            send(command, Fate.PASS);
            send(command, Fate.SWALLOW);
          }
          case COMMAND_AGAIN_LATER -> {
            send(command, Fate.PASS);
            againLater(command);
          }
          case CUT_BEFORE -> {
            return;
          }
          case CUT_AFTER -> send(command, Fate.CUT);
          case SLOW -> send(command, Fate.SLOW);
        }
      }
    }

    /** Over another connection: this one may have ended by then, and lead to another Redis. */
    private void againLater(byte[] command) {
      byte[] introduction = credentials;
      thread(
          "repeating",
          () -> {
            try {
              TimeUnit.MILLISECONDS.sleep(plan.delayMillis());
              try (Socket later = new Socket(InetAddress.getLoopbackAddress(), target)) {
                RespFrames replies =
                    new RespFrames(new BufferedInputStream(later.getInputStream()));
                if (introduction != null) {
                  later.getOutputStream().write(introduction);
                  replies.next();
                }
                later.getOutputStream().write(command);
                replies.next();
              }
            } catch (IOException e) {
              // Redis is away.
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          });
    }

    private void send(byte[] command, Fate fateOfReply) throws IOException {
      fates.add(fateOfReply);
      redis.getOutputStream().write(command);
    }

    void passReplies() throws IOException, InterruptedException {
      RespFrames replies = new RespFrames(new BufferedInputStream(redis.getInputStream()));
      OutputStream out = client.getOutputStream();
      boolean silent = false;
      while (true) {
        byte[] reply = replies.next();
        Fate fate = fates.take();
        silent |= fate == Fate.SILENCE;
        if (silent || fate == Fate.SWALLOW) {
          continue;
        }
        switch (fate) {
          case CUT -> {
            return;
          }
          case LATE -> {
            TimeUnit.MILLISECONDS.sleep(plan.delayMillis());
            out.write(reply);
          }
          case SLOW -> {
            for (byte b : reply) {
              out.write(b);
              TimeUnit.MILLISECONDS.sleep(SLOW_BYTE_MILLIS);
            }
          }
          default -> out.write(reply);
        }
      }
    }
  }

  private static void closeQuietly(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // It is of no use any more either way.
    }
  }
}
