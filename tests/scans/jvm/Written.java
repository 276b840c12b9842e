import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Random;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.DefaultRecord;
import org.apache.kafka.common.record.DefaultRecordBatch;
import org.apache.kafka.common.record.LegacyRecord;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MemoryRecordsBuilder;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.record.Records;
import org.apache.kafka.common.record.TimestampType;

/**
 * Sound batches by Kafka's own builder, of a format, a codec and a number of bytes that their records take decompressed.
 *
 * @param single one record takes all of it; else there are many
 * @param compressible values repeat themselves; else they are noise
 */
record Written(byte magic, CompressionType codec, boolean single, boolean compressible) {
  private static final Header[] NONE = {};
  private static final Header[] ONE = {new RecordHeader("header", new byte[] {1, 2, 3})};
  private static final int KEYS = 50;
  private static final int VALUE = 900;
  /** More than the overhead of a record in any format. */
  private static final int OVERHEAD = 40;

  /** Whether Kafka has that codec in that format. */
  boolean exists() {
    return magic == 2 || codec != CompressionType.ZSTD;
  }

  /** A segment from offset 0 on without gaps. */
  byte[] segment(int[] contents, Random random) {
    ByteArrayOutputStream segment = new ByteArrayOutputStream();
    long offset = 0;
    for (int content : contents) {
      ByteBuffer batch = batch(offset, 1_700_000_000_000L + offset, content, 0, random);
      segment.write(batch.array(), batch.arrayOffset() + batch.position(), batch.remaining());
      offset = lastOffset(batch) + 1;
    }
    return segment.toByteArray();
  }

  /** The last offset that is taken by messages or a batch. */
  static long lastOffset(ByteBuffer batch) {
    long last = -1;
    for (RecordBatch one : MemoryRecords.readableRecords(batch.duplicate()).batches()) {
      last = one.lastOffset();
    }
    return last;
  }

  /**
   * A batch whose records take {@code content} bytes, or as few as a batch of this format can have.
   *
   * @param removed how many more offsets the batch had before its last records were compacted away, in format 2
   */
  ByteBuffer batch(long offset, long time, int content, int removed, Random random) {
    if (content == 0 && magic == 2) {
      return empty(offset, time);
    }
    ByteBuffer buffer = ByteBuffer.allocate(content + 1024);
    MemoryRecordsBuilder builder = MemoryRecords.builder(buffer, magic, Compression.of(codec).build(), TimestampType.CREATE_TIME, offset);
    int left = content;
    int number = 0;
    while (!single && left > 2 * (VALUE + 2 * OVERHEAD)) {
      byte[] key = key(random.nextInt(KEYS));
      byte[] value = value(random.nextInt(VALUE), number, random);
      Header[] headers = magic == 2 && number % 7 == 0 ? ONE : NONE;
      builder.append(time + number, key, value, headers);
      left -= size(number, key, value.length, headers);
      number++;
    }
    byte[] key = left < 2 * OVERHEAD || random.nextInt(8) == 0 ? null : key(random.nextInt(KEYS));
    builder.append(time + number, key, value(length(number, key, left), number, random), NONE);
    if (magic == 2 && removed > 0) {
      builder.overrideLastOffset(offset + number + removed);
    }
    return builder.build().buffer();
  }

  /** How long the value of the last record must be. Lengths of variable length leave some sizes out: then one byte less. */
  private int length(int number, byte[] key, int left) {
    int length = left;
    while (length > 0 && size(number, key, length, NONE) > left) {
      length--;
    }
    return length;
  }

  private int size(int number, byte[] key, int value, Header[] headers) {
    return magic == 2
        ? DefaultRecord.sizeInBytes(number, number, key == null ? -1 : key.length, value, headers)
        : Records.LOG_OVERHEAD + LegacyRecord.recordSize(magic, key == null ? 0 : key.length, value);
  }

  /** What compaction leaves of a producer's last batch. */
  private static ByteBuffer empty(long offset, long time) {
    ByteBuffer buffer = ByteBuffer.allocate(DefaultRecordBatch.RECORD_BATCH_OVERHEAD);
    DefaultRecordBatch.writeEmptyHeader(
        buffer, RecordBatch.MAGIC_VALUE_V2, 7, (short) 0, 0, offset, offset, 0, TimestampType.CREATE_TIME, time, false, false);
    return buffer.flip();
  }

  private static byte[] key(int number) {
    return ByteBuffer.allocate(6).putShort((short) 9).putInt(number).array();
  }

  private byte[] value(int length, int number, Random random) {
    byte[] value = new byte[length];
    if (!compressible) {
      random.nextBytes(value);
      return value;
    }
    byte[] pattern = new byte[1 + random.nextInt(60)];
    random.nextBytes(pattern);
    for (int at = 0; at < length; at++) {
      value[at] = at % 4096 == 0 ? (byte) number : pattern[at % pattern.length];
    }
    return value;
  }

  @Override
  public String toString() {
    return "format " + magic + ", " + codec.name + ", " + (single ? "one record" : "many records") + ", " + (compressible ? "repeating" : "noise");
  }
}
