package casebook.segments.spark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.Statistics;
import org.apache.spark.sql.connector.read.SupportsReportStatistics;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.SerializableConfiguration;

/** A planned scan: the files, their ranges and tasks. */
final class SegmentsScan implements Scan, Batch, SupportsReportStatistics {
  /** Approximate bytes of a record in a segment, for the planner's estimate. */
  private static final long RECORD = 100;

  private final ScanOptions options;
  private final List<String> places;
  private final StructType columns;
  private final Wanted wanted;
  private final Configuration configuration;
  private List<Listed> listed;

  SegmentsScan(ScanOptions options, List<String> places, StructType columns, Wanted wanted) {
    this.options = options;
    this.places = places;
    this.columns = columns;
    this.wanted = wanted;
    configuration = org.apache.spark.sql.classic.SparkSession.active().sessionState().newHadoopConf();
  }

  @Override
  public StructType readSchema() {
    return columns;
  }

  @Override
  public String description() {
    String filters = Stream.of(wanted.used()).map(Object::toString).collect(Collectors.joining(", "));
    return "kafka_segments " + options.mode() + " " + places + " filters read by: [" + filters + "]";
  }

  @Override
  public ColumnarSupportMode columnarSupportMode() {
    return ColumnarSupportMode.SUPPORTED;
  }

  @Override
  public Batch toBatch() {
    return this;
  }

  @Override
  public Statistics estimateStatistics() {
    long bytes = files().stream().mapToLong(Listed::length).sum();
    return new Statistics() {
      @Override
      public OptionalLong sizeInBytes() {
        return OptionalLong.of(bytes / RECORD * columns.defaultSize() + 1);
      }

      @Override
      public OptionalLong numRows() {
        return OptionalLong.empty();
      }
    };
  }

  @Override
  public InputPartition[] planInputPartitions() {
    try {
      return new Plan(options, wanted, configuration).of(files()).toArray(InputPartition[]::new);
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return new SegmentsReaderFactory(options, columns, wanted, SerializableConfiguration.broadcast(SparkContext.getOrCreate(), configuration));
  }

  private List<Listed> files() {
    try {
      listed = listed == null ? new Listing(configuration).of(places) : listed;
      return listed.stream().filter(file -> wanted.file(file.name(), file.ceiling())).toList();
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }
}
