package casebook.segments;

import java.io.Closeable;
import java.io.IOException;

/** One segment after the other: a file's only one, or those packed in a bundle. */
public interface Segments extends Closeable {
  /**
   * A segment that is open.
   *
   * @param range what to read of it
   * @param source its bytes
   */
  record Open(FileRange range, ByteSource source) {}

  /** Opens the next one; {@code null} behind the last. */
  Open next() throws IOException;
}
