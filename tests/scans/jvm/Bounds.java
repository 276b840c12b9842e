import casebook.segments.BatchRecords;
import casebook.segments.BatchWalker;
import casebook.segments.ByteSource;
import casebook.segments.FileRange;
import casebook.segments.Limits;
import casebook.segments.LocalFile;
import casebook.segments.SegmentName;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import org.apache.kafka.common.record.DefaultRecordBatch;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.utils.BufferSupplier;
import org.apache.kafka.common.utils.CloseableIterator;

/**
 * Processor time of each part of a scan on one thread, and of the whole scan by our reader and by Kafka's classes. Arguments: rounds
 * and segments of format 2. For each segment and round it prints a line of each work: segment, work, seconds of processor time. The
 * segments and works take turns; the rounds before the printed ones warm up.
 */
public final class Bounds {
  private static final int WARMING = 4;
  /** Larger ones are slower where other work shares the caches of the processor. */
  private static final int WINDOW = 1 << 16;

  /** Where in a batch the bytes begin that its checksum covers. */
  private static final int CHECKED = 21;

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  /** A part of a scan; it returns the bytes that it went through. */
  private interface Work {
    long run() throws Exception;
  }

  private record Named(String name, Work work) {}

  private final Path segment;
  private final ByteBuffer content;
  private final byte[] copy;
  private final BufferSupplier buffers = BufferSupplier.create();
  private final ByteBuffer window = ByteBuffer.allocateDirect(WINDOW);
  private final byte[] opened = new byte[1 << 16];
  private final BatchRecords records = new BatchRecords(Limits.USUAL);
  private long sum;

  private Bounds(Path segment) throws IOException {
    this.segment = segment;
    content = ByteBuffer.wrap(Files.readAllBytes(segment));
    copy = new byte[content.capacity()];
  }

  public static void main(String[] arguments) throws Exception {
    int rounds = Integer.parseInt(arguments[0]);
    List<Bounds> all = new ArrayList<>();
    for (int index = 1; index < arguments.length; index++) {
      all.add(new Bounds(Path.of(arguments[index])));
    }
    for (int round = -WARMING; round < rounds; round++) {
      for (Bounds bounds : all) {
        bounds.takeTurns(round >= 0);
      }
    }
  }

  private void takeTurns(boolean print) throws Exception {
    for (Named named : works()) {
      long began = THREADS.getCurrentThreadCpuTime();
      sum += named.work().run();
      long took = THREADS.getCurrentThreadCpuTime() - began;
      if (print) {
        System.out.println(segment + " " + named.name() + " " + took / 1e9);
      }
    }
    if (sum == 0) {
      throw new AssertionError("no content in " + segment);
    }
  }

  private List<Named> works() {
    return List.of(
        new Named("read", this::read),
        new Named("copy", this::copied),
        new Named("checksum", this::checksums),
        new Named("decompress", this::decompressed),
        new Named("kafka", this::byKafka),
        new Named("ours", this::byOurs));
  }

  /** The file's bytes out of the page cache, a window at a time. */
  private long read() throws IOException {
    long bytes = 0;
    try (FileChannel channel = FileChannel.open(segment)) {
      for (int count; (count = channel.read(window.clear())) > 0; ) {
        bytes += count;
      }
    }
    return bytes;
  }

  private long copied() {
    System.arraycopy(content.array(), 0, copy, 0, copy.length);
    return copy.length;
  }

  /** CRC-32C of each batch, as the JDK computes it. */
  private long checksums() {
    CRC32C checksum = new CRC32C();
    long bytes = 0;
    for (DefaultRecordBatch batch : batches()) {
      checksum.reset();
      int length = batch.sizeInBytes() - CHECKED;
      checksum.update(content.array(), (int) bytes + CHECKED, length);
      bytes += batch.sizeInBytes();
      sum += checksum.getValue();
    }
    return bytes;
  }

  /** The stream of records of each batch by Kafka's classes, to its end. */
  private long decompressed() throws IOException {
    long bytes = 0;
    for (DefaultRecordBatch batch : batches()) {
      try (InputStream stream = batch.recordInputStream(buffers)) {
        for (int count; (count = stream.read(opened)) > 0; ) {
          bytes += count;
        }
      }
    }
    return bytes;
  }

  /** All keys and values with Kafka's classes, checksums included. */
  private long byKafka() {
    long before = sum;
    for (DefaultRecordBatch batch : batches()) {
      batch.ensureValid();
      try (CloseableIterator<Record> iterator = batch.streamingIterator(buffers)) {
        while (iterator.hasNext()) {
          Record record = iterator.next();
          sum += record.keySize() + record.valueSize();
        }
      }
    }
    return sum - before;
  }

  /** All keys and values with our reader out of the file, checksums included. */
  private long byOurs() throws Exception {
    long before = sum;
    FileRange whole = FileRange.whole(segment.toUri().toString(), SegmentName.of(segment.toString()), content.capacity());
    try (ByteSource source = new LocalFile(segment)) {
      BatchWalker walker = new BatchWalker(source, whole, Limits.USUAL, true);
      while (walker.step() == BatchWalker.Step.BATCH) {
        records.open(walker.header(), walker.batch());
        while (records.next()) {
          sum += records.key().remaining() + records.value().remaining();
        }
      }
    }
    return sum - before;
  }

  private List<DefaultRecordBatch> batches() {
    List<DefaultRecordBatch> found = new ArrayList<>();
    for (RecordBatch batch : MemoryRecords.readableRecords(content.duplicate()).batches()) {
      found.add((DefaultRecordBatch) batch);
    }
    return found;
  }
}
