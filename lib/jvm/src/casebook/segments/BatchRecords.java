package casebook.segments;

import java.nio.ByteBuffer;

/**
 * The records of one sound batch after the other. Batches are decompressed first, so that no length inside one is trusted with
 * more memory than there is data; and all of a batch's records are looked at before the first is handed out, so that an
 * unreadable batch is not read half.
 */
public final class BatchRecords {
  private final Content content;
  private final RecordCursor records = new BatchCursor();
  private final RecordCursor messages = new MessageCursor();
  private Header header;
  private RecordCursor cursor;
  private long contentBytes;
  private long passed;
  private int size;
  private int count;

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
    cursor = null;
    passed = 0;
    size = 0;
    RecordCursor opened = header.magic == 2 ? records : messages;
    try {
      ByteBuffer plain = plain(batch);
      contentBytes = plain.remaining();
      opened.open(header, plain);
      check(opened);
      opened.rewind();
    } catch (RuntimeException error) {
      throw new Undecodable(error);
    }
    cursor = opened;
  }

  /** How many records the batch has. */
  public int count() {
    return count;
  }

  /** Goes on to the next record. */
  public boolean next() {
    passed += size;
    size = 0;
    if (cursor == null || !cursor.next()) {
      return false;
    }
    size = cursor.size();
    return true;
  }

  /** Leaves out the records that are left. */
  public void close() {
    cursor = null;
  }

  public long offset() {
    return cursor.offset();
  }

  /** In milliseconds; -1 when it has none. */
  public long timestamp() {
    return cursor.timestamp();
  }

  /** -1 when it has none. */
  public int sequence() {
    return cursor.sequence();
  }

  /** Good until {@link #next}; {@code null} when it has none. */
  public ByteBuffer key() {
    return cursor.key();
  }

  /** Good until {@link #next}; {@code null} when it has none. */
  public ByteBuffer value() {
    return cursor.value();
  }

  public org.apache.kafka.common.header.Header[] headers() {
    return cursor.headers();
  }

  /** The record's share of the batch's bytes on disk. The shares of a batch add up to its bytes. */
  public int share() {
    return (int) (upTo(passed + size) - upTo(passed));
  }

  private long upTo(long bytes) {
    return bytes == 0 ? 0 : bytes == contentBytes ? header.size : bytes * header.size / contentBytes;
  }

  private ByteBuffer plain(ByteBuffer batch) throws Undecodable {
    ByteBuffer body = header.magic == 2 ? batch.slice(Header.LONGEST, batch.remaining() - Header.LONGEST) : batch;
    if (!header.compressed()) {
      return body;
    }
    return content.of(header.magic == 2 ? body : MessageCursor.compressed(batch), header.codec(), header.magic);
  }

  private void check(RecordCursor all) throws Undecodable {
    count = 0;
    long bytes = 0;
    long previous = Long.MIN_VALUE;
    while (all.next()) {
      long offset = all.offset();
      if (offset <= previous || header.magic == 2 && (offset < header.offset || offset > header.lastOffset)) {
        throw new Undecodable("it has a record of offset " + offset + " out of place");
      }
      previous = offset;
      bytes += all.size();
      count++;
    }
    if (bytes != contentBytes) {
      throw new Undecodable(contentBytes - bytes + " bytes behind its last record");
    }
  }
}
