package io.github.snowlease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.snowlease.LeaseStore.Claim;
import io.github.snowlease.LeaseStore.ClaimReply;
import io.github.snowlease.LeaseStore.Full;
import io.github.snowlease.LeaseStore.Granted;
import io.github.snowlease.LeaseStore.Holder;
import io.github.snowlease.LeaseStore.LayoutDiffers;
import io.github.snowlease.LeaseStore.LedgerEntry;
import io.github.snowlease.LeaseStore.LossReason;
import io.github.snowlease.LeaseStore.Lost;
import io.github.snowlease.LeaseStore.Quarantined;
import io.github.snowlease.LeaseStore.Release;
import io.github.snowlease.LeaseStore.RenewReply;
import io.github.snowlease.LeaseStore.Renewal;
import io.github.snowlease.LeaseStore.Renewed;
import io.github.snowlease.LeaseStore.Skewed;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.DisplayNameGenerator;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The laws of a {@link LeaseStore}, which every store obeys: {@code docs/design.md} §3 in
 * executable form. Nothing here waits for a window to end; a test that needs a past moves the fence
 * instead, through the {@link BackDoor}.
 */
@DisplayNameGeneration(DisplayNameGenerator.ReplaceUnderscores.class)
public abstract class LeaseStoreContract {
  /** Longer than any assertion needs, shorter than any window. */
  private static final long SLACK = 4_000;

  private static final Slot A = new Slot(3, 7);
  private static final Slot B = new Slot(3, 8);
  private static final Slot C = new Slot(0, 31);
  private static final String OTHER_TOKEN = "0123456789abcdef0123456789abcdef";
  private static final String OTHER_NONCE = "fedcba9876543210";

  private final Random random = new Random();
  private final LeaseTerms terms = terms("contract-" + hex(12), 30_000, false);

  private LeaseStore store;
  private BackDoor door;

  /**
   * The store under test, connected; the subclass closes it.
   *
   * @return the same store for all tests of a class, or another each time
   */
  protected abstract LeaseStore store();

  /**
   * A way to the memory of a namespace that does not lead through the store.
   *
   * @param terms names the namespace
   * @return the back door
   */
  protected abstract BackDoor backDoor(LeaseTerms terms);

  /**
   * Whether an empty store can only be a new one, as its memory does not vanish by itself; else it
   * may have forgotten everything, and waits.
   */
  protected boolean isNewWhenEmpty() {
    return false;
  }

  /** How a test looks at a namespace, and does to it what operators, bugs and disasters do. */
  public interface BackDoor {
    /** All fields of the ledger: layout, birth, srv, rev, quarantine, and those of slots. */
    Map<String, String> ledger();

    /** Sets a field of the ledger. */
    void set(String field, String value);

    /** Removes a field of the ledger. */
    void unset(String field);

    /** Loses the whole namespace, as a flush does. */
    void forget();

    /** The text of a lease key, or null if there is none. */
    @Nullable String lease(Slot slot);

    /** The life of a lease key in milliseconds, -1 if it has no end. */
    long leaseLife(Slot slot);

    /** Writes a lease key without an end, as an operator does to block a slot. */
    void block(Slot slot, String text);

    /** Puts something of another kind where the lease key should be. */
    void putForeignThing(Slot slot);

    /** Removes a lease key. */
    void removeLease(Slot slot);
  }

  @BeforeEach
  void open() {
    store = store();
    door = backDoor(terms);
  }

  @Nested
  class A_new_namespace {
    @Test
    void grants_nothing_until_every_window_that_might_have_been_forgotten_has_ended() {
      assumeThat(isNewWhenEmpty()).isFalse();
      Quarantined reply = (Quarantined) claim(A);

      assertThat(reply.waitMillis()).isEqualTo(terms.quarantine() + 1);
      assertThat(door.ledger()).containsEntry("birth", Long.toString(reply.now()));
      assertThat(door.ledger()).containsEntry("rev", Long.toString(reply.rev()));
    }

    @Test
    void grants_at_once_when_the_quarantine_is_over() {
      assumeThat(isNewWhenEmpty()).isFalse();
      claim(A);
      door.set("birth", Long.toString(now() - terms.quarantine() - 1));

      assertThat(claim(A)).isInstanceOf(Granted.class);
    }

    @Test
    void says_how_much_of_the_quarantine_is_left() {
      claim(A);
      long birth = now() - terms.quarantine() + 2_000;
      door.set("birth", Long.toString(birth));

      Quarantined reply = (Quarantined) claim(A);

      assertThat(reply.now() + reply.waitMillis()).isEqualTo(birth + terms.quarantine() + 1);
    }

    @Test
    void grants_at_once_when_it_was_created() {
      assertThat(get(store.createNamespace(terms))).isTrue();

      assertThat(claim(A)).isInstanceOf(Granted.class);
      assertThat(door.ledger())
          .containsEntry("layout", terms.layout())
          .containsEntry("quarantine", Long.toString(terms.quarantine()));
    }

