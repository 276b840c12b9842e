package casebook.segments;

import java.nio.ByteBuffer;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.record.DefaultRecord;
import org.apache.kafka.common.record.DefaultRecordBatch;
import org.apache.kafka.common.utils.ByteUtils;

/**
 * Records of format 2, by their lengths ({@code record/DefaultRecord.java@3.9.0-rc3, readFrom}). Keys and values stay in the
 * buffer: Kafka's own reader makes three objects for each record, which takes longer than all other work on a commit.
 */
final class BatchCursor implements RecordCursor {
  private Header header;
  private byte[] array = {};
  private ByteBuffer bytes = ByteBuffer.wrap(array);
  private ByteBuffer key = bytes;
  private ByteBuffer value = bytes;
  private boolean hasKey;
  private boolean hasValue;
  private int first;
  private int left;
  private int start;
  private long timestampDelta;
  private int offsetDelta;

  @Override
  public void open(Header header, ByteBuffer content) {
    this.header = header;
    if (content.array() != array) {
      array = content.array();
      bytes = ByteBuffer.wrap(array);
      key = ByteBuffer.wrap(array);
      value = ByteBuffer.wrap(array);
    }
    first = content.arrayOffset() + content.position();
    bytes.limit(first + content.remaining());
    rewind();
  }

  @Override
  public void rewind() {
    bytes.position(first);
    left = header.count;
  }

  @Override
  public boolean next() {
    if (left == 0) {
      return false;
    }
    left--;
    start = bytes.position();
    int size = ByteUtils.readVarint(bytes);
    int end = fitting(size);
    bytes.get(); // attributes: none is in use
    timestampDelta = ByteUtils.readVarlong(bytes);
    offsetDelta = ByteUtils.readVarint(bytes);
    hasKey = field(key);
    hasValue = field(value);
    passHeaders();
    if (bytes.position() != end) {
      throw new InvalidRecordException("a record of " + size + " bytes has " + (bytes.position() - end) + " more");
    }
    return true;
  }

  /** Sets a view to a field, and skips the field. */
  private boolean field(ByteBuffer view) {
    int length = ByteUtils.readVarint(bytes);
    if (length < 0) {
      return false;
    }
    int end = fitting(length);
    view.limit(end).position(bytes.position());
    bytes.position(end);
    return true;
  }

  private void passHeaders() {
    for (int headers = atLeastNone(ByteUtils.readVarint(bytes)); headers > 0; headers--) {
      bytes.position(fitting(ByteUtils.readVarint(bytes)));
      bytes.position(fitting(Math.max(0, ByteUtils.readVarint(bytes))));
    }
  }

  /** End position of a field of this length. */
  private int fitting(int length) {
    if (atLeastNone(length) > bytes.remaining()) {
      throw new InvalidRecordException("a length of " + length + " where " + bytes.remaining() + " bytes are left");
    }
    return bytes.position() + length;
  }

  private static int atLeastNone(int number) {
    if (number < 0) {
      throw new InvalidRecordException("a length of " + number);
    }
    return number;
  }

  @Override
  public int size() {
    return bytes.position() - start;
  }

  @Override
  public long offset() {
    return header.offset + offsetDelta;
  }

  @Override
  public long timestamp() {
    return header.appendTime() ? header.maxTimestamp : header.baseTimestamp + timestampDelta;
  }

  @Override
  public int sequence() {
    return header.baseSequence < 0 ? -1 : DefaultRecordBatch.incrementSequence(header.baseSequence, offsetDelta);
  }

  @Override
  public ByteBuffer key() {
    return hasKey ? key : null;
  }

  @Override
  public ByteBuffer value() {
    return hasValue ? value : null;
  }

  @Override
  public org.apache.kafka.common.header.Header[] headers() {
    ByteBuffer record = bytes.duplicate().position(start);
    return DefaultRecord.readFrom(record, header.offset, header.baseTimestamp, header.baseSequence, null).headers();
  }
}
