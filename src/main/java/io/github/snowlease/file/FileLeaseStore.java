package io.github.snowlease.file;

import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.LeaseStoreException.Reason;
import io.github.snowlease.LeaseTerms;
import io.github.snowlease.Slot;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileStore;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Leases kept in a folder, for processes of one host; {@code file:/var/lib/app/slots} as a URI.
 * What lies in the folder is described in {@link io.github.snowlease.file}.
 *
 * <p>A new namespace grants at once, as what a disk has taken does not vanish by itself. A process
 * that dies leaves its slot unlocked, and the slot is granted anew when the window has ended that
 * the ledger remembers.
 *
 * <p>Every question is answered by one thread of the store, on which the stages complete. Safe for
 * use by many threads, for several namespaces, and for several stores on one folder.
 */
public final class FileLeaseStore implements LeaseStore {
  private static final Logger log = LoggerFactory.getLogger(FileLeaseStore.class);
  private static final long CLOSE_WAIT_MILLIS = 500;

  private final Path root;
  private final LedgerClock clock = new LedgerClock(System::currentTimeMillis, System::nanoTime);
  private final Map<String, NamespaceFolder> folders = new ConcurrentHashMap<>();
  private final ThreadPoolExecutor worker;

  /** The tokens granted here; confined to the worker, and read once that has ended. */
  private final Map<String, NamespaceFolder> granted = new ConcurrentHashMap<>();

  private boolean checked;

  private FileLeaseStore(Path root) {
    this.root = root.toAbsolutePath().normalize();
    this.worker =
        new ThreadPoolExecutor(
            1,
            1,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> {
              Thread thread = new Thread(task, "snowlease-file-store");
              thread.setDaemon(true);
              thread.setContextClassLoader(null);
              return thread;
            });
    // An idle store keeps no thread, and with it no class loader.
    worker.allowCoreThreadTimeOut(true);
  }

  /**
   * Keeps leases in a folder, which is made at the first question if it does not exist.
   *
   * @param folder a folder on a local disk, for this library alone
   * @return the store, which the caller closes
   */
  public static FileLeaseStore in(Path folder) {
    return new FileLeaseStore(folder);
  }

  /** What is done with a ledger that nobody else touches meanwhile. */
  @FunctionalInterface
  private interface Question<T> {
    T ask(NamespaceFolder.Session files, Ledger ledger, LedgerRules rules, long now)
        throws IOException;
  }

  @Override
  public CompletionStage<ClaimReply> claim(LeaseTerms terms, Claim claim) {
    return submit(
        terms,
        (files, ledger, rules, now) -> {
          files.unlockLost(ledger, now);
          ClaimReply reply = rules.claim(claim);
          if (!(reply instanceof Granted grant)) {
            save(files, ledger, rules, now);
            return reply;
          }
          granted.put(claim.token(), folder(terms));
          try {
            save(files, ledger, rules, now);
          } catch (IOException | RuntimeException e) {
            files.unlock(List.of(claim.token()));
            throw e;
          }
          files.writeLease(
              grant.slot(), claim.holder().toJson(claim.token()), grant.until() + LeaseTerms.GRACE);
          return reply;
        });
  }

  @Override
  public CompletionStage<RenewReply> renew(LeaseTerms terms, Renewal renewal) {
    return submit(
        terms,
        (files, ledger, rules, now) -> {
          RenewReply reply = rules.renew(renewal);
          save(files, ledger, rules, now);
          if (reply instanceof Renewed renewed) {
            files.writeLease(
                renewal.slot(),
                renewal.holder().toJson(renewal.token()),
                renewed.until() + LeaseTerms.GRACE);
          }
          return reply;
        });
  }

  @Override
  public CompletionStage<Boolean> release(LeaseTerms terms, Release release) {
    return submit(
        terms,
        (files, ledger, rules, now) -> {
          Slot released = rules.release(release);
          save(files, ledger, rules, now);
          if (released != null) {
            files.tidy(released, release.token());
            granted.remove(release.token());
          }
          return released != null;
        });
  }

  @Override
  public CompletionStage<Map<Slot, LedgerEntry>> readLedger(LeaseTerms terms) {
    return submit(terms, (files, ledger, rules, now) -> ledger.entries());
  }

  @Override
  public CompletionStage<Long> time(LeaseTerms terms) {
    return submit(terms, (files, ledger, rules, now) -> now);
  }

  @Override
  public CompletionStage<Boolean> createNamespace(LeaseTerms terms) {
    return submit(
        terms,
        (files, ledger, rules, now) -> {
          boolean created = rules.create();
          save(files, ledger, rules, now);
          return created;
        });
  }

  @Override
  public CompletionStage<List<String>> warnings(LeaseTerms terms) {
    return submit(
        terms,
        (files, ledger, rules, now) -> {
          List<String> findings = new ArrayList<>();
          if (terms.minReplicas() > 0) {
            findings.add(
                "minReplicas="
                    + terms.minReplicas()
                    + " has no meaning for leases in a folder, which is kept once: leave it at 0");
          }
          String type = Files.getFileStore(root).type();
          if (type.equals("tmpfs") || type.equals("ramfs")) {
            findings.add(
                "The folder of the leases is in memory and empty after a restart of the machine: folder="
                    + root
                    + " fileSystem="
                    + type
                    + "; that is harmless as long as all processes end with the machine");
          }
          return findings;
        });
  }

