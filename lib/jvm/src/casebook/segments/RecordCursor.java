package casebook.segments;

import java.nio.ByteBuffer;

/** Moves from record to record of a decompressed batch. Returned values are valid until the next move. */
interface RecordCursor {
  /** Opens a batch, before its first record. */
  void open(Header header, ByteBuffer content);

  /**
   * Moves to the next record.
   *
   * @throws RuntimeException the bytes are not a record
   */
  boolean next();

  /** Moves back before the first record, after all were passed once. */
  void rewind() throws Undecodable;

  /** Bytes of the record in the content. */
  int size();

  long offset();

  /** In milliseconds; -1 when it has none. */
  long timestamp();

  /** -1 when it has none. */
  int sequence();

  ByteBuffer key();

  ByteBuffer value();

  org.apache.kafka.common.header.Header[] headers();
}
