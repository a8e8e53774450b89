package io.github.snowlease.redis;

import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.Slot;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SslOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Leases kept in Redis 5 or newer, or Valkey, through Lettuce. The keys are a published format,
 * described in {@code docs/redis.md}.
 *
 * <p>Every operation is one script, so it is one atomic step, and completes within {@link
 * LeaseTerms#commandTimeout()}, whatever the client's own settings are. Stages complete on threads
 * of the client, which must not be kept waiting.
 *
 * <p>Safe for use by many threads and for several namespaces.
 */
public final class RedisLeaseStore implements LeaseStore {
  private static final String CLOSED = "the store has been closed: open a new one";

  final Link link;
  private final Set<Exchange<?>> open = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  RedisLeaseStore(Link link) {
    this.link = link;
  }

  /**
   * Starts the description of a store with a client of its own.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Uses a client of the application's. The store opens one connection from it and closes that one;
   * the client is never closed.
   *
   * @param client the client
   * @param uri where to connect to; its timeout bounds connecting
   * @return the store
   */
  public static RedisLeaseStore using(RedisClient client, RedisURI uri) {
    return new RedisLeaseStore(
        new OnDemandLink(new BorrowedClient(client, uri), uri.getTimeout().multipliedBy(2)));
  }

  /**
   * Uses a cluster client of the application's. The store opens one connection from it and closes
   * that one; the client is never closed.
   *
   * @param client the client
   * @param commandTimeout bounds every step of connecting
   * @return the store
   */
  public static RedisLeaseStore using(RedisClusterClient client, Duration commandTimeout) {
    return new RedisLeaseStore(
        new OnDemandLink(new BorrowedClusterClient(client), commandTimeout.multipliedBy(3)));
  }

  /**
   * Uses a connection of the application's, which is never closed. It must not be in a transaction,
   * nor be used for blocking commands. If it is to be lost, the application decides whether it
   * comes back.
   *
   * @param connection the connection
   * @return the store
   */
  public static RedisLeaseStore using(StatefulRedisConnection<String, String> connection) {
    return new RedisLeaseStore(new BorrowedLink(connection));
  }

  @Override
  public CompletionStage<ClaimReply> claim(LeaseTerms terms, Claim claim) {
    String[] arguments =
        Arguments.of(terms)
            .memory(claim.seenRev(), claim.estimate())
            .add(claim.token(), claim.nonce())
            .add(claim.wallClock(), terms.maxClockSkew())
            .add(terms.window(), LeaseTerms.GRACE, terms.leaseTtl() / 1_000)
            .add(claim.holder().toJson(claim.token()))
            .add(claim.candidates())
            .toArray();
    String[] keys = Keys.of(terms, claim.candidates());
    return write(
        terms,
        new Call(Script.CLAIM, ScriptOutputType.MULTI, keys, arguments),
        Replies::claim,
        Granted.class::isInstance);
  }

  @Override
  public CompletionStage<RenewReply> renew(LeaseTerms terms, Renewal renewal) {
    String[] arguments =
        Arguments.of(terms)
            .memory(renewal.seenRev(), renewal.estimate())
            .add(renewal.token(), renewal.slot().toString())
            .add(renewal.until())
            .add(String.join(",", renewal.nonces()), renewal.newNonce())
            .add(terms.maxClockSkew(), terms.window(), LeaseTerms.GRACE, terms.leaseTtl() / 1_000)
            .add(renewal.holder().toJson(renewal.token()))
            .toArray();
    String[] keys = Keys.of(terms, List.of(renewal.slot()));
    return write(
        terms,
        new Call(Script.RENEW, ScriptOutputType.MULTI, keys, arguments),
        Replies::renewal,
        Renewed.class::isInstance);
  }

  @Override
  public CompletionStage<Boolean> release(LeaseTerms terms, Release release) {
    boolean known = release.lastIssued() != Release.UNKNOWN_GRANT;
    String[] arguments =
        Arguments.of(terms)
            .add(release.token(), known ? Long.toString(release.lastIssued()) : "-")
            .add(terms.window())
            .add(release.candidates())
            .toArray();
    String[] keys = Keys.of(terms, release.candidates());
    return this.<Long, Boolean>ask(
        terms,
        new Call(Script.RELEASE, ScriptOutputType.INTEGER, keys, arguments),
        released -> released == 1);
  }

  @Override
  public CompletionStage<Map<Slot, LedgerEntry>> readLedger(LeaseTerms terms) {
    return start(
        terms,
        (peer, exchange) ->
            exchange.track(peer.commands().hgetall(Keys.ledger(terms))).thenApply(Replies::ledger));
  }

  @Override
  public CompletionStage<Long> time(LeaseTerms terms) {
    String[] keys = Keys.of(terms, List.of());
    return this.<String, Long>ask(
        terms, new Call(Script.TIME, ScriptOutputType.VALUE, keys), Long::valueOf);
  }

  @Override
  public CompletionStage<Boolean> createNamespace(LeaseTerms terms) {
    String[] keys = Keys.of(terms, List.of());
    String[] arguments = Arguments.of(terms).add(terms.layout()).add(terms.quarantine()).toArray();
    return this.<Long, Boolean>ask(
        terms,
        new Call(Script.CREATE, ScriptOutputType.INTEGER, keys, arguments),
        created -> created == 1);
  }

  @Override
  public CompletionStage<List<String>> warnings(LeaseTerms terms) {
    return start(
        terms,
        (peer, exchange) -> {
          RedisClusterAsyncCommands<String, String> redis = peer.commands();
          CompletionStage<String> info = unlessRefused(exchange.track(redis.info()), "");
          CompletionStage<Map<String, String>> settings =
              unlessRefused(exchange.track(redis.configGet(Findings.SETTINGS)), Map.of());
          return info.thenCombine(settings, (text, known) -> Findings.of(terms, text, known));
        });
  }

  /** A user may lack the right to ask: then less is known, and less is said. */
  private static <T> CompletionStage<T> unlessRefused(CompletionStage<T> reply, T fallback) {
    return reply.exceptionallyCompose(
        failure ->
            failure instanceof RedisCommandExecutionException
                ? CompletableFuture.completedFuture(fallback)
                : CompletableFuture.failedFuture(failure));
  }

  @Override
  public void disconnect() {
    link.disconnect();
  }

  @Override
  public void close() {
    closed = true;
    open.forEach(exchange -> exchange.abandon(CLOSED));
    link.close();
  }

  /** Shows where the store is, without secrets. */
  @Override
  public String toString() {
    return "RedisLeaseStore[" + link.where() + "]";
  }

  /** Runs a script whose consent counts only when enough replicas hold it. */
  private <T> CompletionStage<T> write(
      LeaseTerms terms, Call call, Function<List<Object>, T> reader, Predicate<T> consents) {
    if (terms.minReplicas() == 0) {
      return ask(terms, call, reader);
    }
    return start(
        terms,
        (peer, exchange) -> {
          int breaks = peer.breaks();
          return call.<List<Object>>send(peer, exchange)
              .thenApply(reader)
              .thenCompose(
                  value ->
                      consents.test(value)
                          ? waitForReplicas(exchange, peer, terms, breaks).thenApply(held -> value)
                          : CompletableFuture.completedFuture(value));
        });
  }

  /**
   * Waits until enough replicas hold what this connection wrote. WAIT speaks of the connection that
   * it is sent on: on another one, made anew in between, it would count replicas of nothing.
   */
  private CompletionStage<Long> waitForReplicas(
      Exchange<?> exchange, Peer peer, LeaseTerms terms, int breaksBefore) {
    // Ends before the deadline, so that a short count is told, and the connection is free again.
    // Zero
    // would be for ever.
    long patience = Math.max(1, exchange.remainingMillis() * 7 / 8);
    CompletionStage<Long> holding =
        exchange.track(peer.commands().waitForReplication(terms.minReplicas(), patience));
    return holding.thenApply(
        count -> {
          if (peer.breaks() != breaksBefore) {
            throw new RedisException("the connection was lost before the replicas were counted");
          }
          if (count < terms.minReplicas()) {
            throw RedisErrors.tooFewReplicas(link.where(), terms, count);
          }
          return count;
        });
  }

  private <R, T> CompletionStage<T> ask(LeaseTerms terms, Call call, Function<R, T> reader) {
    return start(terms, (peer, exchange) -> call.<R>send(peer, exchange).thenApply(reader));
  }

  private <T> CompletionStage<T> start(LeaseTerms terms, Exchange.Question<T> question) {
    if (closed) {
      return CompletableFuture.failedFuture(
          new LeaseStoreException(LeaseStoreException.Reason.UNREACHABLE, CLOSED, null));
    }
    Exchange<T> exchange = Exchange.start(link, terms, question);
    open.add(exchange);
    CompletionStage<T> answer = exchange.answer();
    answer.whenComplete((value, failure) -> open.remove(exchange));
    if (closed) {
      exchange.abandon(CLOSED);
    }
    return answer;
  }

  /** Describes a store that connects with a client of its own. Not safe for use by many threads. */
  public static final class Builder {
    private @Nullable String uri;
    private Duration commandTimeout = Duration.ofSeconds(1);
    private @Nullable RedisCredentialsProvider credentials;
    private @Nullable Path trusted;
    private @Nullable Path certificate;
    private @Nullable Path key;

    private Builder() {}

    /**
     * Says where Redis is: {@code redis://[[user]:password@]host[:port][/database]}, {@code
     * rediss://…} for TLS, {@code redis-socket://…/path[?db=number]} for a unix socket, {@code
     * redis-sentinel://…} for Sentinel. Has no default.
     *
     * @param uri the URI; special characters of a password are percent-encoded
     * @return this
     */
    public Builder uri(String uri) {
      this.uri = uri;
      return this;
    }

    /**
     * Bounds every step of connecting. Questions are bounded by {@link
     * LeaseTerms#commandTimeout()}. Default 1 second.
     *
     * @param commandTimeout the longest time a step may take, {@code > 0}
     * @return this
     */
    public Builder commandTimeout(Duration commandTimeout) {
      this.commandTimeout = commandTimeout;
      return this;
    }

    /**
     * Takes user and password from a provider of Lettuce's instead of the URI, so that they may
     * change while the store is open. It is asked anew for each connection; if it {@linkplain
     * RedisCredentialsProvider#supportsStreaming() streams}, a connection that stands gives the new
     * ones too.
     *
     * @param credentials gives user and password, without keeping its caller waiting
     * @return this
     */
    public Builder credentials(RedisCredentialsProvider credentials) {
      this.credentials = credentials;
      return this;
    }

    /**
     * Trusts servers whose certificate, or its authority, is in this file, and no others. Needs
     * {@code rediss://}. Without it, those are trusted that the JVM trusts. The file is read for
     * each connection, so it may be replaced while the store is open.
     *
     * @param pem the certificates, in PEM
     * @return this
     */
    public Builder trustCertificates(Path pem) {
      this.trusted = pem;
      return this;
    }

    /**
     * Shows this certificate to a server that asks for one. Needs {@code rediss://}. The files are
     * read for each connection, so they may be replaced while the store is open.
     *
     * @param certificatePem the certificate, and those between it and its authority, in PEM
     * @param keyPem its private key, in PEM, as PKCS #8 without a password
     * @return this
     */
    public Builder clientCertificate(Path certificatePem, Path keyPem) {
      this.certificate = certificatePem;
      this.key = keyPem;
      return this;
    }

    /**
     * Opens the store and begins to connect in the background. An unreachable Redis fails the
     * operations, not this call.
     *
     * @return the store, which the caller closes
     * @throws IllegalArgumentException if the URI is missing or cannot be read, the timeout is not
     *     positive, or a file with a certificate or key cannot be used
     */
    public RedisLeaseStore build() {
      if (uri == null) {
        throw new IllegalArgumentException("uri must be set");
      }
      if (commandTimeout.isNegative() || commandTimeout.isZero()) {
        throw new IllegalArgumentException(
            "commandTimeout must be > 0: commandTimeout=" + commandTimeout);
      }
      RedisURI parsed = StoreUri.parse(uri, commandTimeout);
      if (credentials != null) {
        parsed.setCredentialsProvider(credentials);
      }
      OwnClient client = new OwnClient(parsed, tls(parsed));
      OnDemandLink link = new OnDemandLink(client, client.patience());
      link.prepare();
      return new RedisLeaseStore(link);
    }

    private SslOptions tls(RedisURI parsed) {
      if (trusted == null && certificate == null) {
        return SslOptions.create();
      }
      if (!parsed.isSsl()) {
        throw new IllegalArgumentException("certificates need a store of rediss://");
      }
      try {
        SslOptions.Builder tls = SslOptions.builder().jdkSslProvider();
        if (trusted != null) {
          tls.trustManager(trusted.toFile());
        }
        if (certificate != null && key != null) {
          tls.keyManager(certificate.toFile(), key.toFile(), new char[0]);
        }
        SslOptions options = tls.build();
        // Read now too, so that what cannot be used is found out here.
        options.createSslContextBuilder().build();
        return options;
      } catch (IOException | GeneralSecurityException | RuntimeException e) {
        throw new IllegalArgumentException(
            "certificates must be files in PEM, a key one of PKCS #8 without a password:"
                + (trusted == null ? "" : " trustCertificates=" + trusted)
                + (certificate == null ? "" : " clientCertificate=" + certificate + "," + key),
            e);
      }
    }
  }
}
