package io.github.snowlease.file;

import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseStoreProvider;
import io.github.snowlease.LeaseTerms;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/**
 * Opens stores in a folder, for {@link java.util.ServiceLoader}: {@code file:/var/lib/app/slots},
 * or {@code file:slots} for a folder below the one in which the process was started. Code that
 * wants such a store itself uses {@link FileLeaseStore#in}.
 */
public final class FileLeaseStoreProvider implements LeaseStoreProvider {
  private static final String SCHEME = "file";

  /** Creates a provider; it keeps no state. */
  public FileLeaseStoreProvider() {}

  @Override
  public boolean supports(String scheme) {
    return scheme.equals(SCHEME);
  }

  @Override
  public LeaseStore open(String uri, LeaseTerms terms) {
    return FileLeaseStore.in(folder(uri));
  }

  /**
   * Reads the folder of a URI.
   *
   * @param uri a URI of the scheme {@code file}
   * @return the folder, absolute or below the present one
   * @throws IllegalArgumentException if it has none, or one of another host
   */
  public static Path folder(String uri) {
    String path = uri.substring(uri.indexOf(':') + 1);
    if (path.startsWith("///")) {
      path = path.substring(2);
    }
    if (path.isBlank() || path.startsWith("//")) {
      throw new IllegalArgumentException(
          "store must be file: and a folder of this host, as in file:/var/lib/app/slots or"
              + " file:slots: store="
              + uri);
    }
    try {
      // A plus sign is itself in a path.
      String decoded = URLDecoder.decode(path.replace("+", "%2B"), StandardCharsets.UTF_8);
      return Path.of(decoded.matches("/[A-Za-z]:.*") ? decoded.substring(1) : decoded);
    } catch (InvalidPathException e) {
      throw new IllegalArgumentException(
          "store must be file: and a path that this system knows: store=" + uri, e);
    }
  }
}