    @Test
    void is_created_once_and_left_alone_afterwards() {
      get(store.createNamespace(terms));
      Map<String, String> created = door.ledger();

      assertThat(get(store.createNamespace(withLayout("other")))).isFalse();
      assertThat(door.ledger()).isEqualTo(created);
    }

    @Test
    void is_not_created_once_somebody_waits_for_it() {
      claim(A);
      Map<String, String> waited = door.ledger();

      assertThat(get(store.createNamespace(terms))).isFalse();
      assertThat(door.ledger()).isEqualTo(waited);
    }

    @Test
    void grants_at_once_to_who_trusts_it_and_says_so() {
      LeaseTerms trusting = terms(terms.namespace(), 30_000, true);

      Granted first = (Granted) get(store.claim(trusting, wish(A)));
      Granted second = (Granted) get(store.claim(trusting, wish(B)));

      assertThat(first.trustedEmpty()).isTrue();
      assertThat(second.trustedEmpty()).isFalse();
    }

    @Test
    void is_not_taken_for_new_by_who_has_seen_it_before() {
      LeaseTerms trusting = terms(terms.namespace(), 30_000, true);

      Quarantined reply = (Quarantined) get(store.claim(trusting, wish(wall(), -1, 7, A)));

      assertThat(reply.rev()).isGreaterThan(7);
    }

    @Test
    void is_trusted_again_as_long_as_trust_has_led_to_no_grant() {
      LeaseTerms trusting = terms(terms.namespace(), 30_000, true);
      door.block(A, "closed for repairs");

      assertThat(get(store.claim(trusting, wish(A)))).isInstanceOf(Full.class);
      assertThat(door.ledger()).isEmpty();
      assertThat(((Granted) get(store.claim(trusting, wish(B)))).trustedEmpty()).isTrue();
    }
  }

  @Nested
  class A_grant {
    @BeforeEach
    void create() {
      get(store.createNamespace(terms));
    }

    @Test
    void is_a_window_that_begins_now() {
      Claim wish = wish(A);
      Granted grant = (Granted) get(store.claim(terms, wish));

      assertThat(grant.slot()).isEqualTo(A);
      assertThat(grant.until()).isEqualTo(grant.now() + terms.window());
      assertThat(grant.now()).isBetween(wish.wallClock() - 1_000, wall() + 1_000);
      assertThat(grant.trustedEmpty()).isFalse();
      assertThat(door.ledger())
          .containsEntry("3:7", grant.until() + "|" + wish.token() + "|" + wish.nonce())
          .containsEntry("rev", Long.toString(grant.rev()));
    }

    @Test
    void shows_its_holder_to_people_and_goes_when_its_grace_is_over() {
      Holder holder = new Holder("web\"1\\\n", 4711, "shöp", 1_700_000_000_000L, "1.2.3");
      Claim wish = new Claim(hex(32), hex(16), wall(), -1, 0, List.of(A), holder);
      Granted grant = (Granted) get(store.claim(terms, wish));

      assertThat(door.lease(A))
          .isEqualTo(
              "{\"token\":\""
                  + wish.token()
                  + "\",\"host\":\"web\\\"1\\\\\\u000a\",\"pid\":4711,\"app\":\"shöp\","
                  + "\"since\":\"2023-11-14T22:13:20Z\",\"version\":\"1.2.3\"}");
      long ends = now() + door.leaseLife(A);
      assertThat(ends).isBetween(grant.until() + 4_900, grant.until() + 5_100);
    }

    @Test
    void is_of_the_first_candidate_that_is_free() {
      claim(B);
      door.block(A, "closed for repairs");

      assertThat(((Granted) claim(A, B, C)).slot()).isEqualTo(C);
    }

    @Test
    void is_refused_while_another_holds_the_slot_and_names_the_holder() {
      Claim first = wish(A);
      Granted grant = (Granted) get(store.claim(terms, first));

      Full reply = (Full) claim(A);

      assertThat(reply.holder()).startsWith("{\"token\":\"" + first.token() + "\",");
      assertThat(reply.now() + reply.waitMillis()).isEqualTo(grant.until() + LeaseTerms.GRACE + 1);
      assertThat(reply.rev()).isEqualTo(grant.rev());
    }

    @Test
    void of_a_held_slot_waits_for_the_grace_even_if_the_lease_key_has_gone() {
      long until = now() - LeaseTerms.GRACE + SLACK;
      door.set("3:7", until + "|" + OTHER_TOKEN + "|" + OTHER_NONCE);

      Full reply = (Full) claim(A);

      assertThat(reply.now() + reply.waitMillis()).isEqualTo(until + LeaseTerms.GRACE + 1);
    }

    @Test
    void of_a_held_slot_comes_when_the_grace_is_over() {
      long until = now() - LeaseTerms.GRACE - 1;
      door.set("3:7", until + "|" + OTHER_TOKEN + "|" + OTHER_NONCE);

      assertThat(((Granted) claim(A)).now()).isGreaterThan(until + LeaseTerms.GRACE);
    }

