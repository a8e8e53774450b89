package io.github.snowlease;

/**
 * Opens stores by the scheme of their URI; found by {@link java.util.ServiceLoader}.
 * Implementations have a public constructor without parameters and are stateless.
 */
public interface LeaseStoreProvider {
  /**
   * Says whether this provider opens URIs of a scheme.
   *
   * @param scheme the part before the colon, in lower case
   * @return whether {@link #open} may be called
   */
  boolean supports(String scheme);

  /**
   * Opens a store. Connects in the background: an unreachable store fails the operations, not this
   * call.
   *
   * @param uri where the store is; may carry credentials, which no message may repeat
   * @param terms what the namespace agrees on, for the timeouts of the connection
   * @return the store, which the caller closes
   * @throws IllegalArgumentException if the URI cannot be read
   */
  LeaseStore open(String uri, LeaseTerms terms);
}
