package casebook.segments;

import java.nio.ByteBuffer;

/**
 * The fields before the records of a batch ({@code record/DefaultRecordBatch.java, LegacyRecord.java@3.9.0-rc3}). A message
 * of formats 0 and 1 is a batch of one, or the wrapper of a compressed set.
 */
public final class Header {
  /** Length up to the magic byte, which has the same place in every format. */
  static final int SHORTEST = 17;
  /** Length of the longest header, that of format 2. */
  static final int LONGEST = 61;

  private static final int OVERHEAD = 12;
  private static final int[] LEAST = {26, 34, LONGEST};
  /** The fewest bytes of a record of format 2. They limit the records of a batch, because Kafka counts their bytes in an int. */
  private static final int LEAST_RECORD = 7;

  private static final int MOST_RECORDS = Integer.MAX_VALUE / LEAST_RECORD;

  public long position;
  /** Lower limit for the offsets of records: the end of the batches before. */
  public long floor;
  public long size;
  public byte magic;
  /** As stored in the header: the offset of the first record in format 2, else of the last. */
  public long offset;
  public long lastOffset;
  /** Stored, not computed: CRC-32C in format 2, CRC-32 before. */
  public int crc;
  public int attributes;
  public int leaderEpoch;
  public int lastOffsetDelta;
  public long baseTimestamp;
  public long maxTimestamp;
  public long producerId;
  public short producerEpoch;
  public int baseSequence;
  /** -1 when only the compressed set has it. */
  public int count;

  /** Reads the fields; from a truncated header, only the existing ones. */
  void read(ByteBuffer from, int at, int available, long position) {
    this.position = position;
    offset = from.getLong(at);
    size = (long) from.getInt(at + 8) + OVERHEAD;
    magic = from.get(at + 16);
    if (magic == 2 && available >= LONGEST) {
      readBatch(from, at);
    } else if (magic < 2 && available >= (magic == 1 ? 26 : 18)) {
      readMessage(from, at);
    }
  }

  private void readBatch(ByteBuffer from, int at) {
    leaderEpoch = from.getInt(at + 12);
    crc = from.getInt(at + 17);
    attributes = from.getShort(at + 21);
    lastOffsetDelta = from.getInt(at + 23);
    lastOffset = offset + lastOffsetDelta;
    baseTimestamp = from.getLong(at + 27);
    maxTimestamp = from.getLong(at + 35);
    producerId = from.getLong(at + 43);
    producerEpoch = from.getShort(at + 51);
    baseSequence = from.getInt(at + 53);
    count = from.getInt(at + 57);
  }

  private void readMessage(ByteBuffer from, int at) {
    leaderEpoch = -1;
    crc = from.getInt(at + 12);
    attributes = from.get(at + 17);
    lastOffsetDelta = 0;
    lastOffset = offset;
    baseTimestamp = magic == 1 && !compressed() ? from.getLong(at + 18) : -1;
    maxTimestamp = magic == 1 ? from.getLong(at + 18) : -1;
    producerId = -1;
    producerEpoch = -1;
    baseSequence = -1;
    count = compressed() ? -1 : 1;
  }

  /** The fewest bytes that a batch of this format has. */
  int least() {
    return LEAST[magic];
  }

  /** Whether the offsets are enough for the records (compaction removes only records), and the bytes too if uncompressed. */
  boolean countsFit() {
    return magic < 2
        || count >= 0
            && count <= lastOffsetDelta + 1L
            && lastOffsetDelta < MOST_RECORDS
            && (compressed() || (long) count * LEAST_RECORD <= size - LONGEST);
  }

  public int codec() {
    return attributes & 7;
  }

  public boolean compressed() {
    return codec() != 0;
  }

  public boolean appendTime() {
    return magic > 0 && (attributes & 8) != 0;
  }

  public boolean transactional() {
    return magic == 2 && (attributes & 16) != 0;
  }

  public boolean control() {
    return magic == 2 && (attributes & 32) != 0;
  }

  public boolean hasDeleteHorizon() {
    return magic == 2 && (attributes & 64) != 0;
  }
}
