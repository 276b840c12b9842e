package casebook.spark;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector;
import org.apache.spark.sql.execution.vectorized.WritableColumnVector;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/** Rows for Spark, column by column, without the columns that were not requested. */
public final class Columns implements AutoCloseable {
  public static final int ROWS = 4096;
  private static final long MOST_BYTES = 32 << 20;

  private final StructType wanted;
  private final int[] placeOf;
  /** The wanted columns, and for each column the next wanted one. */
  private final int[] kept;

  private final int[] nextKept;
  private WritableColumnVector[] vectors;
  private ColumnarBatch batch;
  private final byte[][] lastText;
  private final int[] lastAt;
  private long bytes;
  private int row;

  /**
   * @param all columns that a mode can fill, in the order in which {@code column} counts them
   * @param wanted columns that are kept
   */
  public Columns(StructType all, StructType wanted) {
    this.wanted = wanted;
    placeOf = Arrays.stream(all.fieldNames()).mapToInt(name -> Arrays.asList(wanted.fieldNames()).indexOf(name)).toArray();
    kept = IntStream.range(0, placeOf.length).filter(this::wants).toArray();
    nextKept = IntStream.range(0, placeOf.length).map(from -> (int) Arrays.stream(kept).filter(column -> column < from).count()).toArray();
    lastText = new byte[all.size()][];
    lastAt = new int[all.size()];
    allocate();
  }

  private void allocate() {
    StructField[] fields = wanted.fields();
    vectors = new WritableColumnVector[fields.length];
    for (int index = 0; index < fields.length; index++) {
      vectors[index] = new OnHeapColumnVector(ROWS, fields[index].dataType());
    }
    batch = new ColumnarBatch(vectors);
  }

  /** Starts an empty batch and releases the memory of large values. */
  public void reset() {
    if (bytes > MOST_BYTES) {
      close();
      allocate();
    }
    for (WritableColumnVector vector : vectors) {
      vector.reset();
    }
    Arrays.fill(lastText, null);
    bytes = 0;
    row = 0;
  }

  public boolean full() {
    return row >= ROWS || bytes >= MOST_BYTES;
  }

  public boolean empty() {
    return row == 0;
  }

  /** Ends a row; columns that were not set since the last one are null. */
  public void endRow() {
    row++;
  }

  /** Ends this many rows without wanted columns. */
  public void endRows(int count) {
    row += count;
  }

  public ColumnarBatch batch() {
    batch.setNumRows(row);
    return batch;
  }

  /** Whether only the number of rows is wanted. */
  public boolean none() {
    return vectors.length == 0;
  }

  public boolean wantsAny(int from, int until) {
    int next = nextKept[from];
    return next < kept.length && kept[next] < until;
  }

  public boolean wants(int column) {
    return placeOf[column] >= 0;
  }

  /** The vector of a wanted column. */
  public WritableColumnVector vector(int column) {
    return vectors[placeOf[column]];
  }

  public int row() {
    return row;
  }

  /** Makes columns of this row null, {@code until} not included. */
  public void nulls(int from, int until) {
    for (int next = nextKept[from]; next < kept.length && kept[next] < until; next++) {
      vector(kept[next]).putNull(row);
    }
  }

  public void setNull(int column) {
    if (wants(column)) {
      vector(column).putNull(row);
    }
  }

  public void set(int column, long value) {
    if (wants(column)) {
      vector(column).putLong(row, value);
    }
  }

  public void set(int column, int value) {
    if (wants(column)) {
      vector(column).putInt(row, value);
    }
  }

  public void set(int column, boolean value) {
    if (wants(column)) {
      vector(column).putBoolean(row, value);
    }
  }

  /** Sets a number, or null if it equals the value for none. */
  public void setUnless(long none, int column, long value) {
    if (value == none) {
      setNull(column);
    } else {
      set(column, value);
    }
  }

  /** Sets a number, or null if it equals the value for none. */
  public void setUnless(int none, int column, int value) {
    if (value == none) {
      setNull(column);
    } else {
      set(column, value);
    }
  }

  /** Sets a time; null if it is negative or too large for Spark's microseconds. */
  public void setTime(int column, long milliseconds) {
    if (milliseconds < 0 || milliseconds > Long.MAX_VALUE / 1000) {
      setNull(column);
    } else {
      set(column, milliseconds * 1000);
    }
  }

  /** Sets a text. The same array again, e.g. a constant, costs no copy. */
  public void set(int column, byte[] utf8) {
    if (!wants(column)) {
      return;
    }
    WritableColumnVector vector = vector(column);
    if (utf8 == null) {
      vector.putNull(row);
    } else if (utf8 == lastText[column]) {
      vector.putArray(row, lastAt[column], utf8.length);
    } else {
      lastText[column] = utf8;
      lastAt[column] = vector.putByteArray(row, utf8, 0, utf8.length);
      bytes += utf8.length;
    }
  }

  /** Sets bytes of an array. */
  public void set(int column, ByteBuffer value) {
    if (!wants(column)) {
      return;
    }
    if (value == null) {
      vector(column).putNull(row);
    } else {
      vector(column).putByteArray(row, value.array(), value.arrayOffset() + value.position(), value.remaining());
      bytes += value.remaining();
    }
  }

  /** Counts bytes that were written into a vector directly. */
  public void counted(long more) {
    bytes += more;
  }

  @Override
  public void close() {
    batch.close();
  }
}
