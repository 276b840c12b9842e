package casebook.segments.spark;

import casebook.segments.BatchRecords;
import casebook.segments.GroupKeys;
import casebook.segments.GroupRecord;
import casebook.segments.Header;
import casebook.spark.Columns;

/** One row a record of {@code __consumer_offsets}. */
final class GroupRows extends Rows.OfRecords {
  private final GroupKeys keys = new GroupKeys();
  private final GroupRecord record = new GroupRecord();

  GroupRows(BatchRecords records, Wanted wanted) {
    super(Mode.GROUP_RECORDS, records, wanted);
  }

  @Override
  void write(Columns out, Header header) {
    record.take(header, records);
    if (header.control()) {
      GroupColumns.writeControl(out, common, record, Words.controlType(records.key()));
    } else {
      record.value = records.value();
      GroupColumns.write(out, common, record, keys.of(records.key()));
    }
    out.endRow();
  }
}
