package casebook.logs.spark;

import casebook.logs.DayOrder;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.connector.read.InputPartition;

/** Input of one task. */
record LogsPartition(List<Part> parts) implements InputPartition {
  /**
   * A part of a file.
   *
   * @param uri of the file
   * @param start its first byte
   * @param end first byte of the next part
   * @param order order of day and month in the file; for a whole file, its reader detects the order
   */
  record Part(String uri, long start, long end, DayOrder order) implements Serializable {
    boolean isWhole() {
      return start == 0 && end == Long.MAX_VALUE;
    }
  }
}