    @Test
    void of_a_released_slot_begins_above_the_last_id_issued() {
      long last = now() + SLACK;
      door.set("3:7", last + "||");

      Full refused = (Full) claim(A);
      assertThat(refused.now() + refused.waitMillis()).isEqualTo(last + 1);

      long past = now() - 1;
      door.set("3:7", past + "||");
      assertThat(((Granted) claim(A)).now()).isGreaterThan(past);
    }

    @ParameterizedTest
    @ValueSource(
        strings = {
          "x",
          "123",
          "|",
          "||",
          "12|zz|00",
          "12|ab",
          "-5||",
          "1e5||",
          "12.5||",
          " 12||",
          "12||\n",
          "1111111111111111||",
          "99999999999999999999999999|ab|cd",
          "5|ab|cd|ef"
        })
    void never_takes_over_a_damaged_fence(String damaged) {
      door.set("3:7", damaged);

      Full reply = (Full) claim(A);

      assertThat(reply.waitMillis()).isEqualTo(-1);
      assertThat(door.ledger()).containsEntry("3:7", damaged);
      assertThat(door.lease(A)).isNull();
      assertThat(get(store.readLedger(terms)).get(A).isFreeAt(Long.MAX_VALUE)).isFalse();
    }

    @Test
    void never_takes_a_slot_that_an_operator_blocked() {
      door.block(A, "closed for repairs");

      Full reply = (Full) claim(A);

      assertThat(reply.waitMillis()).isEqualTo(-1);
      assertThat(reply.holder()).isEqualTo("closed for repairs");
      assertThat(door.lease(A)).isEqualTo("closed for repairs");
      assertThat(door.leaseLife(A)).isEqualTo(-1);
      assertThat(door.ledger()).doesNotContainKey("3:7");
    }

    @Test
    void never_takes_a_slot_whose_lease_key_is_something_else() {
      door.putForeignThing(A);

      Full reply = (Full) claim(A);

      assertThat(reply.waitMillis()).isEqualTo(-1);
      assertThat(reply.holder()).isEmpty();
    }

    @Test
    void gives_the_soonest_hint_of_all_candidates() {
      long soonest = now() + SLACK;
      door.set("3:7", (soonest + 60_000) + "||");
      door.set("3:8", soonest + "||");
      door.block(C, "closed for repairs");

      Full reply = (Full) claim(A, B, C);

      assertThat(reply.now() + reply.waitMillis()).isEqualTo(soonest + 1);
    }

    @Test
    void of_one_slot_never_shares_a_millisecond_with_another() {
      long fence = 0;
      for (int i = 0; i < 50; i++) {
        Claim wish = wish(A);
        ClaimReply reply = get(store.claim(terms, wish));
        if (reply instanceof Granted grant) {
          assertThat(grant.now()).isGreaterThan(fence);
          // It minted nothing, or something in the first millisecond of its window.
          fence = grant.now() - 1 + i % 2;
          assertThat(get(store.release(terms, new Release(wish.token(), fence, List.of(A)))))
              .isTrue();
        } else {
          assertThat(((Full) reply).now()).isLessThanOrEqualTo(fence);
        }
      }
      assertThat(fence).isPositive();
    }

    @Test
    void goes_to_one_of_many_who_ask_at_once() {
      List<Slot> slots = IntStream.range(0, 32).mapToObj(node -> new Slot(1, node)).toList();
      List<CompletionStage<ClaimReply>> replies = new ArrayList<>();
      for (int i = 0; i < 33; i++) {
        replies.add(store.claim(terms, wish(slots.toArray(new Slot[0]))));
      }

      Set<Slot> granted = new HashSet<>();
      int refused = 0;
      for (CompletionStage<ClaimReply> reply : replies) {
        if (get(reply) instanceof Granted grant) {
          granted.add(grant.slot());
        } else {
          refused++;
        }
      }
      assertThat(granted).hasSameElementsAs(slots);
      assertThat(refused).isEqualTo(1);
    }
  }

  @Nested
  class A_renewal {
    private Claim wish;
    private Granted grant;

    @BeforeEach
    void grant() {
      get(store.createNamespace(terms));
      wish = wish(A);
      grant = (Granted) get(store.claim(terms, wish));
    }

    @Test
    void extends_the_window_from_now_on() {
      String nonce = hex(16);
      Renewed reply = (Renewed) renew(List.of(wish.nonce()), nonce);

      assertThat(reply.until()).isEqualTo(reply.now() + terms.window());
      assertThat(reply.rev()).isGreaterThan(grant.rev());
      assertThat(door.ledger())
          .containsEntry("3:7", reply.until() + "|" + wish.token() + "|" + nonce)
          .containsEntry("rev", Long.toString(reply.rev()));
      assertThat(door.lease(A)).startsWith("{\"token\":\"" + wish.token() + "\",");
      assertThat(now() + door.leaseLife(A)).isBetween(reply.until() + 4_900, reply.until() + 5_100);
    }

