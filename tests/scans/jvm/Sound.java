import casebook.segments.BatchRecords;
import casebook.segments.BatchWalker;
import casebook.segments.ByteSource;
import casebook.segments.FileRange;
import casebook.segments.ForwardStream;
import casebook.segments.Header;
import casebook.segments.KeyAggregate;
import casebook.segments.Limits;
import casebook.segments.LocalFile;
import casebook.segments.SegmentName;
import casebook.segments.Undecodable;
import java.io.BufferedInputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.FileRecords;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.RecordBatch;

/**
 * Reads sound segments of every format and codec, with batches of a byte around every size that a buffer of the reader has, and
 * holds each record against Kafka's own {@code FileRecords}. Arguments: a folder to write to, a seed, how many of the four kinds of
 * content, the most bytes that are swept, and those of a single large batch. One reader of records reads all files, as that of a
 * task does. Says how much it compared; exits with 1 at the first difference.
 */
public final class Sound {
  /** Of Kafka's streams (8, 16, 32 and 64 KiB), the window (1 and 8 MiB) and the content (256 KiB, doubled up to 16 MiB). */
  private static final int[] BUFFERS = {13, 14, 15, 16, 18, 19, 20, 21, 22, 23, 24};
  private static final int KINDS = 4;
  /** What compaction leaves out between batches. Before the last one it is as much as a segment can hold, in no time at all. */
  private static final int[] GAPS = {0, 0, 0, 1, 1000, 1_000_000};

  private static final long TIME = 1_700_000_000_000L;
  private static final int HEADER = 61;
  /** Bytes of records, of a size that a single record can have. */
  private static final int LIMITED = 300_000;
  /** Of a file; without a bound messages of old formats, each a batch, would make so many that nothing else is done. */
  private static final int PARTS = 300;

  /** How the bytes of a file come to the walker. */
  private enum Way {
    WHOLE,
    SPLIT,
    FORWARD
  }

  private final Path folder;
  private final Random random;
  private final int most;
  private final int large;
  private final BatchRecords records = new BatchRecords(Limits.USUAL);
  private long comparedRecords;
  private long comparedBatches;
  private int files;

  private Sound(Path folder, long seed, int most, int large) {
    this.folder = folder;
    this.most = most;
    this.large = large;
    random = new Random(seed);
  }

  public static void main(String[] arguments) throws Exception {
    Sound sound = new Sound(Path.of(arguments[0]), Long.parseLong(arguments[1]), Integer.parseInt(arguments[3]), Integer.parseInt(arguments[4]));
    int kinds = Integer.parseInt(arguments[2]);
    sound.compareLimits();
    for (byte magic = 0; magic <= RecordBatch.CURRENT_MAGIC_VALUE; magic++) {
      for (CompressionType codec : CompressionType.values()) {
        int first = sound.random.nextInt(KINDS);
        for (int kind = first; kind < first + kinds; kind++) {
          Written written = new Written(magic, codec, (kind & 1) == 0, (kind & 2) == 0);
          if (written.exists()) {
            sound.compareAll(written);
          }
        }
      }
    }
    System.out.println(sound.comparedRecords + " records in " + sound.comparedBatches + " batches of " + sound.files + " files");
  }

  /** What takes a byte more than a limit is named so, and nothing else is; even one that ends the file with zeros. */
  private void compareLimits() throws Exception {
    for (CompressionType codec : CompressionType.values()) {
      Path segment = write(new Written((byte) 2, codec, true, true), List.of(200, LIMITED, 300, LIMITED), 0);
      List<Header> headers = headers(segment);
      for (Header header : List.of(headers.get(1), headers.get(3))) {
        for (int less = 0; less < 2; less++) {
          int content = header.compressed() ? LIMITED - less : LIMITED;
          int batch = header.compressed() ? LIMITED : (int) header.size - less;
          String told = told(segment, header.position, new Limits(batch, content, 1 << 20));
          require(less == 0 ? told == null : told != null && told.contains("the reader's limit"), codec + " at its limit - " + less + ": " + told);
        }
      }
      Files.delete(segment);
    }
  }

