package casebook.segments.spark;

import static java.nio.charset.StandardCharsets.UTF_8;

import casebook.segments.Damage;
import casebook.segments.FileRange;
import casebook.spark.Columns;

/** The columns of every mode, and the row of a damage. */
final class Common {
  /** Their number: the index of a mode's first own column. */
  static final int COUNT = 9;

  private static final int KIND = 0;
  private static final int FILE = 1;
  private static final int TOPIC = 2;
  private static final int PARTITION = 3;
  private static final int SEGMENT = 4;
  private static final int POSITION = 5;
  private static final int REASON = 6;

  private final byte[] file;
  private final byte[] topic;
  private final Integer partition;
  private final Long segment;

  Common(FileRange range) {
    file = range.file().getBytes(UTF_8);
    topic = range.name().topic() == null ? null : range.name().topic().getBytes(UTF_8);
    partition = range.name().partition();
    segment = range.name().base();
  }

  /** Sets the common columns of a row that is not damage. */
  void write(Columns out, byte[] kind, long position, byte[] reason) {
    place(out, kind, position);
    out.set(REASON, reason);
    out.nulls(REASON + 1, COUNT);
  }

  /** Writes a whole row. */
  void writeDamage(Columns out, Damage damage, int columns) {
    place(out, Words.DAMAGE, damage.position());
    out.set(REASON, damage.reason().getBytes(UTF_8));
    out.set(REASON + 1, damage.bytes());
    out.set(REASON + 2, damage.tail());
    out.nulls(COUNT, columns);
  }

  private void place(Columns out, byte[] kind, long position) {
    out.set(KIND, kind);
    out.set(FILE, file);
    out.set(TOPIC, topic);
    if (partition == null) {
      out.setNull(PARTITION);
    } else {
      out.set(PARTITION, partition.intValue());
    }
    if (segment == null) {
      out.setNull(SEGMENT);
    } else {
      out.set(SEGMENT, segment.longValue());
    }
    out.set(POSITION, position);
  }
}
