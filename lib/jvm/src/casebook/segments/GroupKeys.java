package casebook.segments;

import java.nio.ByteBuffer;
import java.util.function.Function;

/**
 * Cache of decoded keys: an offsets topic repeats a few keys often. Keys of commits are cached without the partition at their end,
 * because a group commits many partitions of a topic at once. Equal names share one array.
 */
public final class GroupKeys {
  private static final int MOST = 1 << 16;
  private static final long MOST_BYTES = 16 << 20;

  private final RawTable<GroupKey> known = new RawTable<>();
  private final RawTable<byte[]> names = new RawTable<>();
  private final Function<ByteBuffer, GroupKey> decode = this::decoded;
  private final Function<ByteBuffer, GroupKey> decodeWhole = start -> decoded(start.duplicate().limit(start.limit() + Integer.BYTES));

  public GroupKey of(ByteBuffer key) {
    if (key == null) {
      return GroupKey.of(null);
    }
    if (known.size() >= MOST || known.bytes() >= MOST_BYTES) {
      known.clear();
      names.clear();
    }
    return GroupKey.endsInPartition(key) ? ofCommit(key) : known.get(key, 0, decode);
  }

  private GroupKey ofCommit(ByteBuffer key) {
    int end = key.limit();
    GroupKey ofTopic = known.get(key.limit(end - Integer.BYTES), Integer.BYTES, decodeWhole);
    return ofTopic.at(key.limit(end).getInt(end - Integer.BYTES));
  }

  private GroupKey decoded(ByteBuffer raw) {
    GroupKey key = GroupKey.of(raw.duplicate());
    return new GroupKey(key.kind(), key.version(), shared(key.group()), shared(key.topic()), key.partition(), key.reason());
  }

  private byte[] shared(byte[] name) {
    return name == null ? null : names.get(ByteBuffer.wrap(name), 0, ByteBuffer::array);
  }
}
