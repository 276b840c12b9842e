package casebook.segments;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Walks from batch to batch of a segment and returns only complete, checked ones. The bytes between them are reported as damage.
 * After damage, the walk continues at the next batch with a consistent length, offset and checksum.
 *
 * <p>Kafka itself stops at the first bad byte and truncates the rest ({@code LogSegment.recover}). The checksum of a batch does
 * not cover its offset, so the offset counts only if it fits the batches before and after it. In compressed sets of formats 0 and
 * 1, only decompression would find the wrong offset; there, the batch after it may be reported instead.
 */
public final class BatchWalker {
  /** The result of a step. */
  public enum Step {
    BATCH,
    DAMAGE,
    END
  }

  private final Window window;
  private final FileRange range;
  private final Limits limits;
  private final boolean checked;
  private final Checksum checksum = new Checksum();
  private final Header next = new Header();
  private Header header = new Header();
  private Header probe = new Header();
  private Damage damage;
  private long position;
  /** Lower limit for the offsets of all following batches. */
  private long floor;
  /** The same limit by the records of the last batch only, if the batch claims more offsets than records. */
  private long certainFloor;
  private final Unbroken unbroken;
  private long searched;

  /**
   * @param checked compute the checksum of every batch; else only if headers contradict each other
   */
  public BatchWalker(ByteSource source, FileRange range, Limits limits, boolean checked) {
    this.window = new Window(source, range.length());
    this.range = range;
    this.limits = limits;
    this.checked = checked;
    position = range.start();
    floor = range.floor();
    certainFloor = floor;
    unbroken = new Unbroken(range);
  }

  /**
   * Checks for a sound batch at a position.
   *
   * @return its header; {@code null} when there is none
   */
  public static Header headerAt(ByteSource source, FileRange range, long position, Limits limits) throws IOException {
    FileRange rest = new FileRange(range.file(), range.name(), position, range.end(), range.length(), range.floor(), range.ceiling());
    BatchWalker walker = new BatchWalker(source, rest, limits, true);
    walker.window.readAhead(Header.LONGEST);
    return walker.soundBatchAt(position) ? walker.probe : null;
  }

  /** Moves to the next batch or damage. */
  public Step step() throws IOException {
    window.forget(position);
    if (position >= range.end() || window.have(position, 1) == 0) {
      return Step.END;
    }
    String fault = faultAt(position, header, checked);
    boolean whole = fault == null;
    fault = whole ? misplaced(header) : fault;
    fault = fault == null ? contradiction() : fault;
    if (fault != null) {
      skip(fault, whole && checked);
      return Step.DAMAGE;
    }
    unbroken.pass(header, floor);
    position += header.size;
    header.floor = floor;
    floor = header.lastOffset + 1;
    certainFloor = header.count < 0 ? floor : header.offset + header.count;
    if (!checked) {
      window.readAhead(header.size > 8192 ? 4 * Header.LONGEST : Integer.MAX_VALUE);
    }
    return Step.BATCH;
  }

  /** The header of the current batch. */
  public Header header() {
    return header;
  }

  /** The bytes of the current batch, if they are checked. */
  public ByteBuffer batch() throws IOException {
    window.have(header.position, (int) header.size);
    return window.buffer().slice(window.at(header.position), (int) header.size);
  }

  /** The current damage. */
  public Damage damage() {
    return damage;
  }

  /** Reports a batch that has a correct checksum, but no readable records. */
  public Damage undecodable(String reason) {
    return new Damage(header.position, header.size, header.offset, reason, false);
  }

  /** The reason why no sound batch begins at a position; {@code null} when one does. */
  private String faultAt(long at, Header into, boolean compute) throws IOException {
    long room = Math.min(window.have(at, Header.LONGEST), range.end() - at);
    if (room < Header.SHORTEST) {
      return room + " bytes are no header";
    }
    into.read(window.buffer(), window.at(at), (int) Math.min(room, Header.LONGEST), at);
    String fault = implausible(into);
    if (fault != null) {
      return fault;
    }
    int size = (int) into.size;
    if (into.size > range.end() - at || (compute || needsEnd(at, into)) && window.have(at, size) < size) {
      return "its length " + size + " goes beyond the end";
    }
    if (compute && !checksum.fits(window.buffer(), window.at(at), size, into.magic)) {
      return "its checksum does not fit";
    }
    return null;
  }

