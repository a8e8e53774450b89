package io.github.snowlease.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.snowlease.LeaseStoreException;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.FileStoreAttributeView;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.DisplayNameGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayNameGeneration(DisplayNameGenerator.ReplaceUnderscores.class)
class FileLeaseStoreProviderTest {
  @ParameterizedTest
  @CsvSource({
    "file:/var/lib/app/slots, /var/lib/app/slots",
    "file:///var/lib/app/slots, /var/lib/app/slots",
    "FILE:slots, slots",
    "file:./a/../slots, ./a/../slots",
    "file:/srv/my%20app+1/slots, /srv/my app+1/slots",
    "file:/srv/my app/slots, /srv/my app/slots"
  })
  void reads_the_folder_of_a_URI(String uri, String folder) {
    assertThat(FileLeaseStoreProvider.folder(uri)).isEqualTo(Path.of(folder));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"file:", "file: ", "file://host/share", "file:////host/share", "file:a%zz"})
  void refuses_what_is_no_folder_of_this_host(String uri) {
    assertThatThrownBy(() -> FileLeaseStoreProvider.folder(uri))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"nfs", "nfs4", "CIFS", "smb3", "fuse.sshfs", "fuse.s3fs", "fuse", "9p", "ceph"})
  void refuses_file_systems_of_a_network(String type, @TempDir Path folder) {
    assertThatThrownBy(() -> NetworkFileSystems.refuse(folder, new NamedFileStore(type)))
        .isInstanceOf(LeaseStoreException.class)
        .hasMessageContaining(type.toLowerCase(Locale.ROOT))
        .hasMessageContaining("choose a folder on a disk of this host");
  }

  @ParameterizedTest
  @ValueSource(strings = {"ext4", "xfs", "btrfs", "overlay", "tmpfs", "NTFS", "apfs", "fuseblk"})
  void takes_local_file_systems(String type, @TempDir Path folder) throws IOException {
    NetworkFileSystems.refuse(folder, new NamedFileStore(type));
  }

  @Test
  void takes_the_file_system_on_which_it_is_tested(@TempDir Path folder) throws IOException {
    NetworkFileSystems.refuse(folder, Files.getFileStore(folder));
  }

  /** Of a file system, only the name of its type matters here. */
  private static final class NamedFileStore extends FileStore {
    private final String type;

    private NamedFileStore(String type) {
      this.type = type;
    }

    @Override
    public String name() {
      return type;
    }

    @Override
    public String type() {
      return type;
    }

    @Override
    public boolean isReadOnly() {
      return false;
    }

    @Override
    public long getTotalSpace() {
      return 0;
    }

    @Override
    public long getUsableSpace() {
      return 0;
    }

    @Override
    public long getUnallocatedSpace() {
      return 0;
    }

    @Override
    public boolean supportsFileAttributeView(Class<? extends FileAttributeView> type) {
      return false;
    }

    @Override
    public boolean supportsFileAttributeView(String name) {
      return false;
    }

    @Override
    public <V extends FileStoreAttributeView> @Nullable V getFileStoreAttributeView(Class<V> type) {
      return null;
    }

    @Override
    public @Nullable Object getAttribute(String attribute) {
      return null;
    }
  }
}
