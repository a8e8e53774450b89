package io.github.snowlease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.snowlease.LeaseStore.Claim;
import io.github.snowlease.LeaseStore.Full;
import io.github.snowlease.LeaseStore.Granted;
import io.github.snowlease.LeaseStore.Holder;
import io.github.snowlease.LeaseStore.LayoutDiffers;
import io.github.snowlease.LeaseStore.Lost;
import io.github.snowlease.LeaseStore.Quarantined;
import io.github.snowlease.LeaseStore.Release;
import io.github.snowlease.LeaseStore.Renewal;
import io.github.snowlease.LeaseStore.Renewed;
import io.github.snowlease.LeaseStore.Skewed;
import io.github.snowlease.testing.RedisExtension;
import io.github.snowlease.testing.RedisServer;
import io.github.snowlease.testing.RespClient;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The model is the scripts: what random traces of commands, losses and damage get from {@link
 * SimLedgerModel} and leave in it is what they get from the Lua scripts in a real Redis and leave
 * there.
 *
 * <p>Redis's clock cannot be set. So the scripts run unchanged behind a prologue that puts another
 * {@code redis} in front of the real one: TIME and INFO answer what the trace says, and the life of
 * a lease key is kept in a hash, while the test itself deletes keys whose life is over.
 */
class SimLedgerModelTest {
  @RegisterExtension static final RedisExtension REDIS = RedisExtension.with("appendonly no");

  private static final String PROLOGUE =
      """
      local real, now_of_trace, run_id_of_trace = redis, tonumber(ARGV[#ARGV - 1]), ARGV[#ARGV]
      local lives = 'lives-of-keys'
      local redis = {}
      function redis.pcall(command, ...)
        if command == 'TIME' then
          return {
            string.format('%.0f', math.floor(now_of_trace / 1000)),
            string.format('%.0f', now_of_trace % 1000 * 1000),
          }
        elseif command == 'INFO' then
          if run_id_of_trace == '' then return { err = 'NOPERM' } end
          return 'redis_version:7.0\\r\\nrun_id:' .. run_id_of_trace .. '\\r\\n'
        elseif command == 'PEXPIREAT' then
          local key, at = ...
          real.call('HSET', lives, key, at)
          return real.call('PERSIST', key)
        elseif command == 'PTTL' then
          local at = real.call('HGET', lives, ...)
          return at and tonumber(at) - now_of_trace or real.call('PTTL', ...)
        end
        return real.pcall(command, ...)
      end
      """;

  private static final String LEDGER = "{model}:ledger";
  private static final List<Slot> SLOTS = List.of(new Slot(0, 0), new Slot(0, 1), new Slot(3, 2));
  private static final String[] TOKENS = {"aa01", "aa02", "aa03", "aa04"};
  private static final String[] NONCES = {"b1", "b2", "b3", "b4", "b5", "b6"};
  private static final String[] RUN_IDS = {"c1", "c2"};
  private static final String[] DAMAGED = {
    "",
    "x",
    "12",
    "12|",
    "|aa01|b1",
    "12|aa01",
    "12|aa01|b1|",
    "12|zz|b1",
    "-5|aa01|b1",
    "1234567890123456|aa01|b1",
    "12.5|aa01|b1",
    "012|aa01|b1",
    "12||",
    "12|AA01|B1"
  };
  private static final String[] FIELDS = {"layout", "birth", "srv", "rev", "quarantine"};
  private static final String[] NUMBERS = {
    "", "x", "-1", "-", "12", "1234567890123456", "1e3", "007"
  };
  private static final int COMMANDS_A_TRACE = 16;

  @Test
  void aThousandTracesEndAlike(RedisServer redis) throws IOException {
    compare(redis, 0, 1_000, SimLedgerModel::new);
  }

  @Test
  void aModelThatDiffersIsFound(RedisServer redis) {
    Supplier<SimLedgerModel> different =
        () ->
            new SimLedgerModel() {
              @Override
              protected boolean hasExpired(long standingUntil) {
                return now >= standingUntil + 1_000;
              }
            };
    assertThatThrownBy(() -> compare(redis, 0, 1_000, different))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("LOST");
  }

  @Test
  @Tag("soak")
  @Timeout(value = 1, unit = TimeUnit.HOURS)
  void tenThousandTracesEndAlike(RedisServer redis) throws IOException {
    compare(redis, 1_000, 10_000, SimLedgerModel::new);
  }

