package casebook.logs.spark;

import casebook.logs.Content;
import casebook.logs.DayOrder;
import casebook.logs.Encoding;
import casebook.spark.Places;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.SerializableConfiguration;

/** Plans the parts of the files, and the tasks that read them. */
final class LogsScan implements ScanBuilder, SupportsPushDownRequiredColumns, Scan, Batch {
  /** Cost of opening a file, as the number of bytes that could be read in the same time. */
  private static final long OPENING = 1 << 16;

  private final List<String> places;
  private final ZoneId zone;
  private final String layout;
  private final long splitBytes;
  private final Configuration configuration;
  private StructType columns = LogsSource.SCHEMA;
  private List<LogsPartition> tasks;
  private List<LogsPartition.Part> together;
  private long bytes;

  LogsScan(List<String> places, ZoneId zone, String layout, long splitBytes) {
    this.places = places;
    this.zone = zone;
    this.layout = layout;
    this.splitBytes = splitBytes;
    configuration = org.apache.spark.sql.classic.SparkSession.active().sessionState().newHadoopConf();
  }

  @Override
  public void pruneColumns(StructType required) {
    columns = required;
  }

  @Override
  public Scan build() {
    return this;
  }

  @Override
  public StructType readSchema() {
    return columns;
  }

  @Override
  public String description() {
    return "kafka_logs " + places;
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
  public PartitionReaderFactory createReaderFactory() {
    return new LogsReaderFactory(columns, zone.getId(), layout, SerializableConfiguration.broadcast(SparkContext.getOrCreate(), configuration));
  }

  @Override
  public InputPartition[] planInputPartitions() {
    tasks = new ArrayList<>();
    together = new ArrayList<>();
    bytes = 0;
    try {
      for (String place : places) {
        add(new Path(place));
      }
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
    endTask();
    return tasks.toArray(InputPartition[]::new);
  }

  private void add(Path path) throws IOException {
    for (FileStatus named : Places.named(configuration, path)) {
      if (named.isFile()) {
        addFile(named);
        continue;
      }
      for (FileStatus inside : path.getFileSystem(configuration).listStatus(named.getPath())) {
        if (inside.isFile()) {
          addFile(inside);
        }
      }
    }
  }

  private void addFile(FileStatus file) {
    String uri = file.getPath().toString();
    byte[] head = Content.packed(uri) || file.getLen() <= splitBytes + splitBytes / 2 ? null : head(file.getPath());
    if (head == null || !Content.divisible(head)) {
      addPart(new LogsPartition.Part(uri, 0, Long.MAX_VALUE, DayOrder.UNKNOWN), file.getLen());
      return;
    }
    DayOrder order = DayOrder.of(head);
    for (long start = 0; start < file.getLen(); start += splitBytes) {
      boolean last = start + splitBytes >= file.getLen();
      addPart(new LogsPartition.Part(uri, start, last ? Long.MAX_VALUE : start + splitBytes, order), splitBytes);
    }
  }

  /** Start of a file; {@code null} if it cannot be opened here: its task reads it as a whole, and reports the reason. */
  private byte[] head(Path path) {
    try (InputStream stream = path.getFileSystem(configuration).open(path)) {
      return stream.readNBytes(Encoding.HEAD);
    } catch (IOException unreadable) {
      return null;
    }
  }

  private void addPart(LogsPartition.Part part, long length) {
    if (bytes > 0 && bytes + length > splitBytes) {
      endTask();
    }
    together.add(part);
    bytes += length + OPENING;
  }

  private void endTask() {
    if (!together.isEmpty()) {
      tasks.add(new LogsPartition(List.copyOf(together)));
      together = new ArrayList<>();
      bytes = 0;
    }
  }
}
