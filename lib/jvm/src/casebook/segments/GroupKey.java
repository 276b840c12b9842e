package casebook.segments;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.coordinator.group.generated.GroupMetadataKey;
import org.apache.kafka.coordinator.group.generated.OffsetCommitKey;

/**
 * The key of a record of {@code __consumer_offsets}.
 *
 * @param version of the key, which defines its kind; {@code null} when the key is too short for one
 * @param group UTF-8
 * @param topic UTF-8
 * @param reason why it is unknown, or the name of a newer kind
 */
public record GroupKey(Kind kind, Integer version, byte[] group, byte[] topic, int partition, byte[] reason) {
  /** The subject of a record. */
  public enum Kind {
    COMMIT,
    GROUP,
    NEWER,
    UNKNOWN;

    public final byte[] text = utf8(name().toLowerCase(Locale.ROOT));
  }

  /** All of them begin with the group's name ({@code group-coordinator/src/main/resources/common/message@trunk}). */
  private static final Map<Integer, String> NEWER =
      Map.ofEntries(
          Map.entry(3, "ConsumerGroupMetadata"),
          Map.entry(4, "ConsumerGroupPartitionMetadata"),
          Map.entry(5, "ConsumerGroupMemberMetadata"),
          Map.entry(6, "ConsumerGroupTargetAssignmentMetadata"),
          Map.entry(7, "ConsumerGroupTargetAssignmentMember"),
          Map.entry(8, "ConsumerGroupCurrentMemberAssignment"),
          Map.entry(9, "ShareGroupPartitionMetadata"),
          Map.entry(10, "ShareGroupMemberMetadata"),
          Map.entry(11, "ShareGroupMetadata"),
          Map.entry(12, "ShareGroupTargetAssignmentMetadata"),
          Map.entry(13, "ShareGroupTargetAssignmentMember"),
          Map.entry(14, "ShareGroupCurrentMemberAssignment"),
          Map.entry(15, "ShareGroupStatePartitionMetadata"),
          Map.entry(16, "ConsumerGroupRegularExpression"));

  public static GroupKey of(ByteBuffer key) {
    if (key == null || key.remaining() < 2) {
      return unknown(null, key == null ? "no key" : "a key of " + key.remaining() + " bytes");
    }
    int version = key.getShort();
    try {
      return version < 0 ? unknown(version, "key version " + version) : decode(version, key);
    } catch (RuntimeException error) {
      return unknown(version, "a key of version " + version + " that does not decode");
    }
  }

  private static GroupKey decode(int version, ByteBuffer key) {
    ByteBufferAccessor from = new ByteBufferAccessor(key);
    if (version <= OffsetCommitKey.HIGHEST_SUPPORTED_VERSION) {
      OffsetCommitKey commit = new OffsetCommitKey(from, (short) version);
      return new GroupKey(Kind.COMMIT, version, utf8(commit.group()), utf8(commit.topic()), commit.partition(), null);
    }
    String group = new GroupMetadataKey(from, GroupMetadataKey.HIGHEST_SUPPORTED_VERSION).group();
    if (version == GroupMetadataKey.HIGHEST_SUPPORTED_VERSION) {
      return new GroupKey(Kind.GROUP, version, utf8(group), null, 0, null);
    }
    return new GroupKey(Kind.NEWER, version, utf8(group), null, 0, utf8(NEWER.getOrDefault(version, "key version " + version)));
  }

  /** Whether all its bytes are the key of a commit: version, group, topic and partition. */
  static boolean endsInPartition(ByteBuffer key) {
    int end = key.limit();
    int topic = afterText(key, key.position() + Short.BYTES, end);
    return topic > 0
        && afterText(key, topic, end) == end - Integer.BYTES
        && key.getShort(key.position()) >= 0
        && key.getShort(key.position()) <= OffsetCommitKey.HIGHEST_SUPPORTED_VERSION;
  }

  private static int afterText(ByteBuffer key, int at, int end) {
    int length = at + Short.BYTES <= end ? key.getShort(at) : -1;
    return length < 0 ? -1 : at + Short.BYTES + length;
  }

  /** The same for another partition. */
  GroupKey at(int other) {
    return other == partition ? this : new GroupKey(kind, version, group, topic, other, reason);
  }

  private static GroupKey unknown(Integer version, String reason) {
    return new GroupKey(Kind.UNKNOWN, version, null, null, 0, utf8(reason));
  }

  static byte[] utf8(String text) {
    return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
  }
}
