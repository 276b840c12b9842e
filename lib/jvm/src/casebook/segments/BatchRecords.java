package casebook.segments;

import java.nio.ByteBuffer;

/**
 * The records of sound batches, one batch after the other. A batch is decompressed first, so that no length inside it can allocate
 * more memory than it has data. All its records are checked before the first is returned, so that an unreadable batch gives none.
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
   * Opens a batch; {@link #next} then moves to its first record.
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

  /** Number of records in the batch. */
  public int count() {
    return count;
  }

  /** Moves to the next record. */
  public boolean next() {
    passed += size;
    size = 0;
    if (cursor == null || !cursor.next()) {
      return false;
    }
    size = cursor.size();
    return true;
  }

  /** Skips the remaining records. */
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

  /** Valid until {@link #next}; {@code null} when it has none. */
  public ByteBuffer key() {
    return cursor.key();
  }

  /** Valid until {@link #next}; {@code null} when it has none. */
  public ByteBuffer value() {
    return cursor.value();
  }

  public org.apache.kafka.common.header.Header[] headers() {
    return cursor.headers();
  }

  /** The record's share of the batch's bytes on disk. The sum of the shares is the batch's bytes. */
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
