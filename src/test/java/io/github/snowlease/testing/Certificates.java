package io.github.snowlease.testing;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * An authority and what it certified, made by the JDK's keytool, as PEM files: {@code ca.pem}; for
 * each of {@code server} (localhost and 127.0.0.1), {@code elsewhere} (another host) and {@code
 * client} a {@code .pem} and a {@code .key}. {@code stranger.pem} is another authority. {@code
 * trust.p12} holds the authority for javax.net.ssl.
 */
public final class Certificates {
  /** The password of {@code trust.p12}. */
  public static final String PASSWORD = "not-a-secret";

  private final Path directory;

  private Certificates(Path directory) {
    this.directory = directory;
  }

  /** Makes all of them in a directory. */
  public static Certificates make(Path directory) throws IOException, GeneralSecurityException {
    Path keys = directory.resolve("keys.p12");
    generate(keys, "ca", "-ext", "bc:c=ca:true");
    generate(keys, "server", "-signer", "ca", "-ext", "san=dns:localhost,ip:127.0.0.1");
    generate(keys, "elsewhere", "-signer", "ca", "-ext", "san=dns:elsewhere.example");
    generate(keys, "client", "-signer", "ca");
    generate(keys, "stranger", "-ext", "bc:c=ca:true");

    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(keys)) {
      store.load(in, PASSWORD.toCharArray());
    }
    for (String alias : List.of("ca", "server", "elsewhere", "client", "stranger")) {
      write(
          directory.resolve(alias + ".pem"),
          "CERTIFICATE",
          store.getCertificate(alias).getEncoded());
      write(
          directory.resolve(alias + ".key"),
          "PRIVATE KEY",
          store.getKey(alias, PASSWORD.toCharArray()).getEncoded());
    }
    KeyStore trust = KeyStore.getInstance("PKCS12");
    trust.load(null, null);
    trust.setCertificateEntry("ca", store.getCertificate("ca"));
    try (var out = Files.newOutputStream(directory.resolve("trust.p12"))) {
      trust.store(out, PASSWORD.toCharArray());
    }
    return new Certificates(directory);
  }

  /** One of the files. */
  public Path file(String name) {
    return directory.resolve(name);
  }

  /** Lines of redis.conf for a server that speaks TLS on this port. */
  public List<String> configLines(int tlsPort, String alias, boolean demandsClientCertificate) {
    return List.of(
        "tls-port " + tlsPort,
        "tls-cert-file " + file(alias + ".pem"),
        "tls-key-file " + file(alias + ".key"),
        "tls-ca-cert-file " + file("ca.pem"),
        "tls-auth-clients " + (demandsClientCertificate ? "yes" : "no"));
  }

  private static void generate(Path keys, String alias, String... more) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-J-XX:TieredStopAtLevel=1",
                "-genkeypair",
                "-alias",
                alias,
                "-dname",
                "CN=" + alias,
                "-keyalg",
                "EC",
                "-groupname",
                "secp256r1",
                "-validity",
                "2",
                "-storetype",
                "PKCS12",
                "-keystore",
                keys.toString(),
                "-storepass",
                PASSWORD));
    command.addAll(List.of(more));
    Process keytool = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(keytool.getInputStream().readAllBytes(), US_ASCII);
    try {
      if (!keytool.waitFor(60, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
        throw new IllegalStateException("keytool failed: " + command + "\n" + output);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while keytool ran", e);
    }
  }

  private static void write(Path file, String kind, byte[] bytes) throws IOException {
    String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
    Files.writeString(
        file, "-----BEGIN " + kind + "-----\n" + text + "\n-----END " + kind + "-----\n");
  }
}
