package io.github.snowlease.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.snowlease.BitLayout;
import io.github.snowlease.LayoutMismatchException;
import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseStore.Claim;
import io.github.snowlease.LeaseStore.ClaimReply;
import io.github.snowlease.LeaseStore.Full;
import io.github.snowlease.LeaseStore.Granted;
import io.github.snowlease.LeaseStore.Holder;
import io.github.snowlease.LeaseStore.Quarantined;
import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.Slot;
import io.github.snowlease.Snowflake;
import io.github.snowlease.SnowflakeBuilder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.DisplayNameGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a folder adds to the laws of all stores. */
@DisplayNameGeneration(DisplayNameGenerator.ReplaceUnderscores.class)
class FileStoreInUseTest {
  private static final Slot SLOT = new Slot(3, 7);
  private static final LeaseTerms TERMS =
      new LeaseTerms("orders", "41/5/5/12", 30_000, 5_000, 0, 2_000, false);

  @TempDir private Path root;

  @Test
  void leases_without_any_server_and_at_once() {
    Set<Long> ids = new HashSet<>();
    try (Snowflake first = builder().start();
        Snowflake second = builder().start()) {
      assertThat(first.status().slot()).isNotEqualTo(second.status().slot());
      for (int i = 0; i < 1_000; i++) {
        assertThat(ids.add(first.nextId())).isTrue();
        assertThat(ids.add(second.nextId())).isTrue();
      }
    }
    try (Snowflake pinned = builder().clusterId(0).nodeId(0).start()) {
      assertThat(ids.add(pinned.nextId())).isTrue();
    }
  }

  @Test
  void leaves_nothing_locked_and_nothing_to_tidy_when_all_have_closed() throws Exception {
    builder().start().close();

    try (Stream<Path> left = Files.list(root.resolve("orders").resolve("slots"))) {
      assertThat(left).isEmpty();
    }
    assertThat(Files.readString(root.resolve("orders").resolve("ledger.txt")))
        .contains("layout = " + BitLayout.standard());
  }

  @Test
  void refuses_another_layout_and_names_both() {
    builder().start().close();

    assertThatThrownBy(() -> builder().layout(BitLayout.twitter()).start())
        .isInstanceOf(LayoutMismatchException.class)
        .hasMessageContaining(BitLayout.standard().toString())
        .hasMessageContaining(BitLayout.twitter().toString());
  }

  @Test
  void keeps_namespaces_apart_whatever_their_names_are() throws Exception {
    try (LeaseStore store = FileLeaseStore.in(root)) {
      for (String name : List.of("..", ".", "a:b", "a_b", "a.b", "a{b}c")) {
        LeaseTerms terms = new LeaseTerms(name, "41/5/5/12", 30_000, 5_000, 0, 2_000, false);
        assertThat(claim(store, terms)).as(name).isInstanceOf(Granted.class);
      }
    }
    try (Stream<Path> folders = Files.list(root)) {
      assertThat(folders.map(folder -> folder.getFileName().toString()))
          .containsExactlyInAnyOrder("%2e.", "%2e", "a%3ab", "a_b", "a.b", "a%7bb%7dc");
    }
    assertThat(root.getParent().resolve("ledger.txt")).doesNotExist();
  }

  @Test
  void waits_when_the_folder_is_a_copy() throws Exception {
    try (LeaseStore store = FileLeaseStore.in(root.resolve("a"))) {
      claim(store, TERMS);
    }
    Path copy = root.resolve("b").resolve("orders");
    Files.createDirectories(copy.resolve("slots"));
    Files.copy(
        root.resolve("a").resolve("orders").resolve("ledger.txt"), copy.resolve("ledger.txt"));

    try (LeaseStore store = FileLeaseStore.in(root.resolve("b"))) {
      assertThat(claim(store, TERMS)).isInstanceOf(Quarantined.class);
    }
  }

  @Test
  void never_shows_less_than_the_time_that_the_ledger_has_seen() throws Exception {
    try (LeaseStore store = FileLeaseStore.in(root)) {
      claim(store, TERMS);
      long ahead = System.currentTimeMillis() + 4_000;
      new FolderBackDoor(root.resolve("orders")).set("clock", Long.toString(ahead));

      assertThat(get(store.time(TERMS).toCompletableFuture())).isGreaterThanOrEqualTo(ahead);
    }
  }

  @Test
  void a_ledger_that_was_cut_off_grants_nothing_and_says_what_to_do() throws Exception {
    Path ledger = root.resolve("orders").resolve("ledger.txt");
    try (LeaseStore store = FileLeaseStore.in(root)) {
      claim(store, TERMS);
      byte[] whole = Files.readAllBytes(ledger);
      for (int length = 0; length < whole.length; length += 7) {
        Files.write(ledger, Arrays.copyOf(whole, length));
        assertThatThrownBy(() -> claim(store, TERMS))
            .hasCauseInstanceOf(LeaseStoreException.class)
            .hasMessageContaining("must be whole")
            .hasMessageContaining("move its folder away");
      }
      Files.write(ledger, whole);
      assertThat(claim(store, TERMS)).isInstanceOf(Full.class);
    }
  }

