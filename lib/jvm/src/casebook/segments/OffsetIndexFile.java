package casebook.segments;

import java.nio.ByteBuffer;
import java.util.function.IntPredicate;

/**
 * An offset index ({@code core/log/OffsetIndex.scala@0.9.0.1}): sparse pairs of relative offset and position, ascending, and zeros
 * after them while the segment is active. An entry counts only after the segment itself has confirmed it.
 */
public final class OffsetIndexFile {
  private static final int ENTRY = 8;

  private final ByteBuffer entries;
  private final long base;
  private final int count;

  public OffsetIndexFile(byte[] content, long base) {
    entries = ByteBuffer.wrap(content);
    this.base = base;
    count = ascending(content.length / ENTRY);
  }

  private int ascending(int most) {
    int index = 0;
    while (index < most && (index == 0 || offset(index) > offset(index - 1) && position(index) > position(index - 1))) {
      index++;
    }
    return index;
  }

  /** The first entry whose position is this or later. */
  public int entryAt(long position) {
    return first(index -> position(index) >= position);
  }

  /** The last entry whose offset is this or lower; -1 when there is none. */
  public int entryUpTo(long offset) {
    return first(index -> offset(index) > offset) - 1;
  }

  public int count() {
    return count;
  }

  /**
   * Whether a batch at an entry's position has offsets that the entry and its neighbours allow. Up to 1.1, the entry has the first
   * offset of the append; from 2.0 on, the last.
   */
  public boolean allows(int index, Header header) {
    int bound = header.count < 0 ? index + 1 : index;
    return (index == 0 || header.lastOffset > offset(index - 1)) && (bound >= count || header.offset <= offset(bound));
  }

  public long position(int index) {
    return Integer.toUnsignedLong(entries.getInt(index * ENTRY + 4));
  }

  private int first(IntPredicate holds) {
    int from = 0;
    int to = count;
    while (from < to) {
      int middle = (from + to) >>> 1;
      if (holds.test(middle)) {
        to = middle;
      } else {
        from = middle + 1;
      }
    }
    return from;
  }

  private long offset(int index) {
    return base + Integer.toUnsignedLong(entries.getInt(index * ENTRY));
  }
}
