package casebook.segments;

import java.nio.ByteBuffer;

/** Goes from record to record of a batch that is no longer compressed. What it returns is good until it moves. */
interface RecordCursor {
  /** Begins with a batch, before its first record. */
  void open(Header header, ByteBuffer content);

  /**
   * Goes on to the next record.
   *
   * @throws RuntimeException the bytes make no record
   */
  boolean next();

  /** Goes back before the first record, when all were passed once. */
  void rewind() throws Undecodable;

  /** Bytes in the content. */
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
