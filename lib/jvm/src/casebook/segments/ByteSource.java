package casebook.segments;

import java.io.Closeable;
import java.io.IOException;

/** Bytes of one file, read by position. */
public interface ByteSource extends Closeable {
  /**
   * Reads the bytes at a position, and waits for all of them.
   *
   * @return number of bytes; fewer than {@code length} only at the end of the file
   */
  int read(long position, byte[] into, int offset, int length) throws IOException;

  /** Whether only positions after the last read one can be read. */
  boolean forwardOnly();
}
