package casebook.segments;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.record.LegacyRecord;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MutableRecordBatch;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.Records;
import org.apache.kafka.common.utils.BufferSupplier;

/**
 * The records of one sound batch after the other, by Kafka's own reader. Kafka gets each batch decompressed, so that no
 * length inside it is trusted with more memory than there is data; and all of a batch's records are looked at before the first
 * is handed out, so that an unreadable batch is not read half.
 */
public final class BatchRecords {
  /** Records of a content up to this are kept; those of a larger one are read twice. */
  private static final int KEPT = 1 << 20;

  private final Content content;
  private final List<Record> kept = new ArrayList<>();
  private Header header;
  private Iterator<Record> records;
  private Record record;
  private long contentBytes;
  private long passed;
  private long offsetBase;
  private boolean nested;

  public BatchRecords(Limits limits) {
    content = new Content(limits.contentBytes());
  }

  /**
   * Begins with a batch; {@link #next} then goes to its first record.
   *
   * @throws Undecodable its records cannot be read
   */
  public void open(Header header, ByteBuffer batch) throws Undecodable {
    this.header = header;
    records = null;
    record = null;
    passed = 0;
    offsetBase = 0;
    nested = header.magic < 2 && header.compressed();
    try {
      ByteBuffer plain = header.magic == 2 ? plainBatch(batch) : nested ? innerMessages(batch) : batch;
      contentBytes = header.magic == 2 ? plain.remaining() - Header.LONGEST : plain.remaining();
      begin(plain);
    } catch (RuntimeException error) {
      throw new Undecodable(error);
    }
  }

  /** Goes on to the next record. */
  public boolean next() {
    if (records == null || !records.hasNext()) {
      return false;
    }
    passed += record == null ? 0 : record.sizeInBytes();
    record = records.next();
    return true;
  }

  public Record record() {
    return record;
  }

  public long offset() {
    return offsetBase + record.offset();
  }

  /** In milliseconds; -1 when it has none. */
  public long timestamp() {
    return nested && header.appendTime() ? header.maxTimestamp : record.timestamp();
  }

  /** The record's share of the batch's bytes on disk. The shares of a batch add up to its bytes. */
  public int share() {
    return (int) (upTo(passed + record.sizeInBytes()) - upTo(passed));
  }

  private long upTo(long bytes) {
    return contentBytes == 0 ? 0 : bytes * header.size / contentBytes;
  }

  private ByteBuffer plainBatch(ByteBuffer batch) throws Undecodable {
    if (!header.compressed()) {
      return batch;
    }
    ByteBuffer body = batch.slice(Header.LONGEST, batch.remaining() - Header.LONGEST);
    ByteBuffer plain = content.of(body, header.codec(), header.magic, Header.LONGEST);
    plain.put(0, batch, 0, Header.LONGEST);
    plain.putInt(8, plain.remaining() - 12);
    plain.putShort(21, (short) (header.attributes & ~7));
    return plain;
  }

  private ByteBuffer innerMessages(ByteBuffer wrapper) throws Undecodable {
    ByteBuffer value = new Messages(wrapper, true).next().value();
    if (value == null) {
      throw new Undecodable("a compressed set without value");
    }
    return content.of(value, header.codec(), header.magic, 0);
  }

  private void begin(ByteBuffer plain) throws Undecodable {
    boolean keep = contentBytes <= KEPT;
    kept.clear();
    long bytes = 0;
    long previous = Long.MIN_VALUE;
    Record last = null;
    Record first = null;
    for (Iterator<Record> all = iterate(plain); all.hasNext(); ) {
      last = all.next();
      first = first == null ? last : first;
      bytes += last.sizeInBytes();
      if (last.offset() <= previous || header.magic == 2 && (last.offset() < header.offset || last.offset() > header.lastOffset)) {
        throw new Undecodable("it has a record of offset " + last.offset() + " out of place");
      }
      previous = last.offset();
      if (keep) {
        kept.add(last);
      }
    }
    if (bytes != contentBytes) {
      throw new Undecodable(contentBytes - bytes + " bytes behind its last record");
    }
    offsetBase = nested ? base(first, last) : 0;
    records = keep ? kept.iterator() : iterate(plain);
  }

  private Iterator<Record> iterate(ByteBuffer plain) {
    if (header.magic < 2) {
      return new Messages(plain.duplicate(), false);
    }
    if (header.count == 0) {
      return Collections.emptyIterator();
    }
    return MemoryRecords.readableRecords(plain.duplicate()).batches().iterator().next().streamingIterator(BufferSupplier.NO_CACHING);
  }

  /** What to add to the offsets inside a wrapper ({@code AbstractLegacyRecordBatch.java@3.9.0-rc3, DeepRecordsIterator}). */
  private long base(Record first, Record last) throws Undecodable {
    if (last == null) {
      throw new Undecodable("a compressed set without messages");
    }
    if (header.offset < last.offset() && header.offset != 0 || header.magic == 0 && header.offset != last.offset()) {
      throw new Undecodable("its offset " + header.offset + " contradicts " + last.offset() + ", that of its last message");
    }
    long base = header.magic == 0 || header.offset == 0 ? 0 : header.offset - last.offset();
    if (base + first.offset() < header.floor) {
      throw new Undecodable("its offset " + header.offset + " makes its first " + (base + first.offset()) + ", below " + header.floor);
    }
    return base;
  }

  /** Messages of formats 0 and 1. Kafka sees in each of them batch and record at once. */
  private static final class Messages implements Iterator<Record> {
    private final Iterator<MutableRecordBatch> batches;
    private final boolean wrapper;

    Messages(ByteBuffer set, boolean wrapper) {
      batches = MemoryRecords.readableRecords(set).batches().iterator();
      this.wrapper = wrapper;
    }

    @Override
    public boolean hasNext() {
      return batches.hasNext();
    }

    @Override
    public Record next() {
      MutableRecordBatch batch = batches.next();
      if (!(batch instanceof Record message) || batch.isCompressed() != wrapper) {
        throw new InvalidRecordException("a compressed set holds something other than plain messages");
      }
      int body = LegacyRecord.recordSize(batch.magic(), Math.max(0, message.keySize()), Math.max(0, message.valueSize()));
      if (body + Records.LOG_OVERHEAD != message.sizeInBytes()) {
        throw new InvalidRecordException("the lengths of a message contradict each other");
      }
      return message;
    }
  }
}
