package casebook.segments;

import java.io.IOException;
import java.nio.ByteBuffer;

/** The part of a file that is in memory. It slides, and grows only to what is asked of it. */
public final class Window {
  /** The most that is read when less is asked for. */
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
   * @param length of the file, as far as it is known
   */
  public Window(ByteSource source, long length) {
    this.source = source;
    chunk = length > 0 ? (int) Math.min(CHUNK, Math.max(Header.LONGEST, length)) : CHUNK;
    readAhead = chunk;
  }

  /** How much to read at once when nothing more is asked for. */
  public void readAhead(int length) {
    readAhead = Math.min(length, chunk);
  }

  /** Promises never to ask for anything before a position. */
  public void forget(long position) {
    floor = position;
  }

  /** Whether a position behind can only be reached by holding all that lies between. */
  boolean forwardOnly() {
    return source.forwardOnly();
  }

  /**
   * Brings bytes into memory.
   *
   * @return how many are there from {@code position} on; fewer than {@code length} only at the end of the file
   */
  public int have(long position, int length) throws IOException {
    if (position < start || position + length > start + filled) {
      slide(position, length);
    }
    return (int) Math.min(Integer.MAX_VALUE, Math.max(0, start + filled - position));
  }

  /** The bytes in memory; {@link #at} tells where a position is. Good until the next {@link #have}. */
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
