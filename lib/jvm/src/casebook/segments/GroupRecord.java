package casebook.segments;

import java.nio.ByteBuffer;

/** A record of {@code __consumer_offsets}, and the sums over other records of its key. */
public final class GroupRecord {
  public long position;
  public long offset;
  public long timestamp;
  public int share;
  public long batchBytes;
  public byte magic;
  public int codec;
  public long producerId;
  public short producerEpoch;
  public boolean transactional;
  /** Not decoded; {@code null} is a tombstone. */
  public ByteBuffer value;

  public long records;
  public long bytes;
  public long firstOffset;
  public long firstTime;
  public long lastTime;
  public long tombstones;
  public long largestBatch;

  /** Copies a record without its value. */
  public void take(Header header, BatchRecords from) {
    position = header.position;
    offset = from.offset();
    timestamp = from.timestamp();
    share = from.share();
    batchBytes = header.size;
    magic = header.magic;
    codec = header.codec();
    producerId = header.producerId;
    producerEpoch = header.producerEpoch;
    transactional = header.transactional();
  }

  /** Adds the copied record to the sums. */
  void count(boolean tombstone) {
    firstOffset = records == 0 ? offset : firstOffset;
    firstTime = records == 0 || timestamp >= 0 && (firstTime < 0 || timestamp < firstTime) ? timestamp : firstTime;
    lastTime = records == 0 ? timestamp : Math.max(lastTime, timestamp);
    largestBatch = Math.max(largestBatch, batchBytes);
    tombstones += tombstone ? 1 : 0;
    bytes += share;
    records++;
  }

  /** Resets the sums to this record only. */
  public void countAlone() {
    records = 0;
    bytes = 0;
    tombstones = 0;
    largestBatch = 0;
    count(value == null);
  }

  /** Keeps a copy of the value, in the memory of the previous one if it fits. */
  void keep(ByteBuffer latest) {
    if (latest == null) {
      value = null;
      return;
    }
    if (value == null || value.capacity() < latest.remaining()) {
      value = ByteBuffer.allocate(latest.remaining());
    }
    value.clear();
    value.put(latest.duplicate()).flip();
  }
}
