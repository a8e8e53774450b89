package io.github.snowlease.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseStore.Full;
import io.github.snowlease.LeaseStore.Granted;
import io.github.snowlease.LeaseStore.LayoutDiffers;
import io.github.snowlease.LeaseStore.Renewed;
import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.LeaseStoreException.Reason;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.Slot;
import io.github.snowlease.testing.RedisExtension;
import io.github.snowlease.testing.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.DisplayNameGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A user with the rights that docs/redis.md lists, and with each of them taken away. */
@ExtendWith(RedisExtension.class)
@DisplayNameGeneration(DisplayNameGenerator.ReplaceUnderscores.class)
class RedisRightsTest {
  private final LeaseTerms terms = Leasing.terms();
  private LeaseStore store;
  private RedisServer redis;

  @BeforeEach
  void open(RedisServer redis) throws IOException {
    this.redis = redis;
    redis.command("SCRIPT", "FLUSH");
    List<String> user = new ArrayList<>(List.of("ACL", "SETUSER", "app", "reset", "on", ">secret"));
    user.add("~{" + terms.namespace() + "}:*");
    user.addAll(rights());
    redis.command(user.toArray(new String[0]));
    store = RedisLeaseStore.builder().uri(redis.uri().replace("//", "//app:secret@")).build();
    // A connection that Redis drops while the user changes is another test's matter.
    await()
        .ignoreExceptions()
        .until(() -> store.time(terms).toCompletableFuture().join(), now -> now > 0);
    redis.command("SCRIPT", "FLUSH");
  }

  @AfterEach
  void close() {
    store.close();
  }

  /**
   * The rights as the document gives them, so that it cannot say one thing and this test another.
   */
  static List<String> rights() throws IOException {
    String document = Files.readString(Path.of("docs/redis.md"));
    Matcher command =
        Pattern.compile("(?m)^ACL SETUSER orders on >.* ~\\{orders}:\\*(( \\+\\S+)+)$")
            .matcher(document);
    assertThat(command.find()).as("the least rights in docs/redis.md").isTrue();
    return List.of(command.group(1).strip().split(" "));
  }

  @Test
  void The_least_rights_are_enough() {
    useEverything();
  }

  @ParameterizedTest
  @MethodSource("rights")
  void A_right_that_is_missing_is_named(String right, RedisServer redis) {
    redis.command("ACL", "SETUSER", "app", right.replace('+', '-'));
    if (right.equals("+info")) {
      useEverything();
      return;
    }

    LeaseStoreException failure =
        catchThrowableOfType(LeaseStoreException.class, this::useEverything);

    assertThat(failure).as("a right that nothing needs").isNotNull();
    assertThat(failure.reason()).isEqualTo(Reason.DENIED);
    assertThat(failure.needsOperator()).isTrue();
    assertThat(failure)
        .hasMessageContainingAll("denies the user " + right, "ACL SETUSER", "docs/redis.md");
  }

  @Test
  void A_right_to_keys_that_is_missing_is_named(RedisServer redis) {
    redis.command("ACL", "SETUSER", "app", "resetkeys", "~other:*");

    LeaseStoreException failure =
        catchThrowableOfType(LeaseStoreException.class, this::useEverything);

    assertThat(failure.reason()).isEqualTo(Reason.DENIED);
    assertThat(failure).hasMessageContaining("the keys ~{" + terms.namespace() + "}:");
  }

  @Test
  void Without_the_right_to_INFO_another_server_goes_unnoticed_and_the_rest_works(
      RedisServer redis) {
    String ledger = "{" + terms.namespace() + "}:ledger";
    new Leasing(store, terms).claim();
    String server = redis.command("HGET", ledger, "srv");
    redis.command("ACL", "SETUSER", "app", "-info");

    // Neither compared nor overwritten.
    redis.command("HSET", ledger, "srv", "0000");
    assertThat(new Leasing(store, terms).claim(new Slot(0, 1))).isInstanceOf(Granted.class);
    assertThat(redis.command("HGET", ledger, "srv")).isEqualTo("0000");
    redis.command("HSET", ledger, "srv", server);

    LeaseTerms fresh =
        new LeaseTerms("{" + terms.namespace() + "}:2", "x", 30_000, 5_000, 0, 2_000, true);
    assertThat(new Leasing(store, fresh).claim()).isInstanceOf(Granted.class);
    assertThat(redis.command("HGET", fresh.keyPrefix() + ":ledger", "srv")).isEqualTo("-");
  }

  @Test
  void A_database_of_its_own_needs_the_right_to_SELECT_and_a_password_may_have_any_characters(
      RedisServer redis) {
    redis.command("ACL", "SETUSER", "app", "resetpass", ">p@ss/w:rd#1%");
    String uri = redis.uri().replace("//", "//app:p%40ss%2Fw%3Ard%231%25@") + "/3";
    try (LeaseStore third = RedisLeaseStore.builder().uri(uri).build()) {
      LeaseStoreException failure =
          catchThrowableOfType(LeaseStoreException.class, new Leasing(third, terms)::claim);
      assertThat(failure.reason()).isEqualTo(Reason.DENIED);
      assertThat(failure).hasMessageContainingAll("denies the user +select", redis.port() + "/3");

      redis.command("ACL", "SETUSER", "app", "+select");

      await().ignoreExceptions().until(() -> new Leasing(third, terms).claim() instanceof Granted);
      assertThat(redis.command("CLIENT", "LIST")).containsPattern("db=3 .*user=app");
      assertThat(redis.command("EXISTS", terms.keyPrefix() + ":ledger")).isEqualTo("0");
    }
  }

  private void useEverything() {
    LeaseTerms created =
        new LeaseTerms("{" + terms.namespace() + "}:1", "x", 30_000, 5_000, 0, 2_000, false);
    assertThat(Leasing.get(store.createNamespace(created))).isTrue();
    Leasing leasing = new Leasing(store, terms);
    assertThat(leasing.claim()).isInstanceOf(Granted.class);
    assertThat(leasing.renew()).isInstanceOf(Renewed.class);
    // The ledger says free, the lease key is there: it asks for the key's life and text.
    redis.command("SET", created.keyPrefix() + ":nodes:3:7", "closed for repairs");
    assertThat(new Leasing(store, created).claim()).isInstanceOf(Full.class);
    LeaseTerms other = new LeaseTerms(terms.namespace(), "other", 30_000, 5_000, 0, 2_000, false);
    assertThat(new Leasing(store, other).claim()).isInstanceOf(LayoutDiffers.class);
    assertThat(Leasing.get(store.readLedger(terms))).hasSize(1);
    assertThat(leasing.release()).isTrue();
    Leasing.get(store.warnings(terms));
  }
}
