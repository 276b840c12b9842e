package casebook.segments.spark;

import static java.nio.charset.StandardCharsets.UTF_8;

import casebook.segments.BatchRecords;
import casebook.segments.Header;
import casebook.spark.Columns;
import org.apache.spark.sql.execution.vectorized.WritableColumnVector;

/** One row a record, control records included. */
final class RecordRows extends Rows.OfRecords {
  private static final int OFFSET = Common.COUNT;
  private static final int TIMESTAMP = OFFSET + 1;
  private static final int TIMESTAMP_TYPE = OFFSET + 2;
  private static final int KEY = OFFSET + 3;
  private static final int VALUE = OFFSET + 4;
  private static final int HEADERS = OFFSET + 5;
  private static final int SIZE = OFFSET + 6;
  private static final int BATCH_BYTES = OFFSET + 7;
  private static final int BATCH_OFFSET = OFFSET + 8;
  private static final int MAGIC = OFFSET + 9;
  private static final int CODEC = OFFSET + 10;
  private static final int LEADER_EPOCH = OFFSET + 11;
  private static final int PRODUCER_ID = OFFSET + 12;
  private static final int PRODUCER_EPOCH = OFFSET + 13;
  private static final int SEQUENCE = OFFSET + 14;
  private static final int TRANSACTIONAL = OFFSET + 15;
  private static final int CONTROL_TYPE = OFFSET + 16;
  private static final int DELETE_HORIZON = OFFSET + 17;

  RecordRows(BatchRecords records, Wanted wanted) {
    super(Mode.RECORDS, records, wanted);
  }

  @Override
  void write(Columns out, Header header) {
    common.write(out, header.control() ? Words.CONTROL : Words.DATA, header.position, null);
    out.set(OFFSET, records.offset());
    out.setTime(TIMESTAMP, records.timestamp());
    out.set(TIMESTAMP_TYPE, Words.timestampType(header));
    if (out.wants(KEY)) {
      out.set(KEY, records.key());
    }
    if (out.wants(VALUE)) {
      out.set(VALUE, records.value());
    }
    if (out.wants(HEADERS)) {
      writeHeaders(out, records.headers());
    }
    writeBatch(out, header);
    out.setUnless(-1, SEQUENCE, records.sequence());
    out.set(CONTROL_TYPE, header.control() ? Words.controlType(records.key()) : null);
    out.endRow();
  }

  private void writeBatch(Columns out, Header header) {
    out.set(SIZE, records.share());
    out.set(BATCH_BYTES, (int) header.size);
    out.set(BATCH_OFFSET, header.offset);
    out.set(MAGIC, (int) header.magic);
    out.set(CODEC, Words.codec(header.codec()));
    out.setUnless(-1, LEADER_EPOCH, header.leaderEpoch);
    out.setUnless(-1L, PRODUCER_ID, header.producerId);
    out.setUnless(-1, PRODUCER_EPOCH, header.producerEpoch);
    out.set(TRANSACTIONAL, header.transactional());
    out.setTime(DELETE_HORIZON, header.hasDeleteHorizon() ? header.baseTimestamp : -1);
  }

  private static void writeHeaders(Columns out, org.apache.kafka.common.header.Header[] headers) {
    WritableColumnVector array = out.vector(HEADERS);
    WritableColumnVector pairs = array.arrayData();
    array.putArray(out.row(), pairs.getElementsAppended(), headers.length);
    for (var header : headers) {
      byte[] key = header.key().getBytes(UTF_8);
      pairs.appendStruct(false);
      pairs.getChild(0).appendByteArray(key, 0, key.length);
      if (header.value() == null) {
        pairs.getChild(1).appendNull();
      } else {
        pairs.getChild(1).appendByteArray(header.value(), 0, header.value().length);
      }
      out.counted(key.length + (header.value() == null ? 0 : header.value().length));
    }
  }
}
