package casebook.segments;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.record.LegacyRecord;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MutableRecordBatch;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.Records;

/** Messages of formats 0 and 1, by Kafka's own reader; they may come from a compressed message. */
final class MessageCursor implements RecordCursor {
  /** Bytes of content up to which its messages are kept; those of a larger content are read twice. */
  private static final int KEPT = 1 << 20;

  private final List<Record> kept = new ArrayList<>();
  private Header header;
  private ByteBuffer content;
  private Iterator<? extends Record> messages;
  private Record first;
  private Record message;
  private long offsetBase;
  private boolean checking;

  @Override
  public void open(Header header, ByteBuffer content) {
    this.header = header;
    this.content = content;
    messages = new Messages(content.duplicate(), false);
    kept.clear();
    first = null;
    message = null;
    offsetBase = 0;
    checking = true;
  }

  @Override
  public boolean next() {
    if (!messages.hasNext()) {
      return false;
    }
    message = messages.next();
    if (checking) {
      first = first == null ? message : first;
      if (content.remaining() <= KEPT) {
        kept.add(message);
      }
    }
    return true;
  }

  @Override
  public void rewind() throws Undecodable {
    checking = false;
    offsetBase = header.compressed() ? base() : 0;
    messages = content.remaining() <= KEPT ? kept.iterator() : new Messages(content.duplicate(), false);
  }

  /** The value of a compressed message, which has other messages inside. */
  static ByteBuffer compressed(ByteBuffer wrapper) throws Undecodable {
    ByteBuffer value = new Messages(wrapper, true).next().value();
    if (value == null) {
      throw new Undecodable("a compressed set without value");
    }
    return value;
  }

  /** The number to add to the offsets inside a wrapper ({@code AbstractLegacyRecordBatch.java@3.9.0-rc3, DeepRecordsIterator}). */
  private long base() throws Undecodable {
    if (message == null) {
      throw new Undecodable("a compressed set without messages");
    }
    long last = message.offset();
    if (header.offset < last && header.offset != 0 || header.magic == 0 && header.offset != last) {
      throw new Undecodable("its offset " + header.offset + " contradicts " + last + ", that of its last message");
    }
    long base = header.magic == 0 || header.offset == 0 ? 0 : header.offset - last;
    if (base + first.offset() < header.floor) {
      throw new Undecodable("its offset " + header.offset + " makes its first " + (base + first.offset()) + ", below " + header.floor);
    }
    return base;
  }

  @Override
  public int size() {
    return message.sizeInBytes();
  }

  @Override
  public long offset() {
    return offsetBase + message.offset();
  }

  @Override
  public long timestamp() {
    return header.compressed() && header.appendTime() ? header.maxTimestamp : message.timestamp();
  }

  @Override
  public int sequence() {
    return message.sequence();
  }

  @Override
  public ByteBuffer key() {
    return message.key();
  }

  @Override
  public ByteBuffer value() {
    return message.value();
  }

  @Override
  public org.apache.kafka.common.header.Header[] headers() {
    return message.headers();
  }

  /** For Kafka, each of these messages is both batch and record. */
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
