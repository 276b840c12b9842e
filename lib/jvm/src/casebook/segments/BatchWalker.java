package casebook.segments;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Walks from batch to batch of a segment and lets only whole, checked ones through. What lies between them is reported as
 * damage, and the walk goes on at the next batch whose length, offset and checksum fit.
 *
 * <p>Kafka itself stops at the first bad byte and cuts the rest off ({@code LogSegment.recover}). An offset is outside its
 * batch's checksum: it is believed when it fits those before and behind it. Where only decompression would tell, in compressed
 * sets of formats 0 and 1, the one behind may be blamed.
 */
public final class BatchWalker {
  /** What a step found. */
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
  /** No batch that follows has an offset below. */
  private long floor;
  /** The same by the records of the last batch alone, if it claims more offsets. */
  private long certainFloor;
  private final Unbroken unbroken;
  private long searched;

  /**
   * @param checked compute the checksum of every batch; else only where headers contradict each other
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
   * Looks whether a sound batch begins at a position.
   *
   * @return its header; {@code null} when there is none
   */
  public static Header headerAt(ByteSource source, FileRange range, long position, Limits limits) throws IOException {
    FileRange rest = new FileRange(range.file(), range.name(), position, range.end(), range.length(), range.floor(), range.ceiling());
    BatchWalker walker = new BatchWalker(source, rest, limits, true);
    walker.window.readAhead(Header.LONGEST);
    return walker.soundBatchAt(position) ? walker.probe : null;
  }

  /** Goes on to the next batch or damage. */
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

  /** The batch that was found. */
  public Header header() {
    return header;
  }

  /** The bytes of the batch that was found, when they are checked. */
  public ByteBuffer batch() throws IOException {
    window.have(header.position, (int) header.size);
    return window.buffer().slice(window.at(header.position), (int) header.size);
  }

  /** The damage that was found. */
  public Damage damage() {
    return damage;
  }

  /** Reports a batch that fits its checksum and yet has no readable records. */
  public Damage undecodable(String reason) {
    return new Damage(header.position, header.size, header.offset, reason, false);
  }

  /** Says why no sound batch begins at a position; {@code null} when one does. */
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

  /** Whether a header that is not checked ends so near to the end of the file that this must be looked at. */
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

  /** Says why a batch whose bytes may be sound cannot be where it is; {@code null} when it can. */
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

  /** Says why the offsets that a batch claims cannot be; {@code null} when nothing speaks against them. */
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
   * Whether the batch behind says that this one's offsets are too large, and is not itself contradicted by the one behind it.
   * Where one behind the other fits without a gap, that is it: by the offset before, or by the number of records.
   */
  private boolean contradictedBy(long behind) throws IOException {
    if (next.offset > header.lastOffset || next.offset < floor || !soundAt(behind, next)) {
      return false;
    }
    if (isWrapper(header) && firstOffset(header) == floor) {
      return false; // its records take up where those before it ended
    }
    long first = firstOffset(next);
    if (first < floor || first > next.offset) {
      return false; // the one behind cannot be where it says either
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

  /** The offset of a batch's first record, for which a compressed set of formats 0 and 1 is opened, as it states that of its last. */
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

  /** Whether a header is of a compressed set of formats 0 and 1, which states the offset of its last record only. */
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
   * Passes over damage, as far as the next sound batch. What the batch before it claims beyond its records is no longer believed,
   * as nothing confirmed it.
   *
   * @param certain the batch is whole, and its fault not one of bytes
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

  /** Where a damaged batch ends, as its length says; -1 when that cannot be looked at. */
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
   * Tries every position. Remembers on the way what a tail looks like.
   *
   * @param stop a sound batch, as the length in front of the damage says; what lies before it may be in a record, and is only
   *     believed to be batches when they end just there. Else the end
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

  /** How far on is the first position that might begin a batch; {@code steps} when there is none so near. */
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