  /**
   * Gives the folder back: slots that are still held here stay fenced, as if this process had died.
   */
  @Override
  public void close() {
    worker.shutdown();
    try {
      if (!worker.awaitTermination(CLOSE_WAIT_MILLIS, TimeUnit.MILLISECONDS)) {
        worker.shutdownNow();
        worker.awaitTermination(CLOSE_WAIT_MILLIS, TimeUnit.MILLISECONDS);
      }
    } catch (InterruptedException e) {
      worker.shutdownNow();
      Thread.currentThread().interrupt();
      return; // what is locked goes with the process
    }
    if (worker.isTerminated()) {
      unlockAll();
    }
  }

  private void unlockAll() {
    for (NamespaceFolder folder : folders.values()) {
      List<String> tokens =
          granted.entrySet().stream()
              .filter(entry -> entry.getValue() == folder)
              .map(Map.Entry::getKey)
              .toList();
      if (tokens.isEmpty()) {
        continue;
      }
      try {
        var unused =
            folder.alone(
                CLOSE_WAIT_MILLIS,
                files -> {
                  files.unlock(tokens);
                  return true;
                });
      } catch (IOException | LeaseStoreException e) {
        log.debug("A lock goes with the process only: folder={}", folder, e);
      }
    }
    granted.clear();
  }

  /** Shows where the folder is. */
  @Override
  public String toString() {
    return "FileLeaseStore[" + root + "]";
  }

  private NamespaceFolder folder(LeaseTerms terms) {
    return folders.computeIfAbsent(terms.keyPrefix(), key -> new NamespaceFolder(root, terms));
  }

  private static void save(
      NamespaceFolder.Session files, Ledger ledger, LedgerRules rules, long now)
      throws IOException {
    if (rules.hasChanged()) {
      ledger.put(Ledger.CLOCK, now);
      files.write(ledger);
    }
  }

  private <T> CompletionStage<T> submit(LeaseTerms terms, Question<T> question) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    long asked = System.nanoTime();
    try {
      worker.execute(
          () -> {
            try {
              answer.complete(answer(terms, question, asked));
            } catch (Throwable t) {
              answer.completeExceptionally(explain(t));
            }
          });
    } catch (RejectedExecutionException e) {
      answer.completeExceptionally(
          new LeaseStoreException(Reason.UNREACHABLE, "the store has been closed", e));
    }
    return answer;
  }

  private <T> T answer(LeaseTerms terms, Question<T> question, long asked) throws IOException {
    long left = terms.commandTimeout() - (System.nanoTime() - asked) / 1_000_000;
    if (left <= 0) {
      throw new LeaseStoreException(
          Reason.UNREACHABLE,
          "the folder "
              + root
              + " must answer within "
              + terms.commandTimeout()
              + "ms: it did not; see whether its disk is overloaded",
          null);
    }
    refuseNetworks();
    return folder(terms)
        .alone(
            left,
            files -> {
              Ledger ledger = files.read();
              long now = clock.now(ledger.number(Ledger.CLOCK));
              LedgerRules rules =
                  new LedgerRules(terms, ledger, files, now, files.folderIdentity());
              return question.ask(files, ledger, rules, now);
            });
  }

  /** Looks at the file system once, on the worker. */
  private void refuseNetworks() throws IOException {
    if (!checked) {
      Files.createDirectories(root);
      FileStore fileStore = Files.getFileStore(root);
      NetworkFileSystems.refuse(root, fileStore);
      checked = true;
    }
  }

  private LeaseStoreException explain(Throwable failure) {
    if (failure instanceof LeaseStoreException known) {
      return known;
    }
    if (failure instanceof AccessDeniedException denied) {
      return new LeaseStoreException(
          Reason.DENIED,
          "the user of this process must be allowed to read and write "
              + denied.getFile()
              + ": that is denied; change the owner or the rights of the folder "
              + root,
          failure);
    }
    if (failure instanceof FileAlreadyExistsException || failure instanceof NotDirectoryException) {
      return new LeaseStoreException(
          Reason.WRONG_TYPE,
          "leases are kept in a folder: "
              + ((FileSystemException) failure).getFile()
              + " is something else; choose another path",
          failure);
    }
    if (failure instanceof ClosedByInterruptException) {
      return new LeaseStoreException(
          Reason.NO_REPLY, "the store was closed before it had answered", failure);
    }
    return new LeaseStoreException(
        failure instanceof IOException ? Reason.UNAVAILABLE : Reason.OTHER,
        "the folder " + root + " cannot be read or written: " + text(failure) + "; see its disk",
        failure);
  }

  private static @Nullable String text(Throwable failure) {
    return failure instanceof FileSystemException known && known.getReason() != null
        ? known.getReason()
        : failure.toString();
  }
}
