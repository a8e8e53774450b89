package io.github.snowlease.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseStore.ClaimReply;
import io.github.snowlease.LeaseStore.Granted;
import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.LeaseStoreException.Reason;
import io.github.snowlease.testing.Certificates;
import io.github.snowlease.testing.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.DisplayNameGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real servers that speak TLS: whom the store trusts, whom it refuses, and what it says then. */
@DisplayNameGeneration(DisplayNameGenerator.ReplaceUnderscores.class)
class RedisTlsTest {
  @TempDir private static Path directory;

  private static Certificates files;
  private static Server open;
  private static Server strict;
  private static Server elsewhere;

  private record Server(RedisServer redis, int tlsPort) {
    static Server launch(
        String certificate, boolean demandsClientCertificate, String... moreLines) {
      int port = RedisServer.freePort();
      List<String> lines =
          new ArrayList<>(files.configLines(port, certificate, demandsClientCertificate));
      lines.addAll(List.of(moreLines));
      return new Server(RedisServer.launchProcess(lines.toArray(new String[0])), port);
    }

    String uri() {
      return "rediss://localhost:" + tlsPort;
    }
  }

  @BeforeAll
  static void start() throws IOException, GeneralSecurityException {
    files = Certificates.make(directory);
    open = Server.launch("server", false);
    strict = Server.launch("server", true);
    elsewhere = Server.launch("elsewhere", false);
  }

  @AfterAll
  static void stop() {
    open.redis.close();
    strict.redis.close();
    elsewhere.redis.close();
  }

  @Test
  void An_authority_of_ones_own_is_trusted_when_its_file_is_given() {
    try (LeaseStore store = trusting("ca.pem", open.uri()).build()) {
      assertThat(claimPatiently(store)).isInstanceOf(Granted.class);

      assertThat(open.redis.command("CLIENT", "LIST"))
          .containsPattern("laddr=127\\.0\\.0\\.1:" + open.tlsPort + " .*cmd=evalsha");
      assertThat(store).hasToString("RedisLeaseStore[Redis at " + open.uri() + "]");
    }
  }

  @Test
  void An_address_will_do_if_the_certificate_has_it() {
    String uri = open.uri().replace("localhost", "127.0.0.1");
    try (LeaseStore store = trusting("ca.pem", uri).build()) {
      assertThat(claimPatiently(store)).isInstanceOf(Granted.class);
    }
  }

  @Test
  void An_authority_of_ones_own_may_be_in_the_trust_store_of_the_JVM() {
    System.setProperty("javax.net.ssl.trustStore", files.file("trust.p12").toString());
    System.setProperty("javax.net.ssl.trustStorePassword", Certificates.PASSWORD);
    try (LeaseStore store = RedisLeaseStore.builder().uri(open.uri()).build()) {
      assertThat(claimPatiently(store)).isInstanceOf(Granted.class);
    } finally {
      System.clearProperty("javax.net.ssl.trustStore");
      System.clearProperty("javax.net.ssl.trustStorePassword");
    }
  }

  @Test
  void An_authority_that_is_unknown_is_refused() {
    assertRefused(
        RedisLeaseStore.builder().uri(open.uri()), "not trusted", "trustCertificates", open.uri());
  }

  @Test
  void Another_authority_than_the_one_in_the_file_is_refused() {
    assertRefused(trusting("stranger.pem", open.uri()), "not trusted");
  }

  @Test
  void A_certificate_for_another_host_is_refused() {
    assertRefused(trusting("ca.pem", elsewhere.uri()), "for another host", "localhost");
  }

  @Test
  void A_certificate_for_another_host_is_taken_if_the_URI_says_that_the_authority_suffices() {
    try (LeaseStore store = trusting("ca.pem", elsewhere.uri() + "?verifyPeer=CA").build()) {
      assertThat(claimPatiently(store)).isInstanceOf(Granted.class);
    }
  }

  @Test
  void A_client_certificate_is_shown_to_a_server_that_demands_one() {
    try (LeaseStore store =
        trusting("ca.pem", strict.uri())
            .clientCertificate(files.file("client.pem"), files.file("client.key"))
            .build()) {
      assertThat(claimPatiently(store)).isInstanceOf(Granted.class);
    }
  }

