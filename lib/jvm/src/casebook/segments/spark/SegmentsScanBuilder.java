package casebook.segments.spark;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.connector.read.SupportsPushDownV2Filters;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** Receives the wanted columns and the filters from Spark. */
final class SegmentsScanBuilder implements SupportsPushDownRequiredColumns, SupportsPushDownV2Filters {
  private final ScanOptions options;
  private final List<String> places;
  private StructType columns;
  private Wanted wanted;

  SegmentsScanBuilder(ScanOptions options, List<String> places) {
    this.options = options;
    this.places = places;
    columns = options.mode().schema();
    wanted = Wanted.everything(options.mode());
  }

  /** Keeps columns whole: Spark may request only some fields of headers or members, and also extracts them from whole columns. */
  @Override
  public void pruneColumns(StructType required) {
    StructType all = options.mode().schema();
    columns = new StructType(Arrays.stream(required.fieldNames()).map(all::apply).toArray(StructField[]::new));
  }

  /** Takes the filters that reduce reading; Spark applies all filters again. */
  @Override
  public Predicate[] pushPredicates(Predicate[] predicates) {
    wanted = Wanted.of(options.mode(), predicates);
    return predicates;
  }

  @Override
  public Predicate[] pushedPredicates() {
    return wanted.used();
  }

  @Override
  public Scan build() {
    return new SegmentsScan(options, places, columns, wanted);
  }
}