  /** Whether an unchecked batch reaches the listed end of the file, so that its end must be read. */
  private boolean needsEnd(long at, Header into) {
    return range.last() && at + into.size >= range.length();
  }

  private String implausible(Header found) {
    if (found.magic < 0 || found.magic > 2) {
      return "its format " + found.magic + " does not exist";
    }
    if (found.size < found.least()) {
      return "its length " + found.size + " is too small";
    }
    return oversized(found) ? "its length " + found.size + " is beyond the reader's limit of " + limits.batchBytes() + " bytes" : null;
  }

  private boolean oversized(Header found) {
    return found.size > limits.batchBytes();
  }

  /** The reason why a batch, whose bytes may be sound, cannot be at its place; {@code null} when it can. */
  private String misplaced(Header found) {
    if (!found.countsFit()) {
      return "its counts make no sense";
    }
    if (found.offset < floor) {
      return "its offset " + found.offset + " is below " + floor + ", which comes next";
    }
    return found.lastOffset >= range.ceiling() || found.lastOffset < found.offset
        ? "its offset " + found.offset + " is beyond what the segment can hold"
        : null;
  }

  /** The reason why the claimed offsets of a batch are impossible; {@code null} when nothing contradicts them. */
  private String contradiction() throws IOException {
    if (header.offset == floor && !header.compressed() && header.count > header.lastOffsetDelta) {
      return null; // no gap before it, and none in it
    }
    long behind = header.position + header.size;
    if (checked) {
      window.have(header.position, (int) header.size + Header.LONGEST); // so that the batch stays in the window
    }
    if (!plausibleAt(behind)) {
      return range.last() ? unbroken.against(header, floor) : null;
    }
    return contradictedBy(behind) ? "its offsets, " + header.offset + " to " + header.lastOffset + ", go beyond those of the batches behind it" : null;
  }

  /**
   * Whether the next batch shows that this one's offsets are too large, and the batch after that does not contradict the next one.
   * A batch that continues without a gap is decisive: after the offset before, or by the number of records.
   */
  private boolean contradictedBy(long behind) throws IOException {
    if (next.offset > header.lastOffset || next.offset < floor || !soundAt(behind, next)) {
      return false;
    }
    if (isWrapper(header) && firstOffset(header) == floor) {
      return false; // its records continue the previous ones without a gap
    }
    long first = firstOffset(next);
    if (first < floor || first > next.offset) {
      return false; // the next batch cannot be at its own offset either
    }
    if (next.offset == floor + header.lastOffsetDelta + 1) {
      return true;
    }
    boolean fits = header.count > 0 && next.offset == header.offset + header.count;
    long lastBehind = next.lastOffset;
    long fitting = next.count > 0 ? next.offset + next.count : lastBehind + 1;
    if (!plausibleAt(behind + next.size)) {
      return fits || header.offset > floor;
    }
    return next.offset > lastBehind && firstOffset(next) <= header.lastOffset || fits && next.offset == fitting;
  }

  /** The offset of a batch's first record. A compressed set of formats 0 and 1 states only its last one, so it is decompressed. */
  private long firstOffset(Header of) throws IOException {
    if (!isWrapper(of) || !soundAt(of.position, of)) {
      return of.offset;
    }
    try {
      BatchRecords records = new BatchRecords(limits);
      of.floor = range.floor();
      records.open(of, window.buffer().slice(window.at(of.position), (int) of.size));
      return records.next() ? records.offset() : of.offset;
    } catch (Undecodable error) {
      return of.offset;
    }
  }

  /** Whether a header is of a compressed set of formats 0 and 1, which states only the offset of its last record. */
  private static boolean isWrapper(Header of) {
    return of.magic < 2 && of.compressed();
  }

  private boolean plausibleAt(long at) throws IOException {
    long room = Math.min(window.have(at, Header.LONGEST), range.end() - at);
    if (room < Header.SHORTEST) {
      return false;
    }
    next.read(window.buffer(), window.at(at), (int) Math.min(room, Header.LONGEST), at);
    return implausible(next) == null && next.size <= range.end() - at;
  }