  @Test
  void A_client_certificate_that_is_missing_or_of_a_stranger_is_demanded() {
    assertRefused(trusting("ca.pem", strict.uri()), "client certificate", "clientCertificate");
    assertRefused(
        trusting("ca.pem", strict.uri())
            .clientCertificate(files.file("stranger.pem"), files.file("stranger.key")),
        "TLS failed");
  }

  @Test
  void A_Sentinel_is_asked_by_TLS_too_and_so_is_the_master_that_it_names() {
    Server sentinel =
        Server.launch(
            "server",
            false,
            "tls-replication yes",
            "sentinel monitor leases 127.0.0.1 " + open.tlsPort + " 1");
    String uri = "rediss-sentinel://127.0.0.1:" + sentinel.tlsPort + "#leases";
    try (LeaseStore store = trusting("ca.pem", uri).build()) {
      assertThat(claimPatiently(store)).isInstanceOf(Granted.class);
      assertThat(store).hasToString("RedisLeaseStore[Redis at " + uri + "]");
      assertRefused(RedisLeaseStore.builder().uri(uri), "not trusted", uri);
    } finally {
      sentinel.redis.close();
    }
  }

  @Test
  void A_file_that_is_replaced_counts_for_the_next_connection() throws IOException {
    Path current = directory.resolve("current.pem");
    Files.copy(files.file("stranger.pem"), current, StandardCopyOption.REPLACE_EXISTING);
    try (LeaseStore store =
        RedisLeaseStore.builder().uri(open.uri()).trustCertificates(current).build()) {
      assertThat(refusal(store)).isNotNull();

      Files.copy(files.file("ca.pem"), current, StandardCopyOption.REPLACE_EXISTING);

      assertThat(claimPatiently(store)).isInstanceOf(Granted.class);
    }
  }

  @Test
  void A_file_that_cannot_be_used_is_refused_at_once_and_named() throws IOException {
    Path garbage = Files.writeString(directory.resolve("garbage.pem"), "garbage");
    for (Path bad : new Path[] {garbage, directory.resolve("missing.pem")}) {
      assertThatIllegalArgumentException()
          .isThrownBy(
              () -> RedisLeaseStore.builder().uri(open.uri()).trustCertificates(bad).build())
          .withMessageContainingAll("PEM", "trustCertificates=" + bad);
    }
    Path certificate = files.file("client.pem");
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                RedisLeaseStore.builder()
                    .uri(open.uri())
                    .clientCertificate(certificate, garbage)
                    .build())
        .withMessageContainingAll("PKCS #8", "clientCertificate=" + certificate + "," + garbage);
  }

  @Test
  void Certificates_for_a_connection_without_TLS_are_refused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> trusting("ca.pem", "redis://localhost").build())
        .withMessage("certificates need a store of rediss://");
  }

  private static RedisLeaseStore.Builder trusting(String file, String uri) {
    return RedisLeaseStore.builder().uri(uri).trustCertificates(files.file(file));
  }

  private static ClaimReply claim(LeaseStore store) {
    return new Leasing(store, Leasing.terms()).claim();
  }

  /** A first handshake on a busy machine may take longer than a question may. */
  private static ClaimReply claimPatiently(LeaseStore store) {
    return await().ignoreExceptions().until(() -> claim(store), Granted.class::isInstance);
  }

  private static LeaseStoreException refusal(LeaseStore store) {
    return await()
        .until(
            () -> catchThrowableOfType(LeaseStoreException.class, () -> claim(store)),
            failure -> failure != null && failure.reason() == Reason.UNAUTHENTICATED);
  }

  private static void assertRefused(RedisLeaseStore.Builder builder, String... words) {
    try (LeaseStore store = builder.build()) {
      LeaseStoreException failure = refusal(store);

      assertThat(failure).hasMessageContainingAll(words);
      assertThat(failure.getMessage()).doesNotContain("\n").hasSizeLessThan(400);
      assertThat(failure.needsOperator()).isTrue();
    }
  }
}