    @Test
    void costs_nothing_when_replies_are_lost() {
      List<String> nonces = new ArrayList<>(List.of(wish.nonce()));
      for (int i = 0; i < 10; i++) {
        String nonce = hex(16);
        assertThat(renew(nonces, nonce)).isInstanceOf(Renewed.class);
        nonces.add(nonce);
      }
    }

    @Test
    void costs_nothing_when_requests_are_lost() {
      assertThat(renew(List.of(wish.nonce(), hex(16), hex(16)), hex(16)))
          .isInstanceOf(Renewed.class);
    }

    @Test
    void is_done_once_however_often_it_arrives() {
      Renewal renewal = renewal(grant.until(), List.of(wish.nonce()), hex(16));
      assertThat(get(store.renew(terms, renewal))).isInstanceOf(Renewed.class);
      Map<String, String> once = door.ledger();

      assertLost(LossReason.NONCE, get(store.renew(terms, renewal)));
      assertThat(door.ledger()).isEqualTo(once);
    }

    @Test
    void succeeds_for_one_of_two_clones_only() {
      assertThat(renew(List.of(wish.nonce()), hex(16))).isInstanceOf(Renewed.class);

      assertLost(LossReason.NONCE, renew(List.of(wish.nonce(), hex(16)), hex(16)));
    }

    @Test
    void never_comes_after_the_window_has_ended() {
      long ended = now() - 1;
      door.set("3:7", ended + "|" + wish.token() + "|" + wish.nonce());

      assertLost(
          LossReason.EXPIRED,
          get(store.renew(terms, renewal(ended, List.of(wish.nonce()), hex(16)))));
    }

    @Test
    void never_comes_after_the_window_has_ended_even_if_the_store_forgot_it() {
      door.forget();

      assertLost(
          LossReason.EXPIRED,
          get(store.renew(terms, renewal(now() - 1, List.of(wish.nonce()), hex(16)))));
      assertThat(door.lease(A)).isNull();
      assertThat(door.ledger()).doesNotContainKeys("3:7", "layout");
    }

    @Test
    void counts_the_window_that_the_store_knows_when_its_reply_was_lost() {
      // The holder knows of a window that has ended; its renewal before was done.
      assertThat(get(store.renew(terms, renewal(now() - 1, List.of(wish.nonce()), hex(16)))))
          .isInstanceOf(Renewed.class);
    }

    @Test
    void never_shortens_a_window() {
      long far = now() + terms.window() + SLACK;
      door.set("3:7", far + "|" + wish.token() + "|" + wish.nonce());

      assertThat(((Renewed) renew(List.of(wish.nonce()), hex(16))).until()).isEqualTo(far);
    }

    @Test
    void is_refused_when_another_holds_the_slot() {
      String others = (now() + 20_000) + "|" + OTHER_TOKEN + "|" + OTHER_NONCE;
      door.set("3:7", others);

      assertLost(LossReason.OWNER, renew(List.of(wish.nonce()), hex(16)));
      assertThat(door.ledger()).containsEntry("3:7", others);
    }

    @Test
    void is_refused_when_the_slot_was_released() {
      get(store.release(terms, new Release(wish.token(), grant.now(), List.of(A))));

      assertLost(LossReason.OWNER, renew(List.of(wish.nonce()), hex(16)));
      assertThat(door.lease(A)).isNull();
    }

    @Test
    void is_refused_when_an_operator_blocked_the_slot() {
      door.block(A, "closed for repairs");

      assertLost(LossReason.KEY, renew(List.of(wish.nonce()), hex(16)));
      assertThat(door.lease(A)).isEqualTo("closed for repairs");
    }

    @Test
    void is_refused_when_the_lease_key_is_another_holders() {
      door.block(A, "{\"token\":\"" + OTHER_TOKEN + "\",\"host\":\"b\"}");

      assertLost(LossReason.KEY, renew(List.of(wish.nonce()), hex(16)));
    }

    @Test
    void is_refused_when_the_lease_key_is_something_else() {
      door.putForeignThing(A);

      assertLost(LossReason.KEY, renew(List.of(wish.nonce()), hex(16)));
    }

    @Test
    void is_refused_when_the_fence_is_damaged() {
      door.set("3:7", "oops");

      assertLost(LossReason.DAMAGED, renew(List.of(wish.nonce()), hex(16)));
      assertThat(door.ledger()).containsEntry("3:7", "oops");
    }

    @Test
    void puts_back_a_lease_key_that_was_lost() {
      door.removeLease(A);

      assertThat(renew(List.of(wish.nonce()), hex(16))).isInstanceOf(Renewed.class);
      assertThat(door.lease(A)).startsWith("{\"token\":\"" + wish.token() + "\",");
    }

    @Test
    void puts_back_a_fence_that_was_lost() {
      door.unset("3:7");

      assertThat(renew(List.of(wish.nonce()), hex(16))).isInstanceOf(Renewed.class);
      assertThat(door.ledger()).containsKey("3:7");
    }

