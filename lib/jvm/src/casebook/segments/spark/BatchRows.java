package casebook.segments.spark;

import casebook.segments.Header;
import casebook.spark.Columns;
import java.io.IOException;

/** One row a batch, made from its header only. */
final class BatchRows extends Rows {
  private static final int BYTES = Common.COUNT;
  private static final int BASE_OFFSET = BYTES + 1;
  private static final int LAST_OFFSET = BYTES + 2;
  private static final int RECORDS = BYTES + 3;
  private static final int FIRST_TIME = BYTES + 4;
  private static final int MAX_TIME = BYTES + 5;
  private static final int TIMESTAMP_TYPE = BYTES + 6;
  private static final int MAGIC = BYTES + 7;
  private static final int CODEC = BYTES + 8;
  private static final int LEADER_EPOCH = BYTES + 9;
  private static final int PRODUCER_ID = BYTES + 10;
  private static final int PRODUCER_EPOCH = BYTES + 11;
  private static final int BASE_SEQUENCE = BYTES + 12;
  private static final int TRANSACTIONAL = BYTES + 13;
  private static final int CONTROL = BYTES + 14;
  private static final int DELETE_HORIZON = BYTES + 15;
  private static final int CRC = BYTES + 16;

  BatchRows() {
    super(Mode.BATCHES);
  }

  @Override
  boolean fill(Columns out) throws IOException {
    while (!out.full()) {
      switch (walker.step()) {
        case BATCH -> write(out, walker.header());
        case DAMAGE -> damage(out, walker.damage());
        case END -> {
          return false;
        }
      }
    }
    return true;
  }

  private void write(Columns out, Header header) {
    boolean wrapper = header.count < 0;
    common.write(out, Words.BATCH, header.position, null);
    out.set(BYTES, (int) header.size);
    out.setUnless(-1L, BASE_OFFSET, wrapper ? -1L : header.offset);
    out.set(LAST_OFFSET, header.lastOffset);
    out.setUnless(-1, RECORDS, header.count);
    out.setTime(FIRST_TIME, header.hasDeleteHorizon() ? -1 : header.appendTime() ? header.maxTimestamp : header.baseTimestamp);
    out.setTime(MAX_TIME, header.maxTimestamp);
    out.set(TIMESTAMP_TYPE, Words.timestampType(header));
    out.set(MAGIC, (int) header.magic);
    out.set(CODEC, Words.codec(header.codec()));
    out.setUnless(-1, LEADER_EPOCH, header.leaderEpoch);
    out.setUnless(-1L, PRODUCER_ID, header.producerId);
    out.setUnless(-1, PRODUCER_EPOCH, header.producerEpoch);
    out.setUnless(-1, BASE_SEQUENCE, header.baseSequence);
    out.set(TRANSACTIONAL, header.transactional());
    out.set(CONTROL, header.control());
    out.setTime(DELETE_HORIZON, header.hasDeleteHorizon() ? header.baseTimestamp : -1);
    out.set(CRC, Integer.toUnsignedLong(header.crc));
    out.endRow();
  }
}
