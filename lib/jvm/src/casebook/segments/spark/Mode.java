package casebook.segments.spark;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import org.apache.spark.sql.types.StructType;

/** The kind of rows that a scan makes. */
public enum Mode {
  RECORDS(
      """
      offset bigint, timestamp timestamp, timestamp_type string, key binary, value binary,
      headers array<struct<key: string, value: binary>>, size int, batch_bytes int, batch_offset bigint, magic int,
      codec string, leader_epoch int, producer_id bigint, producer_epoch int, sequence int, transactional boolean,
      control_type string, delete_horizon timestamp"""),
  BATCHES(
      """
      bytes int, base_offset bigint, last_offset bigint, records int, first_time timestamp, max_time timestamp,
      timestamp_type string, magic int, codec string, leader_epoch int, producer_id bigint, producer_epoch int,
      base_sequence int, transactional boolean, control boolean, delete_horizon timestamp, crc bigint"""),
  GROUP_RECORDS(Texts.OF_GROUPS),
  GROUP_KEYS(
      Texts.OF_GROUPS
          + """
          , records bigint, bytes bigint, first_offset bigint, first_time timestamp, last_time timestamp,
          tombstones bigint, max_batch_bytes int""");

  private static final class Texts {
    private static final String COMMON =
        """
        kind string, file string, log_topic string, log_partition int, segment bigint, position bigint, reason string,
        damaged_bytes bigint, tail boolean, """;
    private static final String OF_GROUPS =
        """
        log_offset bigint, timestamp timestamp, size int, batch_bytes int, magic int, codec string, producer_id bigint,
        producer_epoch int, transactional boolean, control_type string, key_version int, value_version int,
        tombstone boolean, group string, topic string, partition int, committed bigint, committed_epoch int,
        metadata string, commit_time timestamp, expire_time timestamp, protocol_type string, generation int,
        protocol string, leader string, state_time timestamp, members array<struct<member_id: string,
        instance_id: string, client_id: string, client_host: string, rebalance_timeout: int, session_timeout: int,
        subscription: array<string>, assignment: array<struct<topic: string, partitions: array<int>>>>>""";
  }

  private final StructType schema;

  Mode(String columns) {
    schema = StructType.fromDDL(Texts.COMMON + columns);
  }

  public StructType schema() {
    return schema;
  }

  /** The mode of this name. */
  public static Mode of(String name) {
    try {
      return valueOf(name.toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException unknown) {
      String known = Arrays.stream(values()).map(mode -> mode.name().toLowerCase(Locale.ROOT)).collect(Collectors.joining(", "));
      throw new IllegalArgumentException("kafka_segments has no mode " + name + ", but " + known + ".");
    }
  }
}
