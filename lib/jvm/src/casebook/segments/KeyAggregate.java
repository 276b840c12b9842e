package casebook.segments;

import java.nio.ByteBuffer;

/** The latest record of each key and hour of a segment, with sums. */
public final class KeyAggregate {
  private static final int MOST_ENTRIES = 1 << 17;
  private static final long MOST_BYTES = 64 << 20;

  private final RawTable<GroupRecord> table = new RawTable<>();
  private long valueBytes;

  public void add(Header header, BatchRecords records) {
    ByteBuffer key = records.key();
    ByteBuffer value = records.value();
    boolean commit = key.remaining() >= 2 && key.getShort(key.position()) >= 0 && key.getShort(key.position()) < 2;
    GroupRecord latest = table.get(key, GroupValue.hour(commit, value, records.timestamp()), newKey -> new GroupRecord());
    latest.take(header, records);
    latest.count(value == null);
    valueBytes += value == null ? 0 : Math.max(0, value.remaining() - (latest.value == null ? 0 : latest.value.capacity()));
    latest.keep(value);
  }

  /** Whether it should be emptied before it needs more memory. */
  public boolean full() {
    return table.size() >= MOST_ENTRIES || table.bytes() + valueBytes >= MOST_BYTES;
  }

  public int size() {
    return table.size();
  }

  public byte[] key(int index) {
    return table.key(index);
  }

  public GroupRecord record(int index) {
    return table.value(index);
  }

  public void clear() {
    table.clear();
    valueBytes = 0;
  }
}
