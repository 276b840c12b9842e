package casebook.segments.spark;

import casebook.segments.BatchRecords;
import casebook.segments.GroupKey;
import casebook.segments.GroupKeys;
import casebook.segments.GroupRecord;
import casebook.segments.Header;
import casebook.segments.KeyAggregate;
import casebook.spark.Columns;
import java.io.IOException;
import java.nio.ByteBuffer;

/** One row for each key and hour of a range: the latest record with sums. Records that must stay single get separate rows. */
final class KeyRows extends Rows.OfRecords {
  private static final int RECORDS = GroupColumns.COUNT;
  private static final int BYTES = RECORDS + 1;
  private static final int FIRST_OFFSET = RECORDS + 2;
  private static final int FIRST_TIME = RECORDS + 3;
  private static final int LAST_TIME = RECORDS + 4;
  private static final int TOMBSTONES = RECORDS + 5;
  private static final int MAX_BATCH_BYTES = RECORDS + 6;

  private final KeyAggregate aggregate = new KeyAggregate();
  private final GroupKeys keys = new GroupKeys();
  private final GroupRecord single = new GroupRecord();
  private boolean flushing;
  private int flushed;

  KeyRows(BatchRecords records, Wanted wanted) {
    super(Mode.GROUP_KEYS, records, wanted);
  }

  @Override
  boolean fill(Columns out) throws IOException {
    while (true) {
      if (flushing) {
        flush(out);
      }
      if (out.full()) {
        return true;
      }
      if (!super.fill(out) && !flushing) {
        if (aggregate.size() == 0) {
          return false;
        }
        flushing = true;
      }
    }
  }

  @Override
  boolean rowEach() {
    return false;
  }

  @Override
  boolean interrupted() {
    return flushing;
  }

  private void flush(Columns out) {
    while (flushed < aggregate.size() && !out.full()) {
      writeRow(out, aggregate.record(flushed), GroupKey.of(ByteBuffer.wrap(aggregate.key(flushed))));
      flushed++;
    }
    if (flushed == aggregate.size()) {
      aggregate.clear();
      flushed = 0;
      flushing = false;
    }
  }

  @Override
  void write(Columns out, Header header) {
    ByteBuffer key = records.key();
    if (!header.control() && !header.transactional() && key != null) {
      aggregate.add(header, records);
      flushing = aggregate.full();
      return;
    }
    single.take(header, records);
    single.value = records.value();
    single.countAlone();
    if (header.control()) {
      GroupColumns.writeControl(out, common, single, Words.controlType(key));
      writeSums(out, single);
    } else {
      writeRow(out, single, keys.of(key));
    }
  }

  private void writeRow(Columns out, GroupRecord record, GroupKey key) {
    GroupColumns.write(out, common, record, key);
    writeSums(out, record);
  }

  private static void writeSums(Columns out, GroupRecord record) {
    out.set(RECORDS, record.records);
    out.set(BYTES, record.bytes);
    out.set(FIRST_OFFSET, record.firstOffset);
    out.setTime(FIRST_TIME, record.firstTime);
    out.setTime(LAST_TIME, record.lastTime);
    out.set(TOMBSTONES, record.tombstones);
    out.set(MAX_BATCH_BYTES, (int) record.largestBatch);
    out.endRow();
  }
}
