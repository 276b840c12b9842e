package casebook.segments;

import java.nio.ByteBuffer;

/**
 * Checks the lengths that snappy data claims. snappy-java allocates them before it reads the data, so they are compared with the
 * most that the data can contain. The data is framed by {@code SnappyOutputStream}, or is one plain block from some clients.
 */
final class SnappyClaims {
  private static final long MAGIC = 0x82534e4150505900L;
  private static final int FRAME_HEADER = 16;
  /** A copy of 64 bytes takes 3 ({@code format_description.txt} of snappy). */
  private static final int MOST_PER_BYTE = 22;

  private SnappyClaims() {}

  static void check(ByteBuffer data, int limit) throws Undecodable {
    long total = 0;
    if (data.remaining() < FRAME_HEADER || data.getLong(data.position()) != MAGIC) {
      total = claimedBy(data, data.remaining());
      data.position(data.limit());
    }
    while (data.hasRemaining()) {
      if (data.remaining() >= FRAME_HEADER && data.getLong(data.position()) == MAGIC) {
        data.position(data.position() + FRAME_HEADER);
        continue;
      }
      int length = data.remaining() < 4 ? -1 : data.getInt();
      if (length <= 0 || length > data.remaining()) {
        throw new Undecodable("its snappy data has a block whose length makes no sense");
      }
      total += claimedBy(data, length);
      data.position(data.position() + length);
    }
    if (total > limit) {
      throw Content.beyond(limit);
    }
  }

  private static long claimedBy(ByteBuffer data, int length) throws Undecodable {
    long claimed = claimed(data, length);
    if (claimed < 0 || claimed > (long) MOST_PER_BYTE * length) {
      throw new Undecodable("its snappy data claims a size that it cannot have");
    }
    return claimed;
  }

  private static long claimed(ByteBuffer data, int length) {
    long value = 0;
    for (int index = 0; index < Math.min(5, length); index++) {
      byte part = data.get(data.position() + index);
      value |= (part & 0x7fL) << 7 * index;
      if (part >= 0) {
        return value;
      }
    }
    return -1;
  }
}
