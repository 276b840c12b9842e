package casebook.segments;

import java.io.Serializable;

/**
 * Part of a segment file that begins and ends where a batch does.
 *
 * @param file its URI
 * @param name topic, partition and base offset from its path
 * @param start position of the first batch
 * @param end position after the last one; {@link Long#MAX_VALUE} is the end of the file
 * @param length of the whole file when it was listed
 * @param floor no batch has a lower offset
 * @param ceiling all batches have lower offsets
 */
public record FileRange(String file, SegmentName name, long start, long end, long length, long floor, long ceiling)
    implements Serializable {
  private static final long OFFSETS = 1L << 31;

  /** A whole segment: its offsets are relative to its base in an int ({@code OffsetIndex.scala@0.9.0.1}). */
  public static FileRange whole(String file, SegmentName name, long length) {
    long floor = name.base() == null ? 0 : name.base();
    long ceiling = name.base() == null || floor > Long.MAX_VALUE - OFFSETS ? Long.MAX_VALUE : floor + OFFSETS;
    return new FileRange(file, name, 0, Long.MAX_VALUE, length, floor, ceiling);
  }

  /** The part before a batch. */
  public FileRange before(Header header) {
    return new FileRange(file, name, start, header.position, length, floor, header.offset);
  }

  /** The part from a batch on. The header of a wrapper has the offset of its last message. */
  public FileRange from(Header header) {
    return new FileRange(file, name, header.position, end, length, header.count < 0 ? floor : header.offset, ceiling);
  }

  /** Whether it ends at the end of the file. */
  public boolean last() {
    return end == Long.MAX_VALUE;
  }
}
