package casebook.logs.spark;

import static java.nio.charset.StandardCharsets.UTF_8;

import casebook.logs.Content;
import casebook.logs.Coverage;
import casebook.logs.Event;
import casebook.logs.Fields;
import casebook.logs.Header;
import casebook.logs.LogReader;
import casebook.logs.Untyped;
import casebook.spark.Columns;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.ZoneId;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.zip.ZipException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/** Reads the parts of one task into batches of columns: the events of each part, then its entries without a wording, then its coverage. */
final class LogsReader implements PartitionReader<ColumnarBatch> {
  private static final int ROW = 0;
  private static final int FILE = 1;
  private static final int START = 2;
  private static final int LINE = 3;
  private static final int TIME = 4;
  private static final int LEVEL = 5;
  private static final int LOGGER = 6;
  private static final int KIND = 7;
  private static final int TOPIC = 8;
  private static final int PARTITION = 9;
  private static final int GROUP = 10;
  private static final int FIELDS = 11;
  private static final int TEXT = 12;
  private static final int SHAPE = 13;
  private static final int COUNT = 14;
  private static final int FIRST = 15;
  private static final int LAST = 16;
  private static final int LINES = 17;
  private static final int ENTRIES = 18;
  private static final int TYPED = 19;
  private static final int STRANGE = 20;
  private static final int DAMAGE = 21;
  private static final int ALL = 22;

  private static final byte[] AN_EVENT = "event".getBytes(UTF_8);
  private static final byte[] A_SHAPE = "untyped".getBytes(UTF_8);
  private static final byte[] A_FILE = "file".getBytes(UTF_8);

  /** Settings that tasks must share to reuse each other's tools. */
  private record Scan(StructType wanted, ZoneId zone, String layout) {}

  /** Tools of a task that has ended: the wordings of its logs are compiled, and its columns have the size that they need. */
  private record Tools(LogReader reader, Columns columns) {}

  private static final Map<Scan, Queue<Tools>> RESTING = new ConcurrentHashMap<>();

  private final Scan scan;
  private final Tools tools;
  private final Columns columns;
  private final LogReader reader;
  private final Iterator<LogsPartition.Part> parts;
  private final Configuration configuration;
  private final Map<String, byte[]> constants = new HashMap<>();
  private LogsPartition.Part part;
  private byte[] file;
  private boolean ended;
  private Iterator<Map.Entry<Untyped.Key, Untyped.Seen>> shapes;

  LogsReader(StructType wanted, ZoneId zone, String layout, List<LogsPartition.Part> parts, Configuration configuration) {
    scan = new Scan(wanted, zone, layout);
    Tools rested = RESTING.computeIfAbsent(scan, none -> new ConcurrentLinkedQueue<>()).poll();
    tools = rested == null ? new Tools(new LogReader(zone, layout), new Columns(LogsSource.SCHEMA, wanted)) : rested;
    columns = tools.columns();
    reader = tools.reader();
    this.parts = parts.iterator();
    this.configuration = configuration;
  }

  @Override
  public boolean next() throws IOException {
    columns.reset();
    while (!columns.full() && (part != null || open())) {
      row();
    }
    ended |= columns.empty();
    return !columns.empty();
  }

  @Override
  public ColumnarBatch get() {
    return columns.batch();
  }

  @Override
  public void close() throws IOException {
    closeFile();
    if (ended) { // else a reader of the last batch may be active, such as the thread that feeds a Python process
      ended = false;
      RESTING.get(scan).add(tools);
    }
  }

  /** Opens the next part. A part that cannot be opened becomes a row of a file without lines. */
  private boolean open() throws IOException {
    while (!columns.full() && parts.hasNext()) {
      part = parts.next();
      file = part.uri().getBytes(UTF_8);
      try {
        reader.begin(content(part), part.start(), part.end());
        return true;
      } catch (FileNotFoundException gone) {
        damaged("the file is gone since it was listed, or may not be read: " + gone.getMessage());
      } catch (EOFException | ZipException unreadable) {
        damaged("its compressed data cannot be read: " + unreadable.getMessage());
      } catch (IOException failed) {
        damaged("it cannot be read: " + failed.getMessage());
      }
    }
    return false;
  }

