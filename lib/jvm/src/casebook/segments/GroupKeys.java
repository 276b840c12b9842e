package casebook.segments;

import java.nio.ByteBuffer;

/** Keys that were decoded before: an offsets topic says the same few again and again. */
public final class GroupKeys {
  private static final int MOST = 1 << 16;
  private static final long MOST_BYTES = 16 << 20;

  private final RawTable<GroupKey> known = new RawTable<>();

  public GroupKey of(ByteBuffer key) {
    if (key == null) {
      return GroupKey.of(null);
    }
    if (known.size() >= MOST || known.bytes() >= MOST_BYTES) {
      known.clear();
    }
    return known.get(key, 0, () -> GroupKey.of(key.duplicate()));
  }
}
