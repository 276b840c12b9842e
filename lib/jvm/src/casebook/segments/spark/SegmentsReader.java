package casebook.segments.spark;

import casebook.segments.BatchRecords;
import casebook.segments.BatchWalker;
import casebook.segments.Bundle;
import casebook.segments.Damage;
import casebook.segments.FileRange;
import casebook.segments.ForwardStream;
import casebook.segments.Segments;
import casebook.spark.Columns;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.Iterator;
import java.util.List;
import java.util.zip.ZipException;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/** Reads the ranges of one task into batches of columns. */
final class SegmentsReader implements PartitionReader<ColumnarBatch> {
  private final ScanOptions options;
  private final Wanted wanted;
  private final Files files;
  private final Iterator<FileRange> ranges;
  private final Columns columns;
  private final Rows rows;
  private FileRange range;
  private Segments segments;
  private Segments.Open open;
  /** Number of segments of this file so far. */
  private int opened;

  SegmentsReader(ScanOptions options, StructType wantedColumns, Wanted wanted, List<FileRange> ranges, Configuration configuration) {
    this.options = options;
    this.wanted = wanted;
    this.ranges = ranges.iterator();
    files = new Files(configuration);
    columns = new Columns(options.mode().schema(), wantedColumns);
    rows = rows(new BatchRecords(options.limits()));
  }

  private Rows rows(BatchRecords records) {
    return switch (options.mode()) {
      case RECORDS -> new RecordRows(records, wanted);
      case BATCHES -> new BatchRows();
      case GROUP_RECORDS -> new GroupRows(records, wanted);
      case GROUP_KEYS -> new KeyRows(records, wanted);
    };
  }

  @Override
  public boolean next() throws IOException {
    columns.reset();
    while (!columns.full() && (open != null || openNext())) {
      if (!rows.fill(columns)) {
        ended();
      }
    }
    return !columns.empty();
  }

  @Override
  public ColumnarBatch get() {
    return columns.batch();
  }

  @Override
  public void close() throws IOException {
    columns.close();
    closeFile();
  }

  /** Opens the next segment, of this bundle or else of the next file. A file that cannot be opened becomes a row of damage. */
  private boolean openNext() throws IOException {
    while (!columns.full() && (segments != null || openFile())) {
      try {
        open = segments == null ? null : segments.next();
        if (open == null && segments instanceof Bundle && opened == 0) {
          unreadable(range, 0, "the bundle holds no segment: no file in it is named <base offset>.log");
        }
      } catch (IOException error) {
        unreadable(range, 0, "the bundle cannot be read: " + error.getMessage());
      }
      if (open != null) {
        opened++;
        rows.begin(new BatchWalker(open.source(), open.range(), options.limits(), options.checked()), new Common(open.range()));
        return true;
      }
      closeFile();
    }
    return false;
  }

  private boolean openFile() throws IOException {
    if (!ranges.hasNext()) {
      return false;
    }
    range = ranges.next();
    opened = 0;
    try {
      segments = files.open(range);
    } catch (FileNotFoundException | NoSuchFileException gone) {
      unreadable(range, range.start(), "the file is gone since it was listed");
    } catch (EOFException | ZipException error) {
      unreadable(range, 0, "the bundle cannot be read: " + error.getMessage());
    }
    return true;
  }

  private void ended() {
    if (open.source() instanceof ForwardStream stream && stream.fault() != null) {
      unreadable(open.range(), stream.reached(), stream.fault());
    }
    open = null;
  }

  private void unreadable(FileRange what, long from, String reason) {
    long bytes = Math.max(0, Math.min(what.end(), what.length()) - from);
    new Common(what).writeDamage(columns, new Damage(from, bytes, null, reason, false), options.mode().schema().size());
    columns.endRow();
  }

  private void closeFile() throws IOException {
    open = null;
    if (segments != null) {
      segments.close();
    }
    segments = null;
  }
}