  private static void compare(
      RedisServer redis, int firstTrace, int traces, Supplier<SimLedgerModel> model)
      throws IOException {
    Set<String> answers = new TreeSet<>();
    try (RespClient client = RespClient.connect("127.0.0.1", redis.port())) {
      for (int trace = firstTrace; trace < firstTrace + traces; trace++) {
        new Trace(client, trace, answers, model.get()).run();
      }
    }
    // A trace generator that never gets so far would prove nothing.
    assertThat(answers)
        .containsExactlyInAnyOrder(
            "FULL",
            "GRANTED",
            "LAYOUT",
            "LOST DAMAGED",
            "LOST EXPIRED",
            "LOST KEY",
            "LOST NONCE",
            "LOST OWNER",
            "QUARANTINE",
            "RENEWED",
            "SKEW",
            "WRONGTYPE",
            "create 0",
            "create 1",
            "release 0",
            "release 1");
  }

  /** One trace, in Redis and in the model side by side. */
  private static final class Trace {
    private static final Map<String, String> DIGESTS = new HashMap<>();

    private final RespClient redis;
    private final int number;
    private final Set<String> answers;
    private final SimRandom random;
    private final SimLedgerModel model;
    private final List<String> told = new ArrayList<>();
    private final Map<String, Long> lastUntil = new HashMap<>();

    Trace(RespClient redis, int number, Set<String> answers, SimLedgerModel model) {
      this.redis = redis;
      this.model = model;
      this.number = number;
      this.answers = answers;
      this.random = new SimRandom(number);
    }

    void run() throws IOException {
      redis.call("FLUSHALL");
      model.now = 1_750_000_000_000L + random.between(0, 1_000_000_000);
      model.runId = RUN_IDS[0];
      if (random.oneIn(2)) {
        create(terms());
      }
      for (int i = 0; i < COMMANDS_A_TRACE; i++) {
        passTime();
        model.infoDenied = random.oneIn(8);
        step();
        assertThat(storedLedger()).as(this::story).isEqualTo(model.ledger);
      }
    }

    private String story() {
      return "trace " + number + ":\n" + String.join("\n", told);
    }

    private void passTime() throws IOException {
      if (random.oneIn(12)) {
        model.now -= random.spread(1, 60_000);
      } else {
        model.now += random.oneIn(3) ? random.between(0, 100) : random.spread(10, 60_000);
      }
      for (Map.Entry<Slot, SimLedgerModel.LeaseKey> entry :
          List.copyOf(model.leaseKeys.entrySet())) {
        long expiresAt = entry.getValue().expiresAt();
        if (expiresAt != SimLedgerModel.LeaseKey.NEVER && model.now > expiresAt) {
          forget(entry.getKey());
        }
      }
    }

    private void forget(Slot slot) throws IOException {
      redis.call("DEL", keyOf(slot));
      redis.call("HDEL", "lives-of-keys", keyOf(slot));
      model.leaseKeys.remove(slot);
    }

    private void step() throws IOException {
      LeaseTerms terms = terms();
      Slot slot = SLOTS.get(random.nextInt(SLOTS.size()));
      switch (random.nextInt(20)) {
        case 0, 1, 2, 3, 4, 5 -> claim(terms);
        case 6, 7, 8, 9, 10, 11 -> renew(terms, slot);
        case 12, 13 -> release(terms);
        case 14 -> create(terms);
        case 15 -> lose(slot);
        case 16 -> setField(slot.toString(), DAMAGED[random.nextInt(DAMAGED.length)]);
        case 17 -> {
          String field = FIELDS[random.nextInt(FIELDS.length)];
          setField(field, field.equals("layout") ? "A" : NUMBERS[random.nextInt(NUMBERS.length)]);
        }
        case 18 -> block(slot);
        default -> model.runId = RUN_IDS[random.nextInt(RUN_IDS.length)];
      }
    }

    private LeaseTerms terms() {
      return new LeaseTerms(
          "model",
          random.oneIn(15) ? "B" : "A",
          random.oneIn(4) ? 10_000 : 30_000,
          5_000,
          0,
          2_000,
          random.oneIn(10));
    }

    private String token() {
      return TOKENS[random.nextInt(TOKENS.length)];
    }

    private String nonce() {
      return NONCES[random.nextInt(NONCES.length)];
    }

    private long nearNow() {
      return model.now
          + (random.oneIn(5) ? random.between(-7_000, 7_000) : random.between(-50, 50));
    }

    private long seenRev() {
      String rev = model.ledger.get("rev");
      long stored = rev != null && rev.matches("\\d{1,9}") ? Long.parseLong(rev) : 0;
      return random.oneIn(10) ? stored + random.between(1, 3) : random.between(0, stored);
    }

    private List<Slot> someSlots() {
      List<Slot> slots = new ArrayList<>(SLOTS);
      slots.remove(random.nextInt(3));
      if (random.oneIn(2)) {
        slots.remove(random.nextInt(2));
      }
      return slots;
    }

    private static Holder holder() {
      return new Holder("host", 7, "", 0, "");
    }

