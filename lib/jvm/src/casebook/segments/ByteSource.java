package casebook.segments;

import java.io.Closeable;
import java.io.IOException;

/** Bytes of one file, read by position. */
public interface ByteSource extends Closeable {
  /**
   * Reads what is there, waiting for all of it.
   *
   * @return how many bytes; fewer than {@code length} only at the end of the file
   */
  int read(long position, byte[] into, int offset, int length) throws IOException;

  /** Whether only positions behind the last one read can be read. */
  boolean forwardOnly();
}
