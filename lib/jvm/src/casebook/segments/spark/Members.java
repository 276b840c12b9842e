package casebook.segments.spark;

import casebook.spark.Columns;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.message.ConsumerProtocolAssignment.TopicPartition;
import org.apache.kafka.coordinator.group.generated.GroupMetadataValue.MemberMetadata;
import org.apache.kafka.coordinator.group.generated.GroupMetadataValue;
import org.apache.spark.sql.execution.vectorized.WritableColumnVector;

/**
 * The members of a group's state. Each client encodes its own subscription and assignment. They are decoded for the consumer
 * protocol, and null for any other, e.g. that of Kafka Connect.
 */
final class Members {
  private Members() {}

  static void write(Columns out, int column, GroupMetadataValue state) {
    boolean consumers = ConsumerProtocol.PROTOCOL_TYPE.equals(state.protocolType());
    List<MemberMetadata> members = state.members();
    WritableColumnVector array = out.vector(column);
    WritableColumnVector structs = array.arrayData();
    array.putArray(out.row(), structs.getElementsAppended(), members.size());
    for (MemberMetadata member : members) {
      structs.appendStruct(false);
      text(structs.getChild(0), member.memberId());
      text(structs.getChild(1), member.groupInstanceId());
      text(structs.getChild(2), member.clientId());
      text(structs.getChild(3), member.clientHost());
      number(structs.getChild(4), member.rebalanceTimeout());
      number(structs.getChild(5), member.sessionTimeout());
      subscription(structs.getChild(6), consumers ? subscribed(member.subscription()) : null);
      assignment(structs.getChild(7), consumers ? assigned(member.assignment()) : null);
    }
  }

  private static List<String> subscribed(byte[] raw) {
    try {
      return ConsumerProtocol.deserializeConsumerProtocolSubscription(ByteBuffer.wrap(raw)).topics();
    } catch (RuntimeException notTheConsumerProtocol) {
      return null;
    }
  }

  private static List<TopicPartition> assigned(byte[] raw) {
    try {
      return List.copyOf(ConsumerProtocol.deserializeConsumerProtocolAssignment(ByteBuffer.wrap(raw)).assignedPartitions());
    } catch (RuntimeException notTheConsumerProtocol) {
      return null;
    }
  }

  private static void subscription(WritableColumnVector array, List<String> topics) {
    if (topics == null) {
      array.appendNull();
      return;
    }
    array.appendArray(topics.size());
    topics.forEach(topic -> text(array.arrayData(), topic));
  }

  private static void assignment(WritableColumnVector array, List<TopicPartition> assigned) {
    if (assigned == null) {
      array.appendNull();
      return;
    }
    array.appendArray(assigned.size());
    for (TopicPartition one : assigned) {
      WritableColumnVector struct = array.arrayData();
      struct.appendStruct(false);
      text(struct.getChild(0), one.topic());
      struct.getChild(1).appendArray(one.partitions().size());
      one.partitions().forEach(partition -> struct.getChild(1).arrayData().appendInt(partition));
    }
  }

  private static void text(WritableColumnVector vector, String text) {
    byte[] utf8 = Words.utf8(text);
    if (utf8 == null) {
      vector.appendNull();
    } else {
      vector.appendByteArray(utf8, 0, utf8.length);
    }
  }

  private static void number(WritableColumnVector vector, int number) {
    if (number < 0) {
      vector.appendNull();
    } else {
      vector.appendInt(number);
    }
  }
}
