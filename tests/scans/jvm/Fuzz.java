import casebook.segments.BatchRecords;
import casebook.segments.BatchWalker;
import casebook.segments.ByteSource;
import casebook.segments.FileRange;
import casebook.segments.Header;
import casebook.segments.Limits;
import casebook.segments.SegmentName;
import casebook.segments.Undecodable;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.Record;

/**
 * Damages segments again and again and reads them. Arguments: how many files, a seed, segments. Says how many it damaged and
 * how often in which way; exits with 1 and the recipe of the first file that was read wrongly.
 */
public final class Fuzz {
  private static final Limits LIMITS = new Limits(4 << 20, 4 << 20, 1 << 26);
  private static final long SLOW = 5_000_000_000L;

  /** A batch of the original, with what its records say. */
  private record Batch(int start, int end, int magic, boolean compressed, Map<Long, Integer> records) {}

  private record Segment(byte[] bytes, FileRange range, List<Batch> batches) {}

  /** A damaged segment: which batches are still whole in it, and whether the others must be noticed. */
  private record Damaged(byte[] bytes, Set<Batch> touched, boolean noticeable, String recipe) {}

  private final Random random;
  private final List<Segment> segments = new ArrayList<>();
  private final Map<String, Integer> done = new TreeMap<>();

  private Fuzz(long seed) {
    random = new Random(seed);
  }

  public static void main(String[] arguments) throws Exception {
    Fuzz fuzz = new Fuzz(Long.parseLong(arguments[1]));
    for (String path : Arrays.asList(arguments).subList(2, arguments.length)) {
      fuzz.add(path);
    }
    for (int file = 0; file < Integer.parseInt(arguments[0]); file++) {
      fuzz.damageOne(file);
    }
    System.out.println(fuzz.done);
  }

  private void add(String path) throws Exception {
    byte[] bytes = Files.readAllBytes(Path.of(path));
    FileRange range = FileRange.whole(path, SegmentName.of(path), bytes.length);
    List<Batch> batches = new ArrayList<>();
    Map<Long, Integer> found = new TreeMap<>();
    if (read(bytes, range, batches, found) > 0 || found.isEmpty()) {
      throw new AssertionError(path + " is damaged or empty before anybody damaged it");
    }
    segments.add(new Segment(bytes, range, batches));
  }

  private void damageOne(int number) throws Exception {
    Segment segment = segments.get(random.nextInt(segments.size()));
    Damaged damaged = damage(segment);
    String recipe = "file " + number + " of " + segment.range.file() + ": " + damaged.recipe;
    long since = System.nanoTime();
    Map<Long, Integer> found = new TreeMap<>();
    int damages;
    try {
      damages = read(damaged.bytes, segment.range, new ArrayList<>(), found);
    } catch (Throwable error) {
      throw new AssertionError(recipe, error);
    }
    require(System.nanoTime() - since < SLOW, recipe + ": too slow");
    for (Batch batch : segment.batches) {
      if (!damaged.touched.contains(batch)) {
        require(found.entrySet().containsAll(batch.records.entrySet()), recipe + ": lost the batch at " + batch.start);
      }
    }
    require(!damaged.noticeable || damages > 0, recipe + ": not noticed");
    done.merge(damaged.recipe.split(" ")[0], 1, Integer::sum);
  }

