package casebook.segments;

import java.io.IOException;
import java.nio.ByteBuffer;

/** The part of a file that is in memory. It slides, and grows only to the requested size. */
public final class Window {
  /** The most that is read for a smaller request. */
  static final int CHUNK = 1 << 20;

  private static final int KEPT = 8 << 20;

  private final ByteSource source;
  private final int chunk;
  private byte[] bytes = {};
  private ByteBuffer buffer = ByteBuffer.wrap(bytes);
  private long start;
  private int filled;
  private long floor;
  private int readAhead;

  /**
   * @param length of the file, if known
   */
  public Window(ByteSource source, long length) {
    this.source = source;
    chunk = length > 0 ? (int) Math.min(CHUNK, Math.max(Header.LONGEST, length)) : CHUNK;
    readAhead = chunk;
  }

  /** Sets the amount to read at once for a smaller request. */
  public void readAhead(int length) {
    readAhead = Math.min(length, chunk);
  }

  /** Promises that no later request begins before a position. */
  public void forget(long position) {
    floor = position;
  }

  /** Whether a later position can be reached only with all bytes before it in memory. */
  boolean forwardOnly() {
    return source.forwardOnly();
  }

  /**
   * Reads bytes into memory.
   *
   * @return number of bytes from {@code position} on; fewer than {@code length} only at the end of the file
   */
  public int have(long position, int length) throws IOException {
    if (position < start || position + length > start + filled) {
      slide(position, length);
    }
    return (int) Math.min(Integer.MAX_VALUE, Math.max(0, start + filled - position));
  }

  /** The bytes in memory; {@link #at} gives the index of a position. Valid until the next {@link #have}. */
  public ByteBuffer buffer() {
    return buffer;
  }

  public int at(long position) {
    return (int) (position - start);
  }

  private void slide(long position, int length) throws IOException {
    long keep = source.forwardOnly() ? Math.max(start, Math.min(floor, position)) : position;
    int wanted = Math.toIntExact(position - keep + Math.max(length, readAhead));
    int kept = keep >= start && keep < start + filled ? (int) (start + filled - keep) : 0;
    move(keep, kept, wanted);
    while (filled < wanted) {
      int count = source.read(start + filled, bytes, filled, wanted - filled);
      filled += count;
      if (count == 0) {
        return;
      }
    }
  }

  private void move(long keep, int kept, int wanted) {
    byte[] target = wanted > bytes.length || (bytes.length > KEPT && wanted <= chunk) ? new byte[Math.max(chunk, wanted)] : bytes;
    if (kept > 0) {
      System.arraycopy(bytes, (int) (keep - start), target, 0, kept);
    }
    if (target != bytes) {
      bytes = target;
      buffer = ByteBuffer.wrap(bytes);
    }
    start = keep;
    filled = kept;
  }
}
