package casebook.segments.spark;

import static java.nio.charset.StandardCharsets.UTF_8;

import casebook.segments.GroupKey;
import casebook.segments.GroupRecord;
import casebook.segments.GroupValue;
import casebook.spark.Columns;
import org.apache.kafka.coordinator.group.generated.GroupMetadataValue;
import org.apache.kafka.coordinator.group.generated.OffsetCommitValue;

/** The columns of a record of {@code __consumer_offsets}. */
final class GroupColumns {
  /** Number of columns of a row, the common ones included. */
  static final int COUNT = Mode.GROUP_RECORDS.schema().size();

  private static final int LOG_OFFSET = Common.COUNT;
  private static final int TIMESTAMP = LOG_OFFSET + 1;
  private static final int SIZE = LOG_OFFSET + 2;
  private static final int BATCH_BYTES = LOG_OFFSET + 3;
  private static final int MAGIC = LOG_OFFSET + 4;
  private static final int CODEC = LOG_OFFSET + 5;
  private static final int PRODUCER_ID = LOG_OFFSET + 6;
  private static final int PRODUCER_EPOCH = LOG_OFFSET + 7;
  private static final int TRANSACTIONAL = LOG_OFFSET + 8;
  private static final int CONTROL_TYPE = LOG_OFFSET + 9;
  private static final int KEY_VERSION = LOG_OFFSET + 10;
  private static final int VALUE_VERSION = LOG_OFFSET + 11;
  private static final int TOMBSTONE = LOG_OFFSET + 12;
  private static final int GROUP = LOG_OFFSET + 13;
  private static final int TOPIC = LOG_OFFSET + 14;
  private static final int PARTITION = LOG_OFFSET + 15;
  private static final int COMMITTED = LOG_OFFSET + 16;
  private static final int COMMITTED_EPOCH = LOG_OFFSET + 17;
  private static final int METADATA = LOG_OFFSET + 18;
  private static final int COMMIT_TIME = LOG_OFFSET + 19;
  private static final int EXPIRE_TIME = LOG_OFFSET + 20;
  private static final int PROTOCOL_TYPE = LOG_OFFSET + 21;
  private static final int GENERATION = LOG_OFFSET + 22;
  private static final int PROTOCOL = LOG_OFFSET + 23;
  private static final int LEADER = LOG_OFFSET + 24;
  private static final int STATE_TIME = LOG_OFFSET + 25;
  private static final int MEMBERS = LOG_OFFSET + 26;

  private GroupColumns() {}

  /** Sets all columns of a record that is not a control record. */
  static void write(Columns out, Common common, GroupRecord record, GroupKey key) {
    GroupValue value = record.value == null || !needsValue(out) ? null : decoded(key.kind(), record);
    boolean failed = value != null && value.fault() != null;
    common.write(out, (failed ? GroupKey.Kind.UNKNOWN : key.kind()).text, record.position, failed ? value.fault().getBytes(UTF_8) : key.reason());
    writeRecord(out, record);
    out.setNull(CONTROL_TYPE);
    writeKey(out, key);
    if (value == null || value.version() == null) {
      out.setNull(VALUE_VERSION);
    } else {
      out.set(VALUE_VERSION, value.version().intValue());
    }
    out.set(TOMBSTONE, record.value == null);
    writeCommit(out, value == null ? null : value.commit());
    writeState(out, value == null ? null : value.state(), record.value == null ? 0 : record.value.remaining());
  }

  /** Sets all columns of a control record. */
  static void writeControl(Columns out, Common common, GroupRecord record, byte[] type) {
    common.write(out, Words.CONTROL, record.position, null);
    writeRecord(out, record);
    out.set(CONTROL_TYPE, type);
    out.nulls(KEY_VERSION, COUNT);
  }

  /** Whether the value must be decoded: for one of its fields, or for the kind, which depends on a decodable value. */
  private static boolean needsValue(Columns out) {
    return out.wantsAny(0, 1) || out.wantsAny(Common.COUNT - 3, Common.COUNT) || out.wantsAny(VALUE_VERSION, TOMBSTONE) || out.wantsAny(COMMITTED, COUNT);
  }

  private static GroupValue decoded(GroupKey.Kind kind, GroupRecord record) {
    return kind == GroupKey.Kind.COMMIT || kind == GroupKey.Kind.GROUP ? GroupValue.of(kind, record.value) : null;
  }

  private static void writeRecord(Columns out, GroupRecord record) {
    out.set(LOG_OFFSET, record.offset);
    out.setTime(TIMESTAMP, record.timestamp);
    out.set(SIZE, record.share);
    out.set(BATCH_BYTES, (int) record.batchBytes);
    out.set(MAGIC, (int) record.magic);
    out.set(CODEC, Words.codec(record.codec));
    out.setUnless(-1L, PRODUCER_ID, record.producerId);
    out.setUnless(-1, PRODUCER_EPOCH, record.producerEpoch);
    out.set(TRANSACTIONAL, record.transactional);
  }

  private static void writeKey(Columns out, GroupKey key) {
    if (key.version() == null) {
      out.setNull(KEY_VERSION);
    } else {
      out.set(KEY_VERSION, key.version().intValue());
    }
    out.set(GROUP, key.group());
    out.set(TOPIC, key.topic());
    if (key.kind() == GroupKey.Kind.COMMIT) {
      out.set(PARTITION, key.partition());
    } else {
      out.setNull(PARTITION);
    }
  }

  private static void writeCommit(Columns out, OffsetCommitValue commit) {
    if (commit == null) {
      out.nulls(COMMITTED, PROTOCOL_TYPE);
      return;
    }
    out.set(COMMITTED, commit.offset());
    out.setUnless(-1, COMMITTED_EPOCH, commit.leaderEpoch());
    out.set(METADATA, Words.utf8(commit.metadata()));
    out.setTime(COMMIT_TIME, commit.commitTimestamp());
    out.setTime(EXPIRE_TIME, commit.expireTimestamp());
  }

  private static void writeState(Columns out, GroupMetadataValue state, int bytes) {
    if (state == null) {
      out.nulls(PROTOCOL_TYPE, COUNT);
      return;
    }
    out.set(PROTOCOL_TYPE, Words.utf8(state.protocolType()));
    out.set(GENERATION, state.generation());
    out.set(PROTOCOL, Words.utf8(state.protocol()));
    out.set(LEADER, Words.utf8(state.leader()));
    out.setTime(STATE_TIME, state.currentStateTimestamp());
    if (out.wants(MEMBERS)) {
      Members.write(out, MEMBERS, state);
      out.counted(bytes);
    }
  }
}
