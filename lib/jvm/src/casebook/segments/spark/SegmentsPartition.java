package casebook.segments.spark;

import casebook.segments.FileRange;
import java.util.List;
import org.apache.spark.sql.connector.read.InputPartition;

/** The ranges of one task, in order. */
record SegmentsPartition(List<FileRange> ranges) implements InputPartition {}
