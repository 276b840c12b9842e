package casebook.segments;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.utils.BufferSupplier;
import org.xerial.snappy.SnappyError;

/** Decompresses by Kafka's own classes into one buffer, which never exceeds its limit, whatever the claimed lengths. */
final class Content {
  private static final int USUAL = 1 << 18;
  private static final int KEPT = 8 << 20;

  private final int limit;
  private final BufferSupplier supplier = BufferSupplier.create();
  private byte[] bytes = {};
  private int filled;

  Content(int limit) {
    this.limit = limit;
  }

  /**
   * Decompresses.
   *
   * @return valid until the next call
   */
  ByteBuffer of(ByteBuffer compressed, int codec, byte magic) throws Undecodable {
    if (codec > CompressionType.ZSTD.id || codec == CompressionType.ZSTD.id && magic < 2) {
      throw new Undecodable("its codec " + codec + " does not exist in format " + magic);
    }
    CompressionType type = CompressionType.forId(codec);
    if (type == CompressionType.SNAPPY) {
      SnappyClaims.check(compressed.duplicate(), limit);
    }
    try (InputStream stream = Compression.of(type).build().wrapForInput(compressed, magic, supplier)) {
      readAll(stream);
    } catch (IOException | RuntimeException | SnappyError error) {
      throw new Undecodable(error);
    }
    return ByteBuffer.wrap(bytes, 0, filled).slice();
  }

  /** Fills the buffer, and may replace it: no caller may keep the old one. */
  private void readAll(InputStream stream) throws IOException, Undecodable {
    if (bytes.length == 0 || bytes.length > KEPT && filled <= KEPT) {
      bytes = new byte[(int) Math.min(USUAL, limit + 1L)];
    }
    filled = 0;
    for (int count; (count = stream.read(bytes, filled, bytes.length - filled)) >= 0; ) {
      filled += count;
      if (filled == bytes.length) {
        grow();
      }
    }
  }

  /** One byte above the limit distinguishes content of exactly the limit from larger content. */
  private void grow() throws Undecodable {
    if (filled > limit) {
      throw beyond(limit);
    }
    bytes = Arrays.copyOf(bytes, (int) Math.min(limit + 1L, 2L * bytes.length));
  }

  static Undecodable beyond(long limit) {
    return new Undecodable("its records take more than " + limit + " bytes decompressed, the reader's limit");
  }
}
