import casebook.segments.BatchRecords;
import casebook.segments.BatchWalker;
import casebook.segments.ByteSource;
import casebook.segments.FileRange;
import casebook.segments.ForwardStream;
import casebook.segments.HadoopFile;
import casebook.segments.Header;
import casebook.segments.Limits;
import casebook.segments.Undecodable;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.PositionedReadable;
import org.apache.hadoop.fs.Seekable;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.Record;

/**
 * Reads segments one after the other, as a task does, and requires what holds for any bytes. They come in turns as those of a local
 * file, of a file system that refuses positions behind the end, and out of a bundle.
 */
final class Reading {
  private static final Limits LIMITS = new Limits(12 << 20, 12 << 20, 1 << 26);

  /** A batch with what its records say. */
  record Batch(int start, int end, int magic, boolean compressed, Map<Long, Integer> records) {}

  private final BatchRecords records = new BatchRecords(LIMITS);
  private int files;

  /**
   * Reads all of a file; every byte must belong to a batch or to a damage.
   *
   * @return how many damages there are
   */
  int read(byte[] bytes, FileRange range, List<Batch> batches, Map<Long, Integer> found) throws Exception {
    FileRange now = new FileRange(range.file(), range.name(), 0, range.end(), bytes.length, range.floor(), range.ceiling());
    BatchWalker walker = new BatchWalker(source(bytes), now, LIMITS, true);
    long position = 0;
    int damages = 0;
    while (true) {
      BatchWalker.Step step = walker.step();
      if (step == BatchWalker.Step.END) {
        require(position == bytes.length, "ends silently at " + position + " of " + bytes.length);
        return damages;
      }
      if (step == BatchWalker.Step.DAMAGE) {
        require(walker.damage().position() == position && walker.damage().bytes() > 0, "gap before " + walker.damage());
        position += walker.damage().bytes();
        require(!walker.damage().tail() || position == bytes.length, "no tail: " + walker.damage());
        damages++;
        continue;
      }
      Header header = walker.header();
      require(header.position == position, "gap before the batch at " + header.position);
      position += header.size;
      try {
        Map<Long, Integer> inside = contents(header, walker.batch());
        batches.add(new Batch((int) header.position, (int) position, header.magic, header.compressed(), inside));
        found.putAll(inside);
      } catch (Undecodable error) {
        damages++;
      }
    }
  }

  static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }

  private Map<Long, Integer> contents(Header header, ByteBuffer batch) throws Undecodable {
    Map<Long, Integer> contents = new TreeMap<>();
    records.open(header, batch);
    long shares = 0;
    while (records.next()) {
      contents.put(records.offset(), hash(records.key(), records.value(), records.timestamp(), records.sequence(), records.headers()));
      shares += records.share();
    }
    require(contents.isEmpty() || shares == header.size, "shares of " + shares + " in a batch of " + header.size);
    require(header.magic < 2 || header.compressed() || contents.equals(byKafka(batch)), "not as Kafka's own reader has it");
    return contents;
  }

  private static Map<Long, Integer> byKafka(ByteBuffer batch) {
    Map<Long, Integer> contents = new TreeMap<>();
    for (Record record : MemoryRecords.readableRecords(batch.duplicate()).records()) {
      contents.put(record.offset(), hash(record.key(), record.value(), record.timestamp(), record.sequence(), record.headers()));
    }
    return contents;
  }

  private static int hash(Object... fields) {
    return Arrays.deepHashCode(fields);
  }

  private ByteSource source(byte[] bytes) {
    return switch (files++ % 3) {
      case 0 -> new InMemory(bytes);
      case 1 -> new HadoopFile(new FSDataInputStream(new Strict(bytes)));
      default -> new ForwardStream(new ByteArrayInputStream(bytes));
    };
  }

  /** A file that is already in memory. */
  private record InMemory(byte[] bytes) implements ByteSource {
    @Override
    public int read(long position, byte[] into, int offset, int length) {
      int count = (int) Math.max(0, Math.min(length, bytes.length - position));
      System.arraycopy(bytes, (int) Math.min(position, bytes.length), into, offset, count);
      return count;
    }

    @Override
    public boolean forwardOnly() {
      return false;
    }

    @Override
    public void close() {}
  }

  /** A stream that can be set to any position which it has, as that of HDFS. */
  private static final class Strict extends ByteArrayInputStream implements Seekable, PositionedReadable {
    Strict(byte[] bytes) {
      super(bytes);
    }

    @Override
    public void seek(long position) throws IOException {
      if (position > count) {
        throw new EOFException("Cannot seek after EOF");
      }
      pos = (int) position;
    }

    @Override
    public long getPos() {
      return pos;
    }

    @Override
    public boolean seekToNewSource(long position) {
      throw new UnsupportedOperationException();
    }

    @Override
    public int read(long position, byte[] into, int offset, int length) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void readFully(long position, byte[] into, int offset, int length) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void readFully(long position, byte[] into) {
      throw new UnsupportedOperationException();
    }
  }
}
