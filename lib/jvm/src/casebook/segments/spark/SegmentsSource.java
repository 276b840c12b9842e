package casebook.segments.spark;

import java.util.Map;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** The data source that Spark finds under the name {@code kafka_segments}. */
public final class SegmentsSource implements TableProvider, DataSourceRegister {
  @Override
  public String shortName() {
    return "kafka_segments";
  }

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    return ScanOptions.of(options).mode().schema();
  }

  @Override
  public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
    return new SegmentsTable(ScanOptions.of(new CaseInsensitiveStringMap(properties)).mode());
  }
}
