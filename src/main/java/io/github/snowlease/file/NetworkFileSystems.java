package io.github.snowlease.file;

import io.github.snowlease.LeaseStoreException;
import io.github.snowlease.LeaseStoreException.Reason;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;

/**
 * Knows the file systems that several hosts may share. Their locks are advice at best, and hosts
 * have different clocks: leases in a folder are for one host.
 */
final class NetworkFileSystems {
  private static final Set<String> TYPES =
      Set.of(
          "nfs",
          "nfs3",
          "nfs4",
          "cifs",
          "smb",
          "smb2",
          "smb3",
          "smbfs",
          "afs",
          "afpfs",
          "ncpfs",
          "webdav",
          "davfs",
          "davfs2",
          "9p",
          "ceph",
          "glusterfs",
          "lustre",
          "gpfs",
          "beegfs",
          "orangefs",
          "pvfs2",
          "ocfs2",
          "gfs2",
          "panfs",
          "coda",
          "acfs");

  /** File systems in user space that are a local disk all the same. */
  private static final Set<String> LOCAL_FUSE =
      Set.of(
          "fuseblk",
          "fuse.ntfs",
          "fuse.ntfs-3g",
          "fuse.exfat",
          "fuse.ext2",
          "fuse.bindfs",
          "fuse.mergerfs",
          "fuse.fuse-overlayfs",
          "fuse.lxcfs",
          "fuse.encfs",
          "fuse.gocryptfs");

  private NetworkFileSystems() {}

  /**
   * Refuses a folder on a file system of the network.
   *
   * @throws LeaseStoreException if it is on one
   */
  static void refuse(Path folder, FileStore fileStore) throws IOException {
    String type = fileStore.type().toLowerCase(Locale.ROOT);
    boolean shared =
        TYPES.contains(type) || (type.startsWith("fuse") && !LOCAL_FUSE.contains(type));
    if (shared || folder.toAbsolutePath().toString().startsWith("\\\\")) {
      throw new LeaseStoreException(
          Reason.UNSUPPORTED,
          "leases in a folder need a local disk, as a network's file system cannot lock for them:"
              + " folder="
              + folder
              + " fileSystem="
              + type
              + "; choose a folder on a disk of this host, or keep leases in Redis",
          null);
    }
  }
}