  private static List<Header> headers(Path segment) throws Exception {
    List<Header> headers = new ArrayList<>();
    try (ByteSource source = new LocalFile(segment)) {
      for (long position = 0; position < Files.size(segment); position += headers.get(headers.size() - 1).size) {
        headers.add(BatchWalker.headerAt(source, whole(segment), position, Limits.USUAL));
      }
    }
    return headers;
  }

  /** What is said of the batch at a position; {@code null} when it is read. */
  private static String told(Path segment, long position, Limits limits) throws Exception {
    try (ByteSource source = new LocalFile(segment)) {
      BatchWalker walker = new BatchWalker(source, whole(segment), limits, true);
      BatchRecords records = new BatchRecords(limits);
      for (BatchWalker.Step step; (step = walker.step()) != BatchWalker.Step.END; ) {
        if (step == BatchWalker.Step.DAMAGE && walker.damage().position() == position) {
          return walker.damage().reason();
        }
        if (step == BatchWalker.Step.BATCH && walker.header().position == position) {
          records.open(walker.header(), walker.batch());
          return null;
        }
      }
      throw new AssertionError("nothing begins at " + position);
    } catch (Undecodable error) {
      return error.getMessage();
    }
  }

  /** Two files, so that the second is read with what the first left behind. The largest batch stands before a small one. */
  private void compareAll(Written written) throws Exception {
    List<Integer> sizes = sizes(written);
    Collections.shuffle(sizes, random);
    sizes.addAll(List.of(Collections.max(sizes), 100));
    List<Path> segments = List.of(write(written, sizes, 0), write(written, List.of(200, large, 300, 100), 1L << 40));
    try {
      for (Way way : Way.values()) {
        for (Path segment : segments) {
          compare(segment, way);
        }
      }
      for (Path segment : segments) {
        compareHeaders(segment);
      }
    } catch (AssertionError | Exception error) {
      throw new AssertionError(written + ", sizes " + sizes, error);
    }
    for (Path segment : segments) {
      Files.delete(segment);
    }
  }

  /** A byte around each, of the records and, uncompressed, of the batch. */
  private List<Integer> sizes(Written written) {
    List<Integer> sizes = new ArrayList<>(List.of(0, 1));
    IntStream.of(BUFFERS).map(bits -> 1 << bits).filter(size -> size < most).forEach(size -> {
      sizes.addAll(List.of(size - 1, size, size + 1));
      if (written.codec() == CompressionType.NONE) {
        sizes.addAll(List.of(size - HEADER - 1, size - HEADER, size - HEADER + 1));
      }
    });
    return sizes;
  }

  private Path write(Written written, List<Integer> sizes, long base) throws Exception {
    Path segment = folder.resolve(String.format("sound-%d/%020d.log", files++, base));
    Files.createDirectory(segment.getParent());
    long offset = base;
    try (OutputStream out = Files.newOutputStream(segment)) {
      for (int index = 0; index < sizes.size(); index++) {
        int removed = index == sizes.size() - 1 ? 0 : GAPS[random.nextInt(GAPS.length)];
        ByteBuffer batch = written.batch(offset, TIME, sizes.get(index), removed, random);
        out.write(batch.array(), batch.arrayOffset() + batch.position(), batch.remaining());
        boolean nextIsLast = index == sizes.size() - 2;
        int gap = index == 0 ? 1 : GAPS[random.nextInt(GAPS.length)];
        offset = nextIsLast ? base + Integer.MAX_VALUE - 1000 : Written.lastOffset(batch) + 1 + gap;
      }
    }
    return segment;
  }

  private void compare(Path segment, Way way) throws Exception {
    Latest latest = new Latest();
    try (FileRecords byKafka = FileRecords.open(segment.toFile(), false)) {
      Iterator<? extends RecordBatch> batches = byKafka.batches().iterator();
      for (FileRange range : ranges(segment, way)) {
        try (ByteSource source = source(segment, way)) {
          BatchWalker walker = new BatchWalker(source, range, Limits.USUAL, true);
          while (walker.step() != BatchWalker.Step.END) {
            compareBatch(walker, batches.next(), way, latest);
          }
        }
      }
      require(!batches.hasNext(), way + " ends early");
    }
    latest.compare();
  }