    // ---- Commands

    private void claim(LeaseTerms terms) throws IOException {
      Claim claim =
          new Claim(
              token(),
              nonce(),
              nearNow(),
              random.oneIn(3) ? -1 : nearNow(),
              seenRev(),
              someSlots(),
              holder());
      List<String> arguments = memoryArguments(terms, claim.seenRev(), claim.estimate());
      arguments.addAll(
          List.of(
              claim.token(),
              claim.nonce(),
              text(claim.wallClock()),
              text(terms.maxClockSkew()),
              text(terms.window()),
              text(LeaseTerms.GRACE),
              text(terms.leaseTtl() / 1_000),
              SimLedgerModel.leaseValue(claim.token(), claim.holder())));
      claim.candidates().forEach(slot -> arguments.add(slot.toString()));
      Object expected =
          answerOf(
              () -> {
                LeaseStore.ClaimReply reply = model.claim(terms, claim);
                if (reply instanceof Granted g) {
                  lastUntil.put(claim.token(), g.until());
                  return List.of(
                      "GRANTED",
                      text(g.now()),
                      g.slot().toString(),
                      text(g.until()),
                      text(g.rev()),
                      g.trustedEmpty() ? "1" : "0");
                } else if (reply instanceof Quarantined q) {
                  return List.of("QUARANTINE", text(q.now()), text(q.waitMillis()), text(q.rev()));
                } else if (reply instanceof Full f) {
                  return List.of(
                      "FULL", text(f.now()), text(f.waitMillis()), text(f.rev()), f.holder());
                }
                return refusal(reply);
              });
      ask(claim, expected, claim.candidates(), arguments, "common", "memory", "claim");
    }

    private void renew(LeaseTerms terms, Slot slot) throws IOException {
      String field = model.ledger.get(slot.toString());
      SimLedgerModel.Fence fence = field == null ? null : SimLedgerModel.fenceOf(field);
      boolean asItStands = fence != null && !fence.token().isEmpty() && !random.oneIn(4);
      String token = asItStands ? fence.token() : token();
      long until =
          asItStands && !random.oneIn(4)
              ? fence.until()
              : lastUntil.getOrDefault(token, model.now + random.between(-1_000, 40_000));
      List<String> nonces = new ArrayList<>(List.of(nonce()));
      if (asItStands && !random.oneIn(4)) {
        nonces.add(fence.nonce());
      }
      Renewal renewal =
          new Renewal(token, slot, until, nonces, nonce(), nearNow(), seenRev(), holder());
      List<String> arguments = memoryArguments(terms, renewal.seenRev(), renewal.estimate());
      arguments.addAll(
          List.of(
              token,
              slot.toString(),
              text(until),
              String.join(",", nonces),
              renewal.newNonce(),
              text(terms.maxClockSkew()),
              text(terms.window()),
              text(LeaseTerms.GRACE),
              text(terms.leaseTtl() / 1_000),
              SimLedgerModel.leaseValue(token, renewal.holder())));
      Object expected =
          answerOf(
              () -> {
                LeaseStore.RenewReply reply = model.renew(terms, renewal);
                if (reply instanceof Renewed r) {
                  lastUntil.put(token, r.until());
                  return List.of("RENEWED", text(r.now()), text(r.until()), text(r.rev()));
                } else if (reply instanceof Lost l) {
                  return List.of("LOST", text(l.now()), l.reason().name(), text(l.rev()));
                }
                return refusal(reply);
              });
      ask(renewal, expected, List.of(slot), arguments, "common", "memory", "renew");
    }

    private static Object refusal(Object reply) {
      return reply instanceof Skewed skewed
          ? List.of("SKEW", text(skewed.now()))
          : List.of(
              "LAYOUT", text(((LayoutDiffers) reply).now()), ((LayoutDiffers) reply).stored());
    }

    private void release(LeaseTerms terms) throws IOException {
      String token = token();
      long last =
          random.oneIn(3)
              ? Release.UNKNOWN_GRANT
              : lastUntil.getOrDefault(token, model.now) - random.between(-100, 20_000);
      Release release = new Release(token, last, someSlots());
      List<String> arguments =
          new ArrayList<>(
              List.of(
                  token, last == Release.UNKNOWN_GRANT ? "-" : text(last), text(terms.window())));
      release.candidates().forEach(slot -> arguments.add(slot.toString()));
      Object expected = answerOf(() -> model.release(terms, release) ? 1L : 0L);
      ask(release, expected, release.candidates(), arguments, "common", "release");
    }

    private void create(LeaseTerms terms) throws IOException {
      Object expected = answerOf(() -> model.createNamespace(terms) ? 1L : 0L);
      List<String> arguments = new ArrayList<>(List.of(terms.layout(), text(terms.quarantine())));
      ask("create", expected, List.of(), arguments, "common", "create");
    }