  private Content content(LogsPartition.Part part) throws IOException {
    Path path = new Path(part.uri());
    FSDataInputStream stream = path.getFileSystem(configuration).open(path);
    if (part.isWhole()) {
      return Content.whole(part.uri(), stream);
    }
    stream.seek(Math.max(0, part.start() - 1));
    return new Content(stream, null, part.order());
  }

  private void damaged(String reason) {
    write(Coverage.none(reason));
    part = null;
  }

  /** Writes the part's next row. */
  private void row() throws IOException {
    Event event = shapes == null ? reader.next() : null;
    if (event != null) {
      write(event);
      return;
    }
    shapes = shapes == null ? reader.untyped().seen.entrySet().iterator() : shapes;
    if (shapes.hasNext()) {
      write(shapes.next());
    } else {
      write(reader.coverage());
      closeFile();
    }
  }

  private void begin(byte[] row) {
    columns.set(ROW, row);
    columns.set(FILE, file);
    columns.set(START, part.start());
  }

  private void write(Event event) {
    Fields fields = event.fields();
    begin(AN_EVENT);
    columns.set(LINE, event.line());
    time(TIME, event.time());
    columns.set(LEVEL, constant(event.level()));
    columns.set(LOGGER, constant(event.logger()));
    columns.set(KIND, constant(event.kind()));
    columns.set(TOPIC, constant(fields.topic));
    columns.setUnless(-1, PARTITION, fields.partition);
    columns.set(GROUP, text(fields.group));
    if (columns.wants(FIELDS)) {
      columns.set(FIELDS, text(fields.json()));
    }
    if (columns.wants(TEXT)) {
      columns.set(TEXT, text(event.text()));
    }
    columns.nulls(SHAPE, ALL);
    columns.endRow();
  }

  private void write(Map.Entry<Untyped.Key, Untyped.Seen> shape) {
    begin(A_SHAPE);
    columns.set(LINE, shape.getValue().line);
    columns.setNull(TIME);
    columns.set(LEVEL, constant(shape.getKey().level()));
    columns.set(LOGGER, constant(shape.getKey().logger()));
    columns.nulls(KIND, TEXT);
    columns.set(TEXT, text(shape.getValue().text));
    columns.set(SHAPE, text(shape.getKey().shape()));
    columns.set(COUNT, shape.getValue().count);
    columns.nulls(FIRST, ALL);
    columns.endRow();
  }

  private void write(Coverage coverage) {
    begin(A_FILE);
    columns.nulls(LINE, FIELDS);
    columns.set(FIELDS, text(coverage.speakers()));
    columns.set(TEXT, text(coverage.layouts()));
    columns.nulls(SHAPE, FIRST);
    time(FIRST, coverage.first);
    time(LAST, coverage.last);
    columns.set(LINES, coverage.lines);
    columns.set(ENTRIES, coverage.entries);
    columns.set(TYPED, coverage.typed);
    columns.set(STRANGE, coverage.strange);
    columns.set(DAMAGE, text(coverage.damage));
    columns.endRow();
  }

  private void time(int column, long time) {
    if (time == Header.NO_TIME) {
      columns.setNull(column);
    } else {
      columns.set(column, time * 1000);
    }
  }

  /** The same array for the same text: names repeat from row to row. */
  private byte[] constant(String text) {
    if (text == null) {
      return null;
    }
    if (constants.size() > 10_000) {
      constants.clear();
    }
    return constants.computeIfAbsent(text, LogsReader::text);
  }

  private static byte[] text(String text) {
    return text == null ? null : text.getBytes(UTF_8);
  }

  private void closeFile() throws IOException {
    reader.close();
    shapes = null;
    part = null;
  }
}
