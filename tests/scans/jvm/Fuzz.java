import casebook.segments.FileRange;
import casebook.segments.SegmentName;
import java.io.ByteArrayOutputStream;
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
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.RecordBatch;

/**
 * Damages segments again and again and reads them with one reader. Arguments: how many files, a seed, which share of them has
 * large batches (one in so many, 0 is none), segments. Says how many it damaged and how often in which way; exits with 1 and the recipe of
 * the first file that was read wrongly.
 */
public final class Fuzz {
  private static final long SLOW = 5_000_000_000L;

  private record Segment(byte[] bytes, FileRange range, List<Reading.Batch> batches) {}

  /** A damaged segment: which batches are still whole in it, and whether the others must be noticed. */
  private record Damaged(byte[] bytes, Set<Reading.Batch> touched, boolean noticeable, String recipe) {}

  /** Bytes of records, in the order in which a file has them: a buffer that grew, or was replaced, meets a small batch. */
  private static final int[][] LARGE = {{200, (1 << 18) + 1, 200, 300, 400}, {100, 1 << 20, 70_000, (9 << 20) + 1, 100, 200}};

  private final Random random;
  private final int share;
  private final Reading reading = new Reading();
  private final List<Segment> segments = new ArrayList<>();
  private final List<Segment> large = new ArrayList<>();
  private final Map<String, Integer> done = new TreeMap<>();

  private Fuzz(long seed, int share) {
    random = new Random(seed);
    this.share = share;
  }

  public static void main(String[] arguments) throws Exception {
    Fuzz fuzz = new Fuzz(Long.parseLong(arguments[1]), Integer.parseInt(arguments[2]));
    for (String path : Arrays.asList(arguments).subList(3, arguments.length)) {
      fuzz.add(path, Files.readAllBytes(Path.of(path)), fuzz.segments);
    }
    if (fuzz.share > 0) {
      fuzz.addLarge();
    }
    for (int file = 0; file < Integer.parseInt(arguments[0]); file++) {
      fuzz.damageOne(file);
    }
    System.out.println(fuzz.done);
  }

  private void addLarge() throws Exception {
    for (byte magic = 0; magic <= RecordBatch.CURRENT_MAGIC_VALUE; magic++) {
      for (CompressionType codec : CompressionType.values()) {
        for (int[] sizes : LARGE) {
          Written written = new Written(magic, codec, random.nextBoolean(), true);
          if (written.exists() && (codec != CompressionType.NONE || sizes == LARGE[0])) { // little memory
            add(String.format("large-0/%020d.log", 0), written.segment(sizes, random), large);
          }
        }
      }
    }
  }

  private void add(String path, byte[] bytes, List<Segment> to) throws Exception {
    FileRange range = FileRange.whole(path, SegmentName.of(path), bytes.length);
    List<Reading.Batch> batches = new ArrayList<>();
    Map<Long, Integer> found = new TreeMap<>();
    if (reading.read(bytes, range, batches, found) > 0 || found.isEmpty()) {
      throw new AssertionError(path + " is damaged or empty before anybody damaged it");
    }
    to.add(new Segment(bytes, range, batches));
  }

  private void damageOne(int number) throws Exception {
    List<Segment> from = share > 0 && number % share == 0 ? large : segments;
    Segment segment = from.get(random.nextInt(from.size()));
    Damaged damaged = damage(segment);
    String recipe = "file " + number + " of " + segment.range.file() + ": " + damaged.recipe;
    long since = System.nanoTime();
    Map<Long, Integer> found = new TreeMap<>();
    int damages;
    try {
      damages = reading.read(damaged.bytes, segment.range, new ArrayList<>(), found);
    } catch (Throwable error) {
      throw new AssertionError(recipe, error);
    }
    Reading.require(System.nanoTime() - since < SLOW, recipe + ": too slow");
    for (Reading.Batch batch : segment.batches) {
      if (!damaged.touched.contains(batch)) {
        Reading.require(found.entrySet().containsAll(batch.records().entrySet()), recipe + ": lost the batch at " + batch.start());
      }
    }
    Reading.require(!damaged.noticeable || damages > 0, recipe + ": not noticed");
    done.merge(damaged.recipe.split(" ")[0], 1, Integer::sum);
  }