    private RenewReply renew(List<String> nonces, String newNonce) {
      return get(store.renew(terms, renewal(grant.until(), nonces, newNonce)));
    }

    private Renewal renewal(long until, List<String> nonces, String newNonce) {
      return renewalOf(wish, until, nonces, newNonce, grant.rev());
    }
  }

  @Nested
  class A_release {
    private Claim wish;
    private Granted grant;

    @BeforeEach
    void grant() {
      get(store.createNamespace(terms));
      wish = wish(A);
      grant = (Granted) get(store.claim(terms, wish));
    }

    @Test
    void fences_the_slot_at_the_last_id_issued() {
      assertThat(release(grant.now() + 1, A)).isTrue();

      assertThat(door.ledger()).containsEntry("3:7", (grant.now() + 1) + "||");
      assertThat(Long.parseLong(door.ledger().get("rev"))).isGreaterThan(grant.rev());
      assertThat(door.lease(A)).isNull();
    }

    @Test
    void frees_the_slot_for_the_next() {
      release(grant.now() - 1, A);

      assertThat(((Granted) claim(A)).now()).isGreaterThanOrEqualTo(grant.now());
    }

    @Test
    void is_done_once() {
      assertThat(release(grant.now(), A)).isTrue();
      Map<String, String> once = door.ledger();

      assertThat(release(grant.now() - 1, A)).isFalse();
      assertThat(door.ledger()).isEqualTo(once);
    }

    @Test
    void does_not_touch_what_the_next_holder_has() {
      release(grant.now() - 1, A);
      claim(A);
      Map<String, String> next = door.ledger();
      String lease = door.lease(A);

      assertThat(release(grant.now() - 1, A)).isFalse();
      assertThat(door.ledger()).isEqualTo(next);
      assertThat(door.lease(A)).isEqualTo(lease);
    }

    @Test
    void by_who_holds_nothing_changes_nothing() {
      Map<String, String> before = door.ledger();

      assertThat(get(store.release(terms, new Release(OTHER_TOKEN, grant.now(), List.of(A, B)))))
          .isFalse();
      assertThat(door.ledger()).isEqualTo(before);
      assertThat(door.lease(A)).isNotNull();
    }

    @Test
    void after_a_claim_without_an_answer_finds_the_slot_and_fences_it_where_the_window_began() {
      assertThat(release(Release.UNKNOWN_GRANT, C, B, A)).isTrue();

      assertThat(door.ledger())
          .containsEntry("3:7", (grant.until() - terms.window()) + "||")
          .doesNotContainKeys("3:8", "0:31");
      assertThat(door.lease(A)).isNull();
    }

    @Test
    void after_a_claim_that_never_arrived_changes_nothing() {
      Map<String, String> before = door.ledger();

      assertThat(
              get(
                  store.release(
                      terms, new Release(hex(32), Release.UNKNOWN_GRANT, List.of(A, B, C)))))
          .isFalse();
      assertThat(door.ledger()).isEqualTo(before);
    }

    @Test
    void never_raises_a_fence() {
      Map<String, String> before = door.ledger();

      assertThat(release(grant.until() + 1, A)).isFalse();
      assertThat(door.ledger()).isEqualTo(before);
      assertThat(release(grant.until(), A)).isTrue();
    }

    @Test
    void leaves_an_operators_block_in_place() {
      door.block(A, "closed for repairs");

      assertThat(release(grant.now(), A)).isTrue();
      assertThat(door.lease(A)).isEqualTo("closed for repairs");
    }

    @Test
    void of_a_damaged_fence_changes_nothing() {
      door.set("3:7", "oops|" + wish.token() + "|");

      assertThat(release(grant.now(), A)).isFalse();
      assertThat(door.ledger()).containsEntry("3:7", "oops|" + wish.token() + "|");
    }

    private boolean release(long lastIssued, Slot... slots) {
      return get(store.release(terms, new Release(wish.token(), lastIssued, List.of(slots))));
    }
  }

  @Nested
  class A_wrong_clock {
    @ParameterizedTest
    @ValueSource(longs = {-1, 1})
    void is_refused_in_a_claim_and_nothing_is_written(long sign) {
      long wrong = now() + sign * (terms.maxClockSkew() + SLACK);
      Skewed reply = (Skewed) get(store.claim(terms, wish(wrong, -1, 0, A)));

      assertThat(reply.now()).isBetween(now() - SLACK, now());
      assertThat(door.ledger()).isEmpty();
      assertThat(door.lease(A)).isNull();
    }

