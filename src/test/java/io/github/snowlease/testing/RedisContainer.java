package io.github.snowlease.testing;

import static org.awaitility.Awaitility.await;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.command.InspectContainerResponse.ContainerState;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.startupcheck.StartupCheckStrategy;
import org.testcontainers.containers.wait.strategy.AbstractWaitStrategy;
import org.testcontainers.images.builder.Transferable;
import org.testcontainers.utility.DockerImageName;

/**
 * A redis-server, or a valkey-server, in a container. It listens on the same port inside and
 * outside, so that the port stays when the container is stopped and started.
 */
final class RedisContainer implements RedisBackend {

  private static final Duration EXIT_LIMIT = Duration.ofSeconds(15);
  private static final String CONFIG = "/snowlease-redis.conf";

  private final String image;
  private final int port;
  private final String config;
  private @Nullable Container container;

  /**
   * @param configLines lines of redis.conf that come after, and so override, those written here
   */
  RedisContainer(String image, int port, List<String> configLines) {
    this.image = image;
    this.port = port;
    this.config =
        "bind 0.0.0.0\nprotected-mode no\nport %d\ndir /data\n%s\n"
            .formatted(port, String.join("\n", configLines));
  }

  @Override
  public void start() {
    if (container == null) {
      container = new Container(image, port, config);
      container.start();
    } else {
      docker().startContainerCmd(id()).exec();
    }
  }

  @Override
  public boolean isRunning() {
    return container != null && Boolean.TRUE.equals(state().getRunning());
  }

  @Override
  public long pid() {
    Long pid = state().getPidLong();
    if (pid == null || pid == 0) {
      throw new IllegalStateException("the container does not run");
    }
    return pid;
  }

  @Override
  public void terminate() {
    docker().killContainerCmd(id()).withSignal("TERM").exec();
    awaitExit();
  }

  @Override
  public void kill() {
    docker().killContainerCmd(id()).withSignal("KILL").exec();
    awaitExit();
  }

  @Override
  public void pause() {
    docker().pauseContainerCmd(id()).exec();
  }

  @Override
  public void resume() {
    docker().unpauseContainerCmd(id()).exec();
  }

  @Override
  public void deleteData() {
    // The data lies in a volume of the container's own and goes with it.
    close();
  }

  @Override
  public String log() {
    return container == null ? "" : container.getLogs();
  }

  @Override
  public void close() {
    if (container != null) {
      container.stop();
      container = null;
    }
  }

  private Container container() {
    if (container == null) {
      throw new IllegalStateException("the container was never started");
    }
    return container;
  }

  private DockerClient docker() {
    return container().getDockerClient();
  }

  private String id() {
    return container().getContainerId();
  }

  private ContainerState state() {
    return docker().inspectContainerCmd(id()).exec().getState();
  }

  private void awaitExit() {
    await().atMost(EXIT_LIMIT).until(() -> !isRunning());
  }

  /** A container that is started without waiting for more than Docker's own word. */
  private static final class Container extends GenericContainer<Container> {

    Container(String image, int port, String config) {
      super(DockerImageName.parse(image));
      addFixedExposedPort(port, port);
      withCopyToContainer(Transferable.of(config), CONFIG);
      // Either name may be the server's; `exec` lets it get the signals.
      withCommand(
          "sh", "-c", "exec \"$(command -v valkey-server || command -v redis-server)\" " + CONFIG);
      // Whether Redis answers is asked by RedisServer, for every kind of server alike.
      waitingFor(
          new AbstractWaitStrategy() {
            @Override
            protected void waitUntilReady() {}
          });
      withStartupCheckStrategy(
          new StartupCheckStrategy() {
            @Override
            public StartupStatus checkStartupState(DockerClient docker, String id) {
              return StartupStatus.SUCCESSFUL;
            }
          });
    }
  }
}
