package casebook.segments;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.utils.BufferSupplier;
import org.xerial.snappy.SnappyError;

/** Decompresses by Kafka's own classes into one buffer, which never grows beyond its limit whatever lengths are claimed. */
final class Content {
  private static final int USUAL = 1 << 18;
  private static final int KEPT = 8 << 20;

  private final int limit;
  private final BufferSupplier supplier = BufferSupplier.create();
  private byte[] bytes = new byte[USUAL];

  Content(int limit) {
    this.limit = limit;
  }

  /**
   * Decompresses.
   *
   * @return good until the next call
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
      return ByteBuffer.wrap(bytes, 0, readAll(stream)).slice();
    } catch (IOException | RuntimeException | SnappyError error) {
      throw new Undecodable(error);
    }
  }

  private int readAll(InputStream stream) throws IOException, Undecodable {
    int filled = 0;
    if (bytes.length > KEPT) {
      bytes = new byte[USUAL];
    }
    while (true) {
      if (filled == bytes.length) {
        grow();
      }
      int count = stream.read(bytes, filled, bytes.length - filled);
      if (count < 0) {
        return filled;
      }
      filled += count;
    }
  }

  private void grow() throws Undecodable {
    if (bytes.length >= limit) {
      throw new Undecodable("its records take more than " + limit + " bytes decompressed");
    }
    bytes = Arrays.copyOf(bytes, (int) Math.min(limit, 2L * bytes.length));
  }
}
