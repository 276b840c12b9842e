import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.RecordBatch;

/**
 * Writes a partition for every format and codec, each segment with its offset index. Arguments: a folder, a seed, and the bytes of
 * the records of one batch after the other.
 */
public final class Corpus {
  private Corpus() {}

  public static void main(String[] arguments) throws Exception {
    Random random = new Random(Long.parseLong(arguments[1]));
    int[] contents = Arrays.stream(arguments).skip(2).mapToInt(Integer::parseInt).toArray();
    for (byte magic = 0; magic <= RecordBatch.CURRENT_MAGIC_VALUE; magic++) {
      for (CompressionType codec : CompressionType.values()) {
        Written written = new Written(magic, codec, random.nextBoolean(), true);
        if (written.exists()) {
          write(Path.of(arguments[0], "format." + magic + "." + codec.name + "-0"), written.segment(contents, random));
        }
      }
    }
  }

  private static void write(Path folder, byte[] segment) throws Exception {
    Files.createDirectory(folder);
    String name = String.format("%020d", 0);
    Files.write(folder.resolve(name + ".log"), segment);
    Files.write(folder.resolve(name + ".index"), index(segment));
  }

  /** An entry for every batch but the first: the last offset, relative to the base, and the position. */
  private static byte[] index(byte[] segment) throws Exception {
    ByteArrayOutputStream entries = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(entries);
    ByteBuffer bytes = ByteBuffer.wrap(segment);
    for (int at = bytes.getInt(8) + 12; at < segment.length; at += bytes.getInt(at + 8) + 12) {
      out.writeInt((int) bytes.getLong(at) + (bytes.get(at + 16) == 2 ? bytes.getInt(at + 23) : 0));
      out.writeInt(at);
    }
    return entries.toByteArray();
  }
}