  private boolean soundAt(long at, Header of) throws IOException {
    int size = (int) of.size;
    return window.have(at, size) >= size && checksum.fits(window.buffer(), window.at(at), size, of.magic);
  }

  /**
   * Skips damage up to the next sound batch. Offsets that the batch before it claims beyond its records no longer count, because
   * nothing confirmed them.
   *
   * @param certain the batch is complete, and its fault is not in its bytes
   */
  private void skip(String fault, boolean certain) throws IOException {
    long from = position;
    floor = certainFloor;
    window.readAhead(Integer.MAX_VALUE);
    boolean whole = window.have(from, Header.SHORTEST) >= Header.SHORTEST;
    Long stated = whole && header.offset >= floor && header.offset < range.ceiling() ? header.offset : null;
    long behind = whole ? behind(from) : -1;
    Tail tail = new Tail(from, fault, behind, certain || behind > 0 && oversized(header));
    boolean ends = behind > 0 && soundBatchAt(behind);
    boolean found = search(from + 1, ends ? behind : range.end(), tail);
    if (found || ends) {
      position = found ? probe.position : behind;
      damage = new Damage(from, position - from, stated, tail.limited(fault), false);
    } else {
      position = tail.end();
      boolean torn = range.last() && tail.isTorn(stated != null);
      damage = new Damage(from, position - from, stated, tail.reason(range.last(), stated != null), torn);
    }
  }

  /** End of a damaged batch by its stated length; -1 when that place cannot be read. */
  private long behind(long from) {
    boolean known = header.magic >= 0 && header.magic <= 2;
    boolean there = known && oversized(header) && from + header.size <= range.length() && !window.forwardOnly();
    return there || implausible(header) == null ? from + header.size : -1;
  }

  private boolean soundBatchAt(long at) throws IOException {
    if (at >= range.end() || window.have(at, Header.SHORTEST) < Header.SHORTEST) {
      return false;
    }
    return faultAt(at, probe, true) == null && misplaced(probe) == null;
  }

  /**
   * Tries every position, and records the form of the tail.
   *
   * @param stop the sound batch at the stated end of the damaged one, else the end of the range. Bytes before such a batch may be
   *     part of a record: they count as batches only if these end exactly at {@code stop}
   */
  private boolean search(long from, long stop, Tail tail) throws IOException {
    long at = from;
    window.have(from - 1, 1);
    tail.see(window, from - 1, 1);
    while (at < stop) {
      window.forget(at);
      int room = (int) Math.min(window.have(at, Header.LONGEST), range.end() - at);
      if (room <= 0) {
        break;
      }
      int step = (int) Math.min(stop - at, Math.max(1, Math.min(room - Header.LONGEST, 1 << 16)));
      int hit = candidate(at, step, room);
      tail.see(window, at, hit);
      at += hit;
      if (hit < step && soundCandidate(at, tail) && (stop == range.end() || tiles(at, stop))) {
        return true;
      }
      if (hit < step) {
        window.have(at, 1);
        tail.see(window, at++, 1);
      }
    }
    tail.endAt(at);
    return false;
  }

  private boolean tiles(long from, long stop) throws IOException {
    long at = from;
    while (at < stop && plausibleAt(at)) {
      at += next.size;
    }
    return at == stop;
  }

  /** Distance to the first position that might begin a batch; {@code steps} when none is within that distance. */
  private int candidate(long from, int steps, int room) {
    var buffer = window.buffer();
    int at = window.at(from);
    for (int step = 0; step < steps && room - step >= Header.SHORTEST; step++) {
      byte magic = buffer.get(at + step + 16);
      if (magic >= 0 && magic <= 2) {
        long size = (long) buffer.getInt(at + step + 8) + 12;
        long offset = buffer.getLong(at + step);
        if (size >= 26 && size <= limits.batchBytes() && offset >= floor && offset < range.ceiling()) {
          return step;
        }
      }
    }
    return steps;
  }

  private boolean soundCandidate(long at, Tail tail) throws IOException {
    int size = window.buffer().getInt(window.at(at) + 8) + 12;
    if (range.length() > 0 && at + size > Math.min(range.length(), range.end())) {
      return false;
    }
    if (searched + size > limits.searchBytes()) {
      tail.giveUp();
      return false;
    }
    searched += size;
    return soundBatchAt(at);
  }
}
