package casebook.segments;

import java.io.Closeable;
import java.io.IOException;

/** Segments in order: the only one of a file, or those of a bundle. */
public interface Segments extends Closeable {
  /**
   * An open segment.
   *
   * @param range the part to read
   * @param source its bytes
   */
  record Open(FileRange range, ByteSource source) {}

  /** Opens the next one; {@code null} after the last. */
  Open next() throws IOException;
}
