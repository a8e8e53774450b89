package io.github.snowlease.acceptance;

import io.github.snowlease.Snowflake;
import java.io.File;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Deploys an application that leases a slot, takes it away, and says how many milliseconds later
 * its class loader was collected, or "held" if it was not within half a minute.
 *
 * <p>In a JVM of its own: when the class loader goes, Netty's native transport takes the methods of
 * every other copy of it along.
 */
final class ApplicationServer {
  private static final long LIMIT_NANOS = 30_000_000_000L;

  private ApplicationServer() {}

  public static void main(String[] arguments) throws Exception {
    WeakReference<ClassLoader> loader = deployAndUndeploy(arguments[0], arguments[1]);
    // A JDK remembers the last type for which a record's equals() was linked (JDK-8078641): of a
    // redeploy, it is the next one's.
    deployAndUndeploy(arguments[0], arguments[1]);

    long begin = System.nanoTime();
    while (loader.get() != null && System.nanoTime() - begin < LIMIT_NANOS) {
      System.gc();
      TimeUnit.MILLISECONDS.sleep(100); // what is to end has time to
    }
    System.out.println(
        loader.get() == null ? "collected " + (System.nanoTime() - begin) / 1_000_000 : "held");
  }

  /** As an application server does: the application's loader knows nothing of the server's. */
  private static WeakReference<ClassLoader> deployAndUndeploy(String store, String namespace)
      throws InterruptedException, IOException {
    List<URL> urls = new ArrayList<>();
    for (String path : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      urls.add(Path.of(path).toUri().toURL());
    }
    AtomicReference<WeakReference<ClassLoader>> loader = new AtomicReference<>();
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread application =
        new Thread(
            () -> {
              try (URLClassLoader own =
                  new URLClassLoader(
                      urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
                Thread.currentThread().setContextClassLoader(own);
                loader.set(new WeakReference<>(own));
                use(own, store, namespace);
              } catch (Throwable t) {
                thrown.set(t);
              }
            },
            "application");
    application.start();
    application.join();
    if (thrown.get() != null) {
      throw new IllegalStateException(thrown.get());
    }
    return loader.get();
  }

  private static void use(ClassLoader loader, String store, String namespace)
      throws ReflectiveOperationException {
    Class<?> type = loader.loadClass(Snowflake.class.getName());
    if (type == Snowflake.class) {
      throw new IllegalStateException("the application must have classes of its own");
    }
    Object builder = type.getMethod("builder").invoke(null);
    Class<?> builderType = builder.getClass();
    builderType.getMethod("store", String.class).invoke(builder, store);
    builderType.getMethod("namespace", String.class).invoke(builder, namespace);
    builderType.getMethod("closeOnJvmExit", boolean.class).invoke(builder, true);
    Object ids = builderType.getMethod("start").invoke(builder);
    type.getMethod("nextId").invoke(ids);
    type.getMethod("close").invoke(ids);
  }
}
