package casebook.logs.spark;

import casebook.spark.Places;
import java.time.DateTimeException;
import java.time.ZoneId;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.apache.spark.network.util.JavaUtils;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** The Spark data source {@code kafka_logs}: log files as one table. */
public final class LogsSource implements TableProvider, DataSourceRegister {
  /**
   * Rows of three kinds: an event; a shape without a wording, with its count; and the coverage of a part of a file, with its
   * lines. Lines are counted from the start of the part, as the number of lines before it is not yet known.
   */
  static final StructType SCHEMA =
      StructType.fromDDL(
          "row string, file string, start bigint, line bigint, time timestamp, level string, logger string, kind string, topic string,"
              + " partition int, group string, fields string, text string, shape string, count bigint, first timestamp, last timestamp,"
              + " lines bigint, entries bigint, typed bigint, strange bigint, damage string");

  private static final String SPLIT = "32m";
  private static final String NEEDS = "kafka_logs needs a path: a log, a folder of logs, or a pattern.";

  @Override
  public String shortName() {
    return "kafka_logs";
  }

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    return SCHEMA;
  }

  @Override
  public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
    return new Logs();
  }

  private static final class Logs implements SupportsRead {
    @Override
    public String name() {
      return "kafka_logs";
    }

    @Override
    public StructType schema() {
      return SCHEMA;
    }

    @Override
    public Set<TableCapability> capabilities() {
      return EnumSet.of(TableCapability.BATCH_READ);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
      return new LogsScan(Places.of(options, NEEDS), zone(options), options.get("layout"), JavaUtils.byteStringAsBytes(options.getOrDefault("splitBytes", SPLIT)));
    }
  }

  private static ZoneId zone(CaseInsensitiveStringMap options) {
    try {
      return ZoneId.of(options.getOrDefault("zone", "UTC"));
    } catch (DateTimeException unknown) {
      throw new IllegalArgumentException("kafka_logs knows no zone " + options.get("zone") + ".", unknown);
    }
  }
}
