package io.github.snowlease.file;

import io.github.snowlease.LeaseStore;
import io.github.snowlease.LeaseStoreContract;
import io.github.snowlease.LeaseTerms;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** The laws, on a folder. */
class FileLeaseStoreTest extends LeaseStoreContract {
  @TempDir private static Path root;
  private static LeaseStore store;

  @BeforeAll
  static void open() {
    store = FileLeaseStore.in(root);
  }

  @AfterAll
  static void close() {
    store.close();
  }

  @Override
  protected LeaseStore store() {
    return store;
  }

  @Override
  protected BackDoor backDoor(LeaseTerms terms) {
    return new FolderBackDoor(root.resolve(terms.namespace()));
  }

  @Override
  protected boolean isNewWhenEmpty() {
    return true;
  }
}
