package casebook.segments.spark;

import casebook.segments.FileRange;
import java.util.List;
import org.apache.spark.sql.connector.read.InputPartition;

/** What one task reads, one after the other. */
record SegmentsPartition(List<FileRange> ranges) implements InputPartition {}