  private static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }

  /** Reads all of a file; every byte must belong to a batch or to a damage. */
  private static int read(byte[] bytes, FileRange range, List<Batch> batches, Map<Long, Integer> found) throws Exception {
    FileRange now = new FileRange(range.file(), range.name(), 0, range.end(), bytes.length, range.floor(), range.ceiling());
    BatchWalker walker = new BatchWalker(new InMemory(bytes), now, LIMITS, true);
    BatchRecords records = new BatchRecords(LIMITS);
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
        require(walker.damage().tail() == (position == bytes.length), "tail or not: " + walker.damage());
        damages++;
        continue;
      }
      Header header = walker.header();
      require(header.position == position, "gap before the batch at " + header.position);
      position += header.size;
      try {
        Map<Long, Integer> inside = contents(records, header, walker.batch());
        batches.add(new Batch((int) header.position, (int) position, header.magic, header.compressed(), inside));
        found.putAll(inside);
      } catch (Undecodable error) {
        damages++;
      }
    }
  }

  private static Map<Long, Integer> contents(BatchRecords records, Header header, ByteBuffer batch) throws Undecodable {
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

  private Damaged damage(Segment segment) {
    byte[] bytes = segment.bytes.clone();
    Batch batch = segment.batches.get(random.nextInt(segment.batches.size()));
    int at = random.nextInt(bytes.length);
    return switch (random.nextInt(9)) {
      case 0 -> flipped(segment, bytes, at);
      case 1 -> lengthForged(bytes, batch);
      case 2 -> truncated(segment, bytes, at);
      case 3 -> filled(segment, bytes, at, false);
      case 4 -> filled(segment, bytes, at, true);
      case 5 -> inserted(segment, bytes);
      case 6 -> offsetForged(segment, bytes, batch);
      case 7 -> repaired(bytes, batch, batch.start + bodyStart(batch) + random.nextInt(batch.end - batch.start - bodyStart(batch)));
      default -> repaired(bytes, batch, batch.start + bodyStart(batch) + random.nextInt(Math.min(48, batch.end - batch.start - bodyStart(batch))));
    };
  }

  private Damaged flipped(Segment segment, byte[] bytes, int at) {
    bytes[at] ^= (byte) (1 + random.nextInt(255));
    Set<Batch> touched = touched(segment, at, at + 1);
    Batch batch = touched.iterator().next();
    boolean checked = at - batch.start >= 16 || at - batch.start >= 8 && at - batch.start < (batch.magic == 2 ? 12 : 16);
    return new Damaged(bytes, at - batch.start < 8 ? blamed(segment, batch) : touched, checked, "flipped byte " + at);
  }

  private Damaged lengthForged(byte[] bytes, Batch batch) {
    int size = batch.end - batch.start - 12;
    int[] lengths = {0, -1, 5, size - 1, size + 1, Integer.MAX_VALUE, bytes.length - batch.start - 12, random.nextInt(), random.nextInt(100_000)};
    int length = lengths[random.nextInt(lengths.length)];
    ByteBuffer.wrap(bytes).putInt(batch.start + 8, length);
    return new Damaged(bytes, Set.of(batch), length != size, "length of " + length + " at " + batch.start);
  }

  private Damaged truncated(Segment segment, byte[] bytes, int at) {
    boolean inside = segment.batches.stream().anyMatch(batch -> batch.start < at && at < batch.end);
    return new Damaged(Arrays.copyOf(bytes, at), touched(segment, at, bytes.length), inside, "truncated to " + at);
  }

  private Damaged filled(Segment segment, byte[] bytes, int at, boolean garbage) {
    int end = Math.min(bytes.length, at + 1 + random.nextInt(3000));
    byte[] fill = new byte[end - at];
    if (garbage) {
      random.nextBytes(fill);
    }
    boolean same = Arrays.equals(fill, 0, fill.length, bytes, at, end);
    System.arraycopy(fill, 0, bytes, at, fill.length);
    boolean header = touched(segment, at, end).size() == 1 && end - touched(segment, at, end).iterator().next().start <= 16;
    return new Damaged(bytes, touched(segment, at, end), !same && !header, (garbage ? "garbage" : "zeros") + " from " + at + " to " + end);
  }

  private Damaged inserted(Segment segment, byte[] bytes) {
    int at = segment.batches.get(random.nextInt(segment.batches.size())).start;
    Batch copied = segment.batches.get(random.nextInt(segment.batches.size()));
    byte[] more = random.nextBoolean() ? Arrays.copyOfRange(bytes, copied.start, copied.end) : new byte[1 + random.nextInt(500)];
    byte[] all = new byte[bytes.length + more.length];
    System.arraycopy(bytes, 0, all, 0, at);
    System.arraycopy(more, 0, all, at, more.length);
    System.arraycopy(bytes, at, all, at + more.length, bytes.length - at);
    return new Damaged(all, Set.of(), true, "inserted " + more.length + " bytes at " + at + " from " + copied.start);
  }

  /** Offsets are outside the checksum. The last one can be anything. */
  private Damaged offsetForged(Segment segment, byte[] bytes, Batch batch) {
    int index = segment.batches.indexOf(batch);
    long offset = ByteBuffer.wrap(bytes).getLong(batch.start);
    long[] offsets = {0, -1, offset - 1, offset + 1, offset + 1000, Long.MAX_VALUE, random.nextLong(), random.nextInt(1 << 20)};
    long forged = offsets[random.nextInt(offsets.length)];
    ByteBuffer.wrap(bytes).putLong(batch.start, forged);
    boolean wrapper = batch.magic < 2 && batch.compressed;
    boolean noticeable = forged != offset && index < segment.batches.size() - 1 && !wrapper;
    return new Damaged(bytes, blamed(segment, batch), noticeable, "offset " + forged + " instead of " + offset + " at " + batch.start);
  }

  /** Whom a forged offset may be blamed on: the batch, and the one that follows when one of them is a wrapper. */
  private static Set<Batch> blamed(Segment segment, Batch batch) {
    int index = segment.batches.indexOf(batch);
    List<Batch> both = segment.batches.subList(index, Math.min(index + 2, segment.batches.size()));
    return both.stream().anyMatch(one -> one.magic < 2 && one.compressed) ? Set.copyOf(both) : Set.of(batch);
  }

  /** Hostile bytes under a checksum that fits. */
  private Damaged repaired(byte[] bytes, Batch batch, int at) {
    byte[][] hostile = {{-1, -1, -1, -1, 15}, {-2, -1, -1, -1, 15}, {127, -1, -1, -1}, {-128, 0, 0, 0}, {0, 0, 0, 0}, {(byte) random.nextInt()}};
    byte[] chosen = hostile[random.nextInt(hostile.length)];
    System.arraycopy(chosen, 0, bytes, at, Math.min(chosen.length, batch.end - at));
    int from = batch.magic == 2 ? 21 : 16;
    Checksum checksum = batch.magic == 2 ? new CRC32C() : new CRC32();
    checksum.update(bytes, batch.start + from, batch.end - batch.start - from);
    ByteBuffer.wrap(bytes).putInt(batch.start + (batch.magic == 2 ? 17 : 12), (int) checksum.getValue());
    return new Damaged(bytes, Set.of(batch), false, "repaired after " + Arrays.toString(chosen) + " at " + at);
  }

  /** From the attributes on, which the checksum covers, without the count of offsets: forged, it forges offsets. */
  private static int bodyStart(Batch batch) {
    return batch.magic == 2 ? 57 : 17;
  }

  private static Set<Batch> touched(Segment segment, int from, int to) {
    return Set.copyOf(segment.batches.stream().filter(batch -> batch.start < to && from < batch.end).toList());
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
}