  private Damaged damage(Segment segment) {
    byte[] bytes = segment.bytes.clone();
    Reading.Batch batch = segment.batches.get(random.nextInt(segment.batches.size()));
    int at = random.nextInt(bytes.length);
    return switch (random.nextInt(10)) {
      case 0 -> flipped(segment, bytes, at);
      case 1 -> lengthForged(bytes, batch);
      case 2 -> truncated(segment, bytes, at);
      case 3 -> filled(segment, bytes, at, false);
      case 4 -> filled(segment, bytes, at, true);
      case 5 -> inserted(segment, bytes);
      case 6 -> offsetForged(segment, bytes, batch);
      case 7 -> claimForged(segment, bytes, batch);
      case 8 -> repaired(bytes, batch, batch.start() + bodyStart(batch) + random.nextInt(batch.end() - batch.start() - bodyStart(batch)));
      default -> repaired(bytes, batch, batch.start() + bodyStart(batch) + random.nextInt(Math.min(48, batch.end() - batch.start() - bodyStart(batch))));
    };
  }

  private Damaged flipped(Segment segment, byte[] bytes, int at) {
    bytes[at] ^= (byte) (1 + random.nextInt(255));
    Set<Reading.Batch> touched = touched(segment, at, at + 1);
    Reading.Batch batch = touched.iterator().next();
    boolean checked = at - batch.start() >= 16 || at - batch.start() >= 8 && at - batch.start() < (batch.magic() == 2 ? 12 : 16);
    return new Damaged(bytes, at - batch.start() < 8 ? blamed(segment, batch) : touched, checked, "flipped byte " + at);
  }

  private Damaged lengthForged(byte[] bytes, Reading.Batch batch) {
    int size = batch.end() - batch.start() - 12;
    int[] lengths = {0, -1, 5, size - 1, size + 1, Integer.MAX_VALUE, bytes.length - batch.start() - 12, random.nextInt(), random.nextInt(100_000)};
    int length = lengths[random.nextInt(lengths.length)];
    ByteBuffer.wrap(bytes).putInt(batch.start() + 8, length);
    return new Damaged(bytes, Set.of(batch), length != size, "length of " + length + " at " + batch.start());
  }

  private Damaged truncated(Segment segment, byte[] bytes, int at) {
    boolean inside = segment.batches.stream().anyMatch(batch -> batch.start() < at && at < batch.end());
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
    boolean header = touched(segment, at, end).size() == 1 && end - touched(segment, at, end).iterator().next().start() <= 16;
    return new Damaged(bytes, touched(segment, at, end), !same && !header, (garbage ? "garbage" : "zeros") + " from " + at + " to " + end);
  }

  private Damaged inserted(Segment segment, byte[] bytes) {
    int at = segment.batches.get(random.nextInt(segment.batches.size())).start();
    Reading.Batch copied = segment.batches.get(random.nextInt(segment.batches.size()));
    byte[] more = random.nextBoolean() ? Arrays.copyOfRange(bytes, copied.start(), copied.end()) : new byte[1 + random.nextInt(500)];
    byte[] all = new byte[bytes.length + more.length];
    System.arraycopy(bytes, 0, all, 0, at);
    System.arraycopy(more, 0, all, at, more.length);
    System.arraycopy(bytes, at, all, at + more.length, bytes.length - at);
    return new Damaged(all, Set.of(), true, "inserted " + more.length + " bytes at " + at + " from " + copied.start());
  }

