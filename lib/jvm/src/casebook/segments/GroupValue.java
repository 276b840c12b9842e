package casebook.segments;

import java.nio.ByteBuffer;
import java.time.Duration;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.coordinator.group.generated.GroupMetadataValue;
import org.apache.kafka.coordinator.group.generated.OffsetCommitValue;

/**
 * The value of a record of {@code __consumer_offsets}, decoded by Kafka's generated classes.
 *
 * @param version of the value; {@code null} when it is too short for one
 * @param commit the value of a commit
 * @param state the value of a group
 * @param fault why neither could be decoded
 */
public record GroupValue(Integer version, OffsetCommitValue commit, GroupMetadataValue state, String fault) {
  private static final long HOUR = Duration.ofHours(1).toMillis();

  /** Decodes the value that belongs to a kind of key. */
  public static GroupValue of(GroupKey.Kind kind, ByteBuffer raw) {
    if (raw.remaining() < 2) {
      return new GroupValue(null, null, null, "a value of " + raw.remaining() + " bytes");
    }
    ByteBuffer value = raw.duplicate();
    short version = value.getShort();
    short known = kind == GroupKey.Kind.COMMIT ? OffsetCommitValue.HIGHEST_SUPPORTED_VERSION : GroupMetadataValue.HIGHEST_SUPPORTED_VERSION;
    if (version < 0 || version > known) {
      return new GroupValue((int) version, null, null, "value version " + version);
    }
    try {
      ByteBufferAccessor from = new ByteBufferAccessor(value);
      return kind == GroupKey.Kind.COMMIT
          ? new GroupValue((int) version, new OffsetCommitValue(from, version), null, null)
          : new GroupValue((int) version, null, new GroupMetadataValue(from, version), null);
    } catch (RuntimeException error) {
      return new GroupValue((int) version, null, null, "a value of version " + version + " that does not decode");
    }
  }

  /** The hour of a commit by the clock of the coordinator; for other records, the hour of the record's timestamp. */
  static long hour(boolean commit, ByteBuffer raw, long timestamp) {
    return Math.floorDiv(commit && raw != null ? commitTime(raw, timestamp) : timestamp, HOUR);
  }

  /** Read at its fixed place in versions before 4: a decoder would first make a text of the metadata. */
  private static long commitTime(ByteBuffer raw, long otherwise) {
    int at = raw.position();
    int version = raw.remaining() < 2 ? -1 : raw.getShort(at);
    int metadata = at + (version < 3 ? 10 : 14);
    if (version < 0 || version > 3 || raw.limit() < metadata + 10) {
      GroupValue value = of(GroupKey.Kind.COMMIT, raw);
      return value.commit == null ? otherwise : value.commit.commitTimestamp();
    }
    int time = metadata + 2 + Math.max(0, raw.getShort(metadata));
    return raw.limit() < time + 8 ? otherwise : raw.getLong(time);
  }
}