  @Test
  void half_a_draft_that_a_killed_process_left_is_no_obstacle() throws Exception {
    try (LeaseStore store = FileLeaseStore.in(root)) {
      claim(store, TERMS);
      Files.writeString(root.resolve("orders").resolve("ledger.txt.new"), "lay");
      Files.writeString(root.resolve("orders").resolve("slots").resolve("3-8.lease.new"), "{");

      assertThat(claim(store, TERMS, new Slot(3, 8))).isInstanceOf(Granted.class);
    }
  }

  @Test
  void a_lock_that_excludes_nobody_is_noticed_before_anything_is_written() throws Exception {
    NamespaceFolder folder = new NamespaceFolder(root, TERMS);
    Path ledger = root.resolve("orders").resolve("ledger.txt");
    assertThatThrownBy(
            () ->
                folder.alone(
                    2_000,
                    files -> {
                      Ledger mine = files.read();
                      Files.writeString(ledger, "what another wrote meanwhile");
                      files.write(mine);
                      return true;
                    }))
        .isInstanceOf(LeaseStoreException.class)
        .hasMessageContaining("must lock files");
    assertThat(ledger).hasContent("what another wrote meanwhile");
  }

  @Test
  void a_frozen_process_that_keeps_the_ledger_locked_is_named_in_time() throws Exception {
    try (LeaseStore store = FileLeaseStore.in(root)) {
      claim(store, TERMS);
      LeaseTerms impatient = new LeaseTerms("orders", "41/5/5/12", 30_000, 5_000, 0, 100, false);
      try (FileChannel channel =
              FileChannel.open(
                  root.resolve("orders").resolve("ledger.lock"), StandardOpenOption.WRITE);
          var lock = channel.lock()) {
        assertThat(lock.isValid()).isTrue();
        assertThatThrownBy(() -> claim(store, impatient))
            .hasCauseInstanceOf(LeaseStoreException.class)
            .hasMessageContaining("another process has kept");
      }
    }
  }

  @Test
  void a_slot_whose_holder_still_lives_is_not_granted_even_when_its_window_has_ended()
      throws Exception {
    Path slots = root.resolve("orders").resolve("slots");
    Files.createDirectories(slots);
    try (LeaseStore store = FileLeaseStore.in(root);
        FileChannel channel =
            FileChannel.open(
                slots.resolve("3-7.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        var lock = channel.lock()) {
      assertThat(lock.isValid()).isTrue();
      assertThat(get(store.createNamespace(TERMS).toCompletableFuture())).isTrue();

      assertThat(((Full) claim(store, TERMS)).waitMillis()).isEqualTo(-1);
      assertThat(claim(store, TERMS, new Slot(3, 8))).isInstanceOf(Granted.class);
    }
  }

  @Test
  void says_what_to_do_when_the_path_is_not_a_folder() throws Exception {
    Path file = Files.writeString(root.resolve("a-file"), "");
    try (LeaseStore store = FileLeaseStore.in(file)) {
      assertThatThrownBy(() -> claim(store, TERMS))
          .hasCauseInstanceOf(LeaseStoreException.class)
          .hasMessageContaining("is something else; choose another path");
    }
  }

  @Test
  void a_closed_store_answers_that_it_is_closed() throws Exception {
    LeaseStore store = FileLeaseStore.in(root);
    claim(store, TERMS);
    store.close();
    store.close();

    assertThatThrownBy(() -> claim(store, TERMS)).hasMessageContaining("has been closed");
  }

  @Test
  void a_deleted_lock_file_is_made_anew_at_the_next_renewal() throws Exception {
    try (Snowflake ids =
        builder().clusterId(3).nodeId(7).heartbeatInterval(Duration.ofMillis(200)).start()) {
      Path lock = root.resolve("orders").resolve("slots").resolve("3-7.lock");
      Files.move(lock, root.resolve("away"), StandardCopyOption.REPLACE_EXISTING);

      await().until(() -> Files.exists(lock));
      assertThat(ids.status().isReady()).isTrue();
    }
  }

  private SnowflakeBuilder builder() {
    return Snowflake.builder().store("file:" + root).namespace("orders");
  }

  private static ClaimReply claim(LeaseStore store, LeaseTerms terms) throws Exception {
    return claim(store, terms, SLOT);
  }

  private static ClaimReply claim(LeaseStore store, LeaseTerms terms, Slot slot) throws Exception {
    Claim claim =
        new Claim(
            "0123456789abcdef0123456789abcdef",
            "0123456789abcdef",
            System.currentTimeMillis(),
            -1,
            0,
            List.of(slot),
            new Holder("host", 1, "test", 0, "0"));
    return get(store.claim(terms, claim).toCompletableFuture());
  }

  private static <T> T get(CompletableFuture<T> stage)
      throws InterruptedException, ExecutionException {
    return stage.get();
  }
}
