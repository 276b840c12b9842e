package casebook.segments.spark;

import static java.nio.charset.StandardCharsets.UTF_8;

import casebook.segments.Header;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Locale;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.ControlRecordType;

/** Texts that columns repeat often, encoded once. */
final class Words {
  static final byte[] DATA = "data".getBytes(UTF_8);
  static final byte[] CONTROL = "control".getBytes(UTF_8);
  static final byte[] DAMAGE = "damage".getBytes(UTF_8);
  static final byte[] BATCH = "batch".getBytes(UTF_8);
  private static final byte[] EMPTY = {};
  private static final byte[] CREATE = "create".getBytes(UTF_8);
  private static final byte[] APPEND = "append".getBytes(UTF_8);
  private static final byte[][] CODECS =
      Arrays.stream(CompressionType.values()).map(type -> type.name.getBytes(UTF_8)).toArray(byte[][]::new);
  private static final byte[][] CONTROLS =
      Arrays.stream(ControlRecordType.values()).map(type -> type.name().toLowerCase(Locale.ROOT).getBytes(UTF_8)).toArray(byte[][]::new);

  private Words() {}

  static byte[] utf8(String text) {
    return text == null ? null : text.isEmpty() ? EMPTY : text.getBytes(UTF_8);
  }

  static byte[] timestampType(Header header) {
    return header.magic == 0 ? null : header.appendTime() ? APPEND : CREATE;
  }

  static byte[] codec(int codec) {
    return codec < CODECS.length ? CODECS[codec] : ("unknown-" + codec).getBytes(UTF_8);
  }

  /** The type from a control record's key, which has version, then type ({@code record/ControlRecordType.java@3.9.0-rc3}). */
  static byte[] controlType(ByteBuffer key) {
    if (key == null || key.remaining() < 4) {
      return "unknown".getBytes(UTF_8);
    }
    short id = key.getShort(key.position() + 2);
    ControlRecordType type = ControlRecordType.fromTypeId(id);
    return type == ControlRecordType.UNKNOWN ? ("unknown-" + id).getBytes(UTF_8) : CONTROLS[type.ordinal()];
  }
}