    @Test
    void is_borne_in_a_claim_up_to_the_largest_skew() {
      get(store.createNamespace(terms));

      assertThat(get(store.claim(terms, wish(now() + terms.maxClockSkew() - SLACK, -1, 0, A))))
          .isInstanceOf(Granted.class);
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, 1})
    void is_refused_in_a_renewal_and_nothing_is_written(long sign) {
      get(store.createNamespace(terms));
      Claim wish = wish(A);
      Granted grant = (Granted) get(store.claim(terms, wish));
      Map<String, String> before = door.ledger();

      long wrong = now() + sign * (terms.maxClockSkew() + SLACK);
      Renewal renewal =
          new Renewal(
              wish.token(), A, grant.until(), List.of(wish.nonce()), hex(16), wrong, 0, holder());

      assertThat(get(store.renew(terms, renewal))).isInstanceOf(Skewed.class);
      assertThat(door.ledger()).isEqualTo(before);
    }

    @Test
    void shows_in_a_window_that_reaches_too_far() {
      get(store.createNamespace(terms));
      Claim wish = wish(A);
      Granted grant = (Granted) get(store.claim(terms, wish));
      Map<String, String> before = door.ledger();
      long tooFar = now() + terms.window() + terms.maxClockSkew() + SLACK;

      assertThat(
              get(
                  store.renew(
                      terms, renewalOf(wish, tooFar, List.of(wish.nonce()), hex(16), grant.rev()))))
          .isInstanceOf(Skewed.class);
      assertThat(door.ledger()).isEqualTo(before);
    }