  /** Offsets are outside the checksum. The last one can be anything that the segment and the time allow. */
  private Damaged offsetForged(Segment segment, byte[] bytes, Reading.Batch batch) {
    int index = segment.batches.indexOf(batch);
    long offset = ByteBuffer.wrap(bytes).getLong(batch.start());
    long most = segment.range.ceiling() - 100_000;
    long before = segment.batches.get(Math.max(0, index - 1)).records().keySet().iterator().next(); // as if the batch before had one record
    long[] offsets = {0, -1, offset - 1, offset + 1, offset + 1000, Long.MAX_VALUE, random.nextLong(), random.nextInt(1 << 20), most, 1L << 31, before + 1};
    long forged = offsets[random.nextInt(offsets.length)];
    ByteBuffer.wrap(bytes).putLong(batch.start(), forged);
    boolean wrapper = batch.magic() < 2 && batch.compressed();
    boolean last = index == segment.batches.size() - 1;
    boolean impossible = forged >= segment.range.ceiling() || forged >= most && index > 1 && batch.magic() > 0;
    boolean noticeable = forged != offset && !wrapper && (!last || impossible);
    return new Damaged(bytes, blamed(segment, batch), noticeable, "offset " + forged + " instead of " + offset + " at " + batch.start());
  }

  /** A count of offsets under a checksum that fits. The last batch may claim what it likes. */
  private Damaged claimForged(Segment segment, byte[] bytes, Reading.Batch batch) {
    if (batch.magic() < 2) {
      return offsetForged(segment, bytes, batch);
    }
    int claim = ByteBuffer.wrap(bytes).getInt(batch.start() + 23);
    int[] claims = {0, -1, claim - 1, claim + 1, claim + 1000, 1_000_000_000, Integer.MAX_VALUE, random.nextInt(), random.nextInt(1 << 20)};
    int forged = claims[random.nextInt(claims.length)];
    ByteBuffer.wrap(bytes).putInt(batch.start() + 23, forged);
    sum(bytes, batch);
    boolean last = segment.batches.indexOf(batch) == segment.batches.size() - 1;
    return new Damaged(bytes, Set.of(batch), forged != claim && (!last || forged < claim), "claim of " + forged + " offsets at " + batch.start());
  }

  /** Whom a forged offset may be blamed on: the batch, and the one that follows when one of them is a wrapper. */
  private static Set<Reading.Batch> blamed(Segment segment, Reading.Batch batch) {
    int index = segment.batches.indexOf(batch);
    List<Reading.Batch> both = segment.batches.subList(index, Math.min(index + 2, segment.batches.size()));
    return both.stream().anyMatch(one -> one.magic() < 2 && one.compressed()) ? Set.copyOf(both) : Set.of(batch);
  }

  /** Hostile bytes under a checksum that fits. */
  private Damaged repaired(byte[] bytes, Reading.Batch batch, int at) {
    byte[][] hostile = {{-1, -1, -1, -1, 15}, {-2, -1, -1, -1, 15}, {127, -1, -1, -1}, {-128, 0, 0, 0}, {0, 0, 0, 0}, {(byte) random.nextInt()}};
    byte[] chosen = hostile[random.nextInt(hostile.length)];
    System.arraycopy(chosen, 0, bytes, at, Math.min(chosen.length, batch.end() - at));
    sum(bytes, batch);
    return new Damaged(bytes, Set.of(batch), false, "repaired after " + Arrays.toString(chosen) + " at " + at);
  }

  private static void sum(byte[] bytes, Reading.Batch batch) {
    int from = batch.magic() == 2 ? 21 : 16;
    Checksum checksum = batch.magic() == 2 ? new CRC32C() : new CRC32();
    checksum.update(bytes, batch.start() + from, batch.end() - batch.start() - from);
    ByteBuffer.wrap(bytes).putInt(batch.start() + (batch.magic() == 2 ? 17 : 12), (int) checksum.getValue());
  }

  /** From the attributes on, which the checksum covers, without the count of offsets: forged, it forges offsets. */
  private static int bodyStart(Reading.Batch batch) {
    return batch.magic() == 2 ? 57 : 17;
  }

  private static Set<Reading.Batch> touched(Segment segment, int from, int to) {
    return Set.copyOf(segment.batches.stream().filter(batch -> batch.start() < to && from < batch.end()).toList());
  }
}
