package io.github.snowlease.file;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.snowlease.LeaseStoreContract.BackDoor;
import io.github.snowlease.Slot;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * Reads and edits the files of a namespace by the published format alone. Of the clock that the
 * ledger has seen, which other stores keep elsewhere, it says nothing.
 */
final class FolderBackDoor implements BackDoor {
  private final Path folder;

  /**
   * The door to a namespace.
   *
   * @param folder the folder of the namespace
   */
  FolderBackDoor(Path folder) {
    this.folder = folder;
  }

  @Override
  public Map<String, String> ledger() {
    Map<String, String> fields = new HashMap<>(read());
    fields.remove("clock");
    return fields;
  }

  @Override
  public void set(String field, String value) {
    Map<String, String> fields = read();
    fields.put(field, value);
    write(fields);
  }

  @Override
  public void unset(String field) {
    Map<String, String> fields = read();
    fields.remove(field);
    write(fields);
  }

  @Override
  public void forget() {
    try {
      Files.deleteIfExists(folder.resolve("ledger.txt"));
      try (DirectoryStream<Path> leases =
          Files.newDirectoryStream(folder.resolve("slots"), "*.lease")) {
        for (Path lease : leases) {
          Files.delete(lease);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public @Nullable String lease(Slot slot) {
    String text = leaseText(slot);
    return text == null ? null : text.lines().findFirst().orElse("");
  }

  @Override
  public long leaseLife(Slot slot) {
    String text = leaseText(slot);
    if (text == null) {
      throw new IllegalStateException("no lease: slot=" + slot);
    }
    return text.lines()
        .skip(1)
        .filter(line -> line.startsWith("ends "))
        .map(line -> Instant.parse(line.substring("ends ".length())))
        .map(ends -> ends.toEpochMilli() - System.currentTimeMillis())
        .findFirst()
        .orElse(-1L);
  }

  @Override
  public void block(Slot slot, String text) {
    try {
      Files.createDirectories(leasePath(slot).getParent());
      Files.writeString(leasePath(slot), text + "\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void putForeignThing(Slot slot) {
    removeLease(slot);
    try {
      Files.createDirectories(leasePath(slot));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void removeLease(Slot slot) {
    try {
      Files.deleteIfExists(leasePath(slot));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Path leasePath(Slot slot) {
    return folder.resolve("slots").resolve(slot.cluster() + "-" + slot.node() + ".lease");
  }

  private @Nullable String leaseText(Slot slot) {
    try {
      return Files.exists(leasePath(slot)) ? Files.readString(leasePath(slot)) : null;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Map<String, String> read() {
    Map<String, String> fields = new LinkedHashMap<>();
    try {
      Path file = folder.resolve("ledger.txt");
      if (Files.exists(file)) {
        for (String line : Files.readAllLines(file)) {
          int separator = line.indexOf(" = ");
          if (!line.startsWith("#") && !line.startsWith("end = ")) {
            fields.put(
                line.substring(0, separator), line.substring(separator + 3).replace("\\n", "\n"));
          }
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return fields;
  }

  private void write(Map<String, String> fields) {
    StringBuilder text = new StringBuilder();
    fields.forEach(
        (field, value) ->
            text.append(field).append(" = ").append(value.replace("\n", "\\n")).append('\n'));
    CRC32 crc = new CRC32();
    crc.update(text.toString().getBytes(UTF_8));
    text.append(String.format("end = %08x\n", crc.getValue()));
    try {
      Files.createDirectories(folder);
      Files.writeString(folder.resolve("ledger.txt"), text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
