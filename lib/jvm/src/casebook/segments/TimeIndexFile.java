package casebook.segments;

import java.nio.ByteBuffer;

/**
 * A time index ({@code storage/internals/log/TimeIndex.java@3.9.0-rc3}): pairs of the largest timestamp so far and its
 * relative offset, both ascending.
 */
public final class TimeIndexFile {
  private static final int ENTRY = 12;

  private final ByteBuffer entries;
  private final long base;

  public TimeIndexFile(byte[] content, long base) {
    entries = ByteBuffer.wrap(content);
    this.base = base;
  }

  /** The first offset that may have a record of this time or later. */
  public long firstOffsetFrom(long milliseconds) {
    long first = base;
    long lastTime = Long.MIN_VALUE;
    long lastOffset = -1;
    for (int at = 0; at + ENTRY <= entries.capacity(); at += ENTRY) {
      long time = entries.getLong(at);
      long offset = Integer.toUnsignedLong(entries.getInt(at + 8));
      if (time >= milliseconds || time <= lastTime || offset <= lastOffset) {
        break;
      }
      first = base + offset + 1;
      lastTime = time;
      lastOffset = offset;
    }
    return first;
  }
}
