package casebook.segments;

import java.nio.ByteBuffer;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;

/** The checksum of a whole batch: CRC-32C from the attributes on in format 2, CRC-32 from the magic byte on before. */
final class Checksum {
  private final CRC32 old = new CRC32();
  private final CRC32C current = new CRC32C();

  boolean fits(ByteBuffer from, int at, int size, byte magic) {
    return magic == 2
        ? from.getInt(at + 17) == of(current, from, at + 21, size - 21)
        : from.getInt(at + 12) == of(old, from, at + 16, size - 16);
  }

  private static int of(java.util.zip.Checksum checksum, ByteBuffer from, int at, int length) {
    checksum.reset();
    checksum.update(from.array(), from.arrayOffset() + at, length);
    return (int) checksum.getValue();
  }
}