  private void compareBatch(BatchWalker walker, RecordBatch batch, Way way, Latest latest) throws Exception {
    Header header = walker.header();
    String where = way + " at " + header.position + " (" + header.size + " bytes, offset " + header.offset + ")";
    require(walker.damage() == null, where + ": " + walker.damage());
    try {
      records.open(header, walker.batch());
    } catch (Undecodable error) {
      throw new AssertionError(where, error);
    }
    for (Record record : batch) {
      require(records.next(), where + ": a record is missing");
      String which = where + ", record " + record.offset();
      require(records.offset() == record.offset(), which + ": offset " + records.offset());
      require(records.timestamp() == record.timestamp() && records.sequence() == record.sequence(), which + ": time or sequence");
      require(same(records.key(), record.key()) && same(records.value(), record.value()), which + ": key or value");
      require(Arrays.equals(records.headers(), record.headers()), which + ": headers");
      latest.add(header, records);
      comparedRecords++;
    }
    require(!records.next(), where + ": a record too many");
    comparedBatches++;
  }

  private void compareHeaders(Path segment) throws Exception {
    try (FileRecords byKafka = FileRecords.open(segment.toFile(), false);
        ByteSource source = new LocalFile(segment)) {
      BatchWalker walker = new BatchWalker(source, whole(segment), Limits.USUAL, false);
      for (RecordBatch batch : byKafka.batches()) {
        require(walker.step() == BatchWalker.Step.BATCH, "headers alone: " + walker.damage());
        Header header = walker.header();
        require(header.lastOffset == batch.lastOffset() && header.size == batch.sizeInBytes(), "headers alone at " + header.position);
      }
      require(walker.step() == BatchWalker.Step.END, "headers alone end late");
    }
  }

  private static boolean same(ByteBuffer ours, ByteBuffer kafkas) {
    return ours == null ? kafkas == null : ours.equals(kafkas);
  }

  private static FileRange whole(Path segment) throws Exception {
    return FileRange.whole(segment.toUri().toString(), SegmentName.of(segment.toString()), Files.size(segment));
  }

  /** The whole file, or parts as a plan makes them: they begin where the file confirms a batch. */
  private List<FileRange> ranges(Path segment, Way way) throws Exception {
    List<FileRange> ranges = new ArrayList<>();
    FileRange rest = whole(segment);
    if (way == Way.SPLIT) {
      try (FileRecords byKafka = FileRecords.open(segment.toFile(), false);
          ByteSource source = new LocalFile(segment)) {
        long position = 0;
        int every = Math.max(3, count(byKafka) / PARTS);
        for (RecordBatch batch : byKafka.batches()) {
          if (position > 0 && random.nextInt(every) == 0) {
            Header header = BatchWalker.headerAt(source, rest, position, Limits.USUAL);
            require(header != null, "no batch at " + position);
            ranges.add(rest.before(header));
            rest = rest.from(header);
          }
          position += batch.sizeInBytes();
        }
      }
    }
    ranges.add(rest);
    return ranges;
  }

  private static int count(FileRecords file) {
    int batches = 0;
    for (RecordBatch ignored : file.batches()) {
      batches++;
    }
    return batches;
  }

  private static ByteSource source(Path segment, Way way) throws Exception {
    return way == Way.FORWARD ? new ForwardStream(new BufferedInputStream(Files.newInputStream(segment))) : new LocalFile(segment);
  }

  private static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }

  /** The latest of each key of a file, which the aggregate keeps over batches, against copies. */
  private static final class Latest {
    private final KeyAggregate aggregate = new KeyAggregate();
    private final Map<ByteBuffer, ByteBuffer> copies = new HashMap<>();

    void add(Header header, BatchRecords records) {
      if (records.key() != null) {
        aggregate.add(header, records);
        copies.put(copy(records.key()), copy(records.value()));
      }
    }

    void compare() {
      for (int index = 0; index < aggregate.size(); index++) {
        ByteBuffer expected = copies.remove(ByteBuffer.wrap(aggregate.key(index)));
        require(same(aggregate.record(index).value, expected), "the latest of a key is another's");
      }
      require(copies.isEmpty(), "keys are missing");
    }

    private static ByteBuffer copy(ByteBuffer of) {
      return of == null ? null : ByteBuffer.allocate(of.remaining()).put(of.duplicate()).flip();
    }
  }
}
