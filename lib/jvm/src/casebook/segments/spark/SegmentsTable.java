package casebook.segments.spark;

import java.util.EnumSet;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** Segments as a table of one mode. */
final class SegmentsTable implements SupportsRead {
  private final Mode mode;

  SegmentsTable(Mode mode) {
    this.mode = mode;
  }

  @Override
  public String name() {
    return "kafka_segments";
  }

  @Override
  public StructType schema() {
    return mode.schema();
  }

  @Override
  public Set<TableCapability> capabilities() {
    return EnumSet.of(TableCapability.BATCH_READ);
  }

  @Override
  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    return new SegmentsScanBuilder(ScanOptions.of(options), ScanOptions.places(options));
  }
}
