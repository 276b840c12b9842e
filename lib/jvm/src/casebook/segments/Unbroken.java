package casebook.segments;

/**
 * Whether each batch of a segment takes up where the one before it ended, as in a log that nobody compacted. There the last
 * batch, whose offset no other can contradict, is held against its time: a jump that no producer can have filled is a forged
 * offset. Compaction may leave a jump of any size, and a time that producers made up may stand still; so one gap, or a time that
 * is not known, is enough to say nothing.
 */
final class Unbroken {
  /** Batches without a gap that make a log uncompacted. */
  private static final int FEWEST = 2;
  /** Offsets a millisecond, several times what any partition has taken; and how many come on top, as producers' clocks differ. */
  private static final long RATE = 10_000;

  private static final long SLACK = 100_000_000;

  private final boolean baseKnown;
  private boolean broken;
  private int batches;
  private long lastTime = -1;

  /** A range that begins amid a segment says nothing: what lies before it may have gaps. */
  Unbroken(FileRange range) {
    baseKnown = range.name().base() != null;
    broken = range.start() > 0;
  }

  /** Goes on to the next batch. The first one may be anywhere when the segment's base is not known. */
  void pass(Header header, long floor) {
    broken |= !follows(header, floor) && (batches > 0 || baseKnown);
    batches++;
    lastTime = header.maxTimestamp;
  }

  /** A wrapper states its last offset only, so whether it follows is not known. */
  private static boolean follows(Header header, long floor) {
    return header.offset == floor && header.count > header.lastOffsetDelta;
  }

  /** Says what speaks against the offsets of the last batch; {@code null} when nothing does. */
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
