import casebook.segments.FileRange;
import casebook.segments.SegmentName;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.TreeMap;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;

/** What Jazzer calls with bytes that it makes up, in order to reach code that it has not reached yet. */
public final class Jazz {
  private static final String SEGMENT = "t-0/00000000000000000000.log";
  private static final Reading READING = new Reading();

  private Jazz() {}

  /** Reads them as a segment. Most pass for batches as far as the checksum, which is made to fit unless the first byte is odd. */
  public static void fuzzerTestOneInput(byte[] bytes) throws Exception {
    if (bytes.length == 0 || (bytes[0] & 1) == 0) {
      sum(bytes);
    }
    READING.read(bytes, FileRange.whole(SEGMENT, SegmentName.of(SEGMENT), bytes.length), new ArrayList<>(), new TreeMap<>());
  }

  private static void sum(byte[] bytes) {
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    for (int at = 0; bytes.length - at >= 61; at += buffer.getInt(at + 8) + 12) {
      int length = buffer.getInt(at + 8);
      if (length < 49 || length > bytes.length - at - 12) {
        return;
      }
      boolean current = bytes[at + 16] == 2;
      int from = current ? 21 : 16;
      Checksum checksum = current ? new CRC32C() : new CRC32();
      checksum.update(bytes, at + from, length + 12 - from);
      buffer.putInt(at + (current ? 17 : 12), (int) checksum.getValue());
    }
  }
}
