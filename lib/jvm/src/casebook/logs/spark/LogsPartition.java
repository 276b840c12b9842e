package casebook.logs.spark;

import casebook.logs.DayOrder;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.connector.read.InputPartition;

/** What one task reads. */
record LogsPartition(List<Part> parts) implements InputPartition {
  /**
   * A part of a file.
   *
   * @param uri of the file
   * @param start its first byte
   * @param end where the next part begins
   * @param order how days and months stand in the file; of a whole one who reads it finds out
   */
  record Part(String uri, long start, long end, DayOrder order) implements Serializable {
    boolean isWhole() {
      return start == 0 && end == Long.MAX_VALUE;
    }
  }
}
