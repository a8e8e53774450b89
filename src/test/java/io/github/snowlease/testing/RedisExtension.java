package io.github.snowlease.testing;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives each test class a Redis of its own, and its tests a parameter of type {@link RedisServer}.
 * Nested classes share that of the class around them. Before each test Redis answers again,
 * whatever the test before did to it; its data stays, so tests take namespaces of their own.
 *
 * <pre>{@code
 * @ExtendWith(RedisExtension.class)
 * class SomeTest {
 *   @Test
 *   void works(RedisServer redis) { … }
 * }
 * }</pre>
 *
 * <p>A class whose Redis needs settings registers it with lines of redis.conf:
 *
 * <pre>{@code
 * @RegisterExtension
 * static final RedisExtension REDIS = RedisExtension.with("requirepass secret");
 * }</pre>
 */
public final class RedisExtension
    implements BeforeAllCallback, BeforeEachCallback, ParameterResolver {

  private static final Namespace NAMESPACE = Namespace.create(RedisExtension.class);
  private static final Set<String> ANNOUNCED = ConcurrentHashMap.newKeySet();

  private final String[] configLines;

  /** For {@code @ExtendWith}. */
  public RedisExtension() {
    this(new String[0]);
  }

  private RedisExtension(String[] configLines) {
    this.configLines = configLines;
  }

  /** A Redis with these lines in its redis.conf. */
  public static RedisExtension with(String... configLines) {
    return new RedisExtension(configLines.clone());
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    server(context);
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    server(context).ensureAnswering();
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == RedisServer.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return server(context);
  }

  /** The server of the class. JUnit closes what its store holds when the class is done. */
  private RedisServer server(ExtensionContext context) {
    return context
        .getStore(NAMESPACE)
        .getOrComputeIfAbsent(RedisServer.class, key -> launch(), RedisServer.class);
  }

  private RedisServer launch() {
    RedisServer server = RedisServer.launch(configLines);
    String kind = "Redis " + server.version() + " from " + server.source().label();
    if (ANNOUNCED.add(kind)) {
      System.out.println("[tests] " + kind);
    }
    return server;
  }
}
