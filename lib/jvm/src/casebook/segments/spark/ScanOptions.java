package casebook.segments.spark;

import casebook.segments.Limits;
import casebook.spark.Places;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.network.util.JavaUtils;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The options of a scan.
 *
 * @param mode the kind of rows
 * @param crc compute checksums even if records are not read
 * @param limits upper limits of a reader
 * @param splitBytes approximate amount that a task reads
 */
record ScanOptions(Mode mode, boolean crc, Limits limits, long splitBytes) implements Serializable {
  static ScanOptions of(CaseInsensitiveStringMap options) {
    Limits limits =
        new Limits(
            (int) bytes(options, "maxBatchBytes", Limits.USUAL.batchBytes(), Limits.MOST_BATCH_BYTES),
            (int) bytes(options, "maxContentBytes", Limits.USUAL.contentBytes(), Limits.MOST_CONTENT_BYTES),
            bytes(options, "maxSearchBytes", Limits.USUAL.searchBytes(), Long.MAX_VALUE));
    Mode mode = Mode.of(options.getOrDefault("mode", "records"));
    boolean crc = options.getBoolean("crc", true);
    return new ScanOptions(mode, crc, limits, bytes(options, "splitBytes", checked(mode, crc) ? 64 << 20 : 512 << 20, Long.MAX_VALUE));
  }

  /** Whether headers are enough: rows of batches without a check of their checksums. */
  boolean checked() {
    return checked(mode, crc);
  }

  private static boolean checked(Mode mode, boolean crc) {
    return crc || mode != Mode.BATCHES;
  }

  /** The places to read, as given by {@code load} in the options. */
  static List<String> places(CaseInsensitiveStringMap options) {
    return Places.of(options, "kafka_segments needs a path: a segment, a partition's folder, a log dir or a bundle.");
  }

  private static long bytes(CaseInsensitiveStringMap options, String name, long usual, long most) {
    String given = options.get(name);
    long value = given == null ? usual : JavaUtils.byteStringAsBytes(given);
    if (value < 1 || value > most) {
      throw new IllegalArgumentException(name + " must be between 1 and " + most + " bytes, not " + given + ".");
    }
    return value;
  }
}