    @Test
    void is_looked_at_before_the_layout() {
      get(store.createNamespace(terms));

      assertThat(get(store.claim(withLayout("other"), wish(0, -1, 0, A))))
          .isInstanceOf(Skewed.class);
    }
  }

  @Nested
  class Another_layout {
    @Test
    void is_refused_in_a_claim_and_nothing_is_written() {
      get(store.createNamespace(terms));
      // Not even what a lost memory would need.
      door.set("srv", "0000");
      Map<String, String> before = door.ledger();

      LayoutDiffers reply = (LayoutDiffers) get(store.claim(withLayout("other"), wish(A)));

      assertThat(reply.stored()).isEqualTo(terms.layout());
      assertThat(door.ledger()).isEqualTo(before);
      assertThat(door.lease(A)).isNull();
    }

    @Test
    void is_refused_in_a_renewal_and_nothing_is_written() {
      get(store.createNamespace(terms));
      Claim wish = wish(A);
      Granted grant = (Granted) get(store.claim(terms, wish));
      door.set("layout", "other");
      Map<String, String> before = door.ledger();

      LayoutDiffers reply =
          (LayoutDiffers)
              get(
                  store.renew(
                      terms,
                      renewalOf(wish, grant.until(), List.of(wish.nonce()), hex(16), grant.rev())));

      assertThat(reply.stored()).isEqualTo("other");
      assertThat(door.ledger()).isEqualTo(before);
    }

    @Test
    void cannot_be_set_by_a_newcomer_who_must_wait() {
      get(store.createNamespace(terms));
      Claim wish = wish(A);
      Granted grant = (Granted) get(store.claim(terms, wish));
      door.forget();

      assertThat(get(store.claim(withLayout("other"), wish(B)))).isInstanceOf(Quarantined.class);
      assertThat(door.ledger()).doesNotContainKey("layout");
      assertThat(
              get(
                  store.renew(
                      terms, renewalOf(wish, grant.until(), List.of(wish.nonce()), hex(16), 0))))
          .isInstanceOf(Renewed.class);
      assertThat(door.ledger()).containsEntry("layout", terms.layout());
      assertThat(get(store.claim(withLayout("other"), wish(B)))).isInstanceOf(LayoutDiffers.class);
    }
  }

  @Nested
  class A_lost_memory {
    private Claim wish;
    private Granted grant;

    @BeforeEach
    void grant() {
      get(store.createNamespace(terms));
      wish = wish(A);
      grant = (Granted) get(store.claim(terms, wish));
    }

    @Test
    void stops_new_grants_but_not_the_live_holder() {
      door.forget();

      assertThat(claim(B)).isInstanceOf(Quarantined.class);
      assertThat(renew()).isInstanceOf(Renewed.class);
      assertThat(door.lease(A)).startsWith("{\"token\":\"" + wish.token() + "\",");
      assertThat(claim(B)).isInstanceOf(Quarantined.class);
    }

    @Test
    void shows_by_another_server() {
      String before = door.ledger().get("srv");
      door.set("srv", "0000");

      Quarantined reply = (Quarantined) claim(B);

      assertThat(reply.waitMillis()).isEqualTo(terms.quarantine() + 1);
      assertThat(reply.rev()).isEqualTo(grant.rev() + 1);
      assertThat(door.ledger()).containsEntry("srv", before);
      assertThat(door.ledger()).containsEntry("birth", Long.toString(reply.now()));
    }

    @Test
    void shows_by_another_server_to_who_renews_too() {
      door.set("srv", "0000");

      Renewed reply = (Renewed) renew();

      assertThat(door.ledger()).containsEntry("birth", Long.toString(reply.now()));
      assertThat(claim(B)).isInstanceOf(Quarantined.class);
    }

    @Test
    void shows_even_in_a_renewal_that_is_refused() {
      door.set("srv", "0000");
      door.set("3:7", "oops");

      Lost reply = (Lost) renew();

      assertThat(door.ledger())
          .containsEntry("birth", Long.toString(reply.now()))
          .containsEntry("rev", Long.toString(reply.rev()));
    }

    @Test
    void shows_by_a_revision_below_one_that_was_seen() {
      long seen = grant.rev() + 5;

      Quarantined reply = (Quarantined) get(store.claim(terms, wish(wall(), -1, seen, B)));

      assertThat(reply.rev()).isEqualTo(seen + 1);
      assertThat(door.ledger()).containsEntry("rev", Long.toString(seen + 1));
      assertThat(door.ledger()).containsEntry("birth", Long.toString(reply.now()));
    }

    @Test
    void does_not_show_by_a_revision_that_others_have_raised() {
      assertThat(get(store.claim(terms, wish(wall(), -1, grant.rev() - 1, B))))
          .isInstanceOf(Granted.class);
    }

    @Test
    void shows_by_a_birth_that_is_missing() {
      door.unset("birth");

      assertThat(claim(B)).isInstanceOf(Quarantined.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"oops", "", "1e9", "9999999999999999999"})
    void shows_by_a_birth_that_is_damaged(String damaged) {
      door.set("birth", damaged);

      assertThat(((Quarantined) claim(B)).waitMillis()).isEqualTo(terms.quarantine() + 1);
    }

    @Test
    void shows_by_a_revision_that_is_damaged() {
      door.set("rev", "oops");

      Quarantined reply = (Quarantined) get(store.claim(terms, wish(wall(), -1, 1, B)));

      assertThat(reply.rev()).isEqualTo(2);
    }

    @Test
    void counts_from_the_latest_time_that_the_caller_knows_of() {
      door.set("srv", "0000");
      long estimate = now() + SLACK;

      Quarantined reply = (Quarantined) get(store.claim(terms, wish(wall(), estimate, 0, B)));

      assertThat(reply.now() + reply.waitMillis()).isEqualTo(estimate + terms.quarantine() + 1);
    }

    @Test
    void never_moves_the_birth_back() {
      long birth = now() + SLACK;
      door.set("birth", Long.toString(birth));
      door.set("srv", "0000");

      claim(B);

      assertThat(door.ledger()).containsEntry("birth", Long.toString(birth));
    }

    @Test
    void does_not_show_when_the_server_was_unknown_before() {
      String server = door.ledger().get("srv");
      door.set("srv", "-");

      assertThat(claim(B)).isInstanceOf(Granted.class);
      assertThat(door.ledger()).containsEntry("srv", server);
    }

    private RenewReply renew() {
      return get(
          store.renew(
              terms, renewalOf(wish, grant.until(), List.of(wish.nonce()), hex(16), grant.rev())));
    }
  }

  @Nested
  class The_longest_lease_of_a_namespace {
    private final LeaseTerms longer = terms(terms.namespace(), 60_000, false);

    @Test
    void sets_the_quarantine_of_all() {
      get(store.createNamespace(longer));
      get(store.claim(longer, wish(A)));
      door.set("srv", "0000");

      Quarantined reply = (Quarantined) claim(B);

      assertThat(reply.waitMillis()).isEqualTo(longer.quarantine() + 1);
    }

    @Test
    void raises_the_quarantine_when_it_is_granted() {
      get(store.createNamespace(terms));
      door.set("birth", Long.toString(now() - longer.quarantine() - 1));

      assertThat(get(store.claim(longer, wish(A)))).isInstanceOf(Granted.class);
      assertThat(door.ledger()).containsEntry("quarantine", Long.toString(longer.quarantine()));
    }

    @Test
    void raises_the_quarantine_when_it_is_renewed() {
      get(store.createNamespace(terms));
      Claim wish = wish(A);
      Granted grant = (Granted) get(store.claim(terms, wish));

      Renewal renewal = renewalOf(wish, grant.until(), List.of(wish.nonce()), hex(16), grant.rev());
      assertThat(get(store.renew(longer, renewal))).isInstanceOf(Renewed.class);
      assertThat(door.ledger()).containsEntry("quarantine", Long.toString(longer.quarantine()));
    }

    @Test
    void is_not_forgotten_when_a_shorter_one_is_granted() {
      get(store.createNamespace(longer));

      assertThat(claim(A)).isInstanceOf(Granted.class);
      assertThat(door.ledger()).containsEntry("quarantine", Long.toString(longer.quarantine()));
    }

    @Test
    void does_not_count_while_it_was_only_asked_for() {
      get(store.createNamespace(terms));

      assertThat(get(store.claim(longer, wish(A)))).isInstanceOf(Quarantined.class);
      assertThat(door.ledger()).containsEntry("quarantine", Long.toString(terms.quarantine()));
    }
  }

  @Nested
  class The_revision {
    @Test
    void rises_with_every_change_and_with_nothing_else() {
      get(store.createNamespace(terms));
      long created = rev();
      Claim wish = wish(A);
      Granted grant = (Granted) get(store.claim(terms, wish));
      assertThat(grant.rev()).isEqualTo(created + 1).isEqualTo(rev());

      assertThat(((Full) claim(A)).rev()).isEqualTo(grant.rev()).isEqualTo(rev());
      get(store.readLedger(terms));
      get(store.time(terms));
      get(store.createNamespace(terms));
      assertThat(rev()).isEqualTo(grant.rev());

      Renewal renewal = renewalOf(wish, grant.until(), List.of(wish.nonce()), hex(16), grant.rev());
      Renewed renewed = (Renewed) get(store.renew(terms, renewal));
      assertThat(renewed.rev()).isEqualTo(grant.rev() + 1).isEqualTo(rev());

      assertThat(((Lost) get(store.renew(terms, renewal))).rev()).isEqualTo(rev());
      assertThat(rev()).isEqualTo(renewed.rev());

      get(store.release(terms, new Release(wish.token(), grant.now(), List.of(A))));
      assertThat(rev()).isEqualTo(renewed.rev() + 1);
    }

    private long rev() {
      return Long.parseLong(door.ledger().get("rev"));
    }
  }

  @Nested
  class Reading {
    @Test
    void shows_every_fence_and_nothing_else() {
      get(store.createNamespace(terms));
      Granted grant = (Granted) claim(A);
      door.set("3:8", "1234||");
      door.set("0:31", "oops");

      Map<Slot, LedgerEntry> expected = new HashMap<>();
      expected.put(A, new LedgerEntry(grant.until(), true, true));
      expected.put(B, new LedgerEntry(1234, false, true));
      expected.put(C, new LedgerEntry(0, false, false));
      assertThat(get(store.readLedger(terms))).isEqualTo(expected);
    }

    @Test
    void shows_nothing_of_a_namespace_that_nobody_knows() {
      assertThat(get(store.readLedger(terms))).isEmpty();
    }

    @Test
    void gives_a_clock_that_runs() {
      long first = now();
      assertThat(first).isBetween(wall() - 1_000, wall() + 1_000);
      assertThat(now()).isGreaterThanOrEqualTo(first);
    }
  }

  @Nested
  class Two_namespaces {
    @Test
    void know_nothing_of_each_other() {
      LeaseTerms other = terms("contract-" + hex(12), 30_000, false);
      get(store.createNamespace(terms));
      get(store.createNamespace(other));

      assertThat(claim(A)).isInstanceOf(Granted.class);
      assertThat(get(store.claim(other, wish(A)))).isInstanceOf(Granted.class);
    }

    @Test
    void are_one_with_and_without_braces() {
      get(store.createNamespace(terms));
      claim(A);

      LeaseTerms braced = terms("{" + terms.namespace() + "}", 30_000, false);
      assertThat(get(store.claim(braced, wish(A)))).isInstanceOf(Full.class);
    }
  }

  /** The terms that the laws are tried with. */
  protected final LeaseTerms terms() {
    return terms;
  }

  private LeaseTerms terms(String namespace, long leaseTtl, boolean trustEmptyStore) {
    return new LeaseTerms(
        namespace, "41/5/5/12", leaseTtl, 5_000, minReplicas(), 2_000, trustEmptyStore);
  }

  /**
   * How many replicas must hold a grant.
   *
   * @return 0 unless the subclass has some
   */
  protected int minReplicas() {
    return 0;
  }

  private LeaseTerms withLayout(String layout) {
    return new LeaseTerms(terms.namespace(), layout, 30_000, 5_000, minReplicas(), 2_000, false);
  }

  private ClaimReply claim(Slot... candidates) {
    return get(store.claim(terms, wish(candidates)));
  }

  private Claim wish(Slot... candidates) {
    return wish(wall(), -1, 0, candidates);
  }

  private Claim wish(long wallClock, long estimate, long seenRev, Slot... candidates) {
    return new Claim(hex(32), hex(16), wallClock, estimate, seenRev, List.of(candidates), holder());
  }

  private Renewal renewalOf(
      Claim wish, long until, List<String> nonces, String newNonce, long seenRev) {
    return new Renewal(
        wish.token(), wish.candidates().get(0), until, nonces, newNonce, now(), seenRev, holder());
  }

  private static Holder holder() {
    return new Holder("host", 1, "contract", 1_700_000_000_000L, "0");
  }

  private static void assertLost(LossReason reason, RenewReply reply) {
    assertThat(reply).isInstanceOf(Lost.class);
    assertThat(((Lost) reply).reason()).isEqualTo(reason);
  }

  private long now() {
    return get(store.time(terms));
  }

  private static long wall() {
    return System.currentTimeMillis();
  }

  private String hex(int digits) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < digits; i++) {
      text.append(Character.forDigit(random.nextInt(16), 16));
    }
    return text.toString();
  }

  private static <T> T get(CompletionStage<T> stage) {
    try {
      return stage.toCompletableFuture().get(10, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new AssertionError("no answer", e);
    }
  }
}