    private static List<String> memoryArguments(LeaseTerms terms, long seenRev, long estimate) {
      return new ArrayList<>(
          List.of(
              terms.layout(),
              text(seenRev),
              text(estimate),
              text(terms.quarantine()),
              terms.trustEmptyStore() ? "1" : "0"));
    }

    private interface Command {
      Object run();
    }

    private static Object answerOf(Command command) {
      try {
        return command.run();
      } catch (SimLedgerModel.WrongType e) {
        return "WRONGTYPE";
      }
    }

    private void ask(
        Object request, Object expected, List<Slot> slots, List<String> arguments, String... parts)
        throws IOException {
      List<String> call = new ArrayList<>();
      call.add("EVALSHA");
      call.add(digestOf(parts));
      call.add(text(1 + slots.size()));
      call.add(LEDGER);
      slots.forEach(slot -> call.add(keyOf(slot)));
      call.addAll(arguments);
      call.add(text(model.now));
      call.add(model.infoDenied ? "" : model.runId);
      Object answer;
      try {
        answer = redis.call(call.toArray(new String[0]));
      } catch (RespClient.RedisErrorException e) {
        assertThat(e).as(this::story).hasMessageContaining("WRONGTYPE");
        answer = "WRONGTYPE";
      }
      told.add(model.now + " " + request + " -> " + answer);
      assertThat(answer).as(this::story).isEqualTo(expected);
      answers.add(nameOf(answer, parts[parts.length - 1]));
    }

    private static String nameOf(Object answer, String script) {
      if (answer instanceof List<?> list) {
        return list.get(0) + (list.get(0).equals("LOST") ? " " + list.get(2) : "");
      }
      return answer instanceof Long ? script + " " + answer : answer.toString();
    }

    private String digestOf(String... parts) throws IOException {
      String name = Arrays.toString(parts);
      String digest = DIGESTS.get(name);
      if (digest == null) {
        StringBuilder script = new StringBuilder(PROLOGUE);
        for (String part : parts) {
          try (InputStream in = LeaseStore.class.getResourceAsStream("redis/" + part + ".lua")) {
            script.append(new String(in.readAllBytes(), StandardCharsets.UTF_8));
          }
        }
        digest = (String) redis.call("SCRIPT", "LOAD", script.toString());
        DIGESTS.put(name, digest);
      }
      return digest;
    }

    // ---- Loss and damage

    private void lose(Slot slot) throws IOException {
      switch (random.nextInt(4)) {
        case 0 -> {
          redis.call("FLUSHALL");
          model.flush();
          told.add("FLUSHALL");
        }
        case 1 -> {
          redis.call("DEL", LEDGER);
          model.ledger.clear();
          model.ledgerIsForeign = false;
          told.add("ledger evicted");
        }
        case 2 -> {
          forget(slot);
          told.add("lease key of " + slot + " evicted");
        }
        default -> {
          redis.call("DEL", LEDGER);
          redis.call("SET", LEDGER, "foreign");
          model.ledger.clear();
          model.ledgerIsForeign = true;
          told.add("ledger is foreign");
        }
      }
    }

    private void setField(String field, String value) throws IOException {
      if (!model.ledgerIsForeign) {
        redis.call("HSET", LEDGER, field, value);
        model.ledger.put(field, value);
        told.add(field + " := " + value);
      }
    }

    /** An operator, or another application, puts something in the place of a lease key. */
    private void block(Slot slot) throws IOException {
      forget(slot);
      String value =
          switch (random.nextInt(3)) {
            case 0 -> "maintenance";
            case 1 -> SimLedgerModel.leaseValue(token(), holder());
            default -> null;
          };
      if (value == null) {
        redis.call("RPUSH", keyOf(slot), "foreign");
      } else {
        redis.call("SET", keyOf(slot), value);
      }
      model.leaseKeys.put(slot, new SimLedgerModel.LeaseKey(value, SimLedgerModel.LeaseKey.NEVER));
      told.add(slot + " blocked by " + value);
    }

    private Map<String, String> storedLedger() throws IOException {
      Map<String, String> stored = new HashMap<>();
      if (model.ledgerIsForeign) {
        return stored;
      }
      List<?> entries = (List<?>) redis.call("HGETALL", LEDGER);
      for (int i = 0; i < entries.size(); i += 2) {
        stored.put((String) entries.get(i), (String) entries.get(i + 1));
      }
      return stored;
    }

    private static String keyOf(Slot slot) {
      return "{model}:nodes:" + slot;
    }

    private static String text(long number) {
      return Long.toString(number);
    }
  }
}
