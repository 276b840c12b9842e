package casebook.segments;

import java.nio.ByteBuffer;
import java.util.function.Function;

/** Keys that were decoded before: an offsets topic says the same few again and again. Equal names are one array. */
public final class GroupKeys {
  private static final int MOST = 1 << 16;
  private static final long MOST_BYTES = 16 << 20;

  private final RawTable<GroupKey> known = new RawTable<>();
  private final RawTable<byte[]> names = new RawTable<>();
  private final Function<ByteBuffer, GroupKey> decode = this::decoded;

  public GroupKey of(ByteBuffer key) {
    if (key == null) {
      return GroupKey.of(null);
    }
    if (known.size() >= MOST || known.bytes() >= MOST_BYTES) {
      known.clear();
      names.clear();
    }
    return known.get(key, 0, decode);
  }

  private GroupKey decoded(ByteBuffer raw) {
    GroupKey key = GroupKey.of(raw.duplicate());
    return new GroupKey(key.kind(), key.version(), shared(key.group()), shared(key.topic()), key.partition(), key.reason());
  }

  private byte[] shared(byte[] name) {
    return name == null ? null : names.get(ByteBuffer.wrap(name), 0, ByteBuffer::array);
  }
}
