package casebook.segments;

/**
 * Whether the batches of a segment follow each other without a gap, as in a log that was never compacted. If so, the offset of the
 * last batch, which no other batch can contradict, is compared with its time: a jump that producers cannot have filled is a false
 * offset. Compaction may leave a jump of any size, and a time set by producers may stand still. One gap or one unknown time
 * therefore prevents a conclusion.
 */
final class Unbroken {
  /** Number of batches without a gap after which a log counts as uncompacted. */
  private static final int FEWEST = 2;
  /** Offsets a millisecond, several times the highest known rate; {@link #SLACK} more allow for different clocks. */
  private static final long RATE = 10_000;

  private static final long SLACK = 100_000_000;

  private final boolean baseKnown;
  private boolean broken;
  private int batches;
  private long lastTime = -1;

  /** A range that begins inside a segment allows no conclusion: the part before it may have gaps. */
  Unbroken(FileRange range) {
    baseKnown = range.name().base() != null;
    broken = range.start() > 0;
  }

  /** Moves to the next batch. Without a known base, the first one may have any offset. */
  void pass(Header header, long floor) {
    broken |= !follows(header, floor) && (batches > 0 || baseKnown);
    batches++;
    lastTime = header.maxTimestamp;
  }

  /** A wrapper states only its last offset, so it never counts as following. */
  private static boolean follows(Header header, long floor) {
    return header.offset == floor && header.count > header.lastOffsetDelta;
  }

  /** The reason against the offsets of the last batch; {@code null} when there is none. */
  String against(Header header, long floor) {
    if (broken || batches < FEWEST || lastTime < 0 || header.maxTimestamp < 0) {
      return null;
    }
    long jump = header.lastOffset + 1 - floor - Math.max(0, header.count);
    long elapsed = Math.abs(header.maxTimestamp - lastTime);
    return (jump - SLACK) / RATE > elapsed
        ? "its offset " + header.lastOffset + " leaves out " + jump + " behind batches without a gap, more than can have come in " + elapsed + " ms"
        : null;
  }
}
