package io.github.snowlease;

import java.util.regex.Pattern;

/**
 * What all processes of a namespace agree on when they lease slots: its name, its layout and the
 * spans of time of the protocol. Immutable; all spans are in milliseconds.
 *
 * @param namespace the scope of uniqueness, as the user wrote it
 * @param layout the canonical text of the {@link BitLayout}, which the store keeps and compares
 * @param leaseTtl life of the visible lease key, whole seconds, {@code >= 10_000}
 * @param maxClockSkew S: how far a clock may be off before a claim or renewal is refused
 * @param minReplicas how many replicas must acknowledge a grant before it counts; 0 = none
 * @param commandTimeout how long a reply may take before it is ignored
 * @param trustEmptyStore whether an empty store is taken for a new namespace without waiting
 */
public record LeaseTerms(
    String namespace,
    String layout,
    long leaseTtl,
    long maxClockSkew,
    int minReplicas,
    long commandTimeout,
    boolean trustEmptyStore) {

  /** G: the time between the end of a window and the moment its slot may be granted anew. */
  public static final long GRACE = 5_000;

  private static final Pattern NAMESPACE = Pattern.compile("[A-Za-z0-9._:\\-{}]+");
  private static final Pattern HASH_TAG = Pattern.compile("[^{}]*\\{[^{}]+}[^{}]*");

  /**
   * Checks the name and the spans against each other.
   *
   * @throws IllegalArgumentException if a value breaks its rule
   */
  public LeaseTerms {
    if (!isNamespace(namespace)) {
      throw new IllegalArgumentException(
          "namespace must match [A-Za-z0-9._:-]+ with at most one non-empty {...}: namespace="
              + namespace);
    }
    // With that, a window holds at least five ticks of any layout: one is a second at most.
    if (leaseTtl < 10_000 || leaseTtl % 1_000 != 0) {
      throw new IllegalArgumentException(
          "leaseTtl must be whole seconds and >= 10s: leaseTtl=" + leaseTtl + "ms");
    }
    if (commandTimeout < 1 || commandTimeout > 2_000) {
      throw new IllegalArgumentException(
          "commandTimeout must be 1ms to 2s: commandTimeout=" + commandTimeout + "ms");
    }
    if (maxClockSkew < commandTimeout + 1_000) {
      throw new IllegalArgumentException(
          "maxClockSkew must be >= commandTimeout + 1s: maxClockSkew="
              + maxClockSkew
              + "ms commandTimeout="
              + commandTimeout
              + "ms");
    }
    if (minReplicas < 0) {
      throw new IllegalArgumentException("minReplicas must be >= 0: minReplicas=" + minReplicas);
    }
  }

  /**
   * Says whether a text can name a namespace.
   *
   * @param text what the user wrote
   * @return true if it matches {@code [A-Za-z0-9._:-]+} with at most one non-empty {@code {…}}
   */
  public static boolean isNamespace(String text) {
    return NAMESPACE.matcher(text).matches()
        && ((text.indexOf('{') < 0 && text.indexOf('}') < 0) || HASH_TAG.matcher(text).matches());
  }

  /**
   * The prefix of every key of the namespace, without the colon. It holds one hash tag, so that all
   * keys share one hash slot of a Redis Cluster; {@code x} and {@code {x}} are the same namespace.
   *
   * @return the namespace with a hash tag
   */
  public String keyPrefix() {
    return namespace.indexOf('{') >= 0 ? namespace : "{" + namespace + "}";
  }

  /**
   * W: how long a grant lets its holder mint, counted from the store's clock at the grant.
   *
   * @return the length of a window in milliseconds
   */
  public long window() {
    return leaseTtl - GRACE;
  }

  /**
   * H = W + 3S: how long a store that is empty, or that lost or changed its memory, grants no new
   * lease, so that every window granted before has ended.
   *
   * @return the length of the quarantine in milliseconds
   */
  public long quarantine() {
    return window() + 3 * maxClockSkew;
  }
}
