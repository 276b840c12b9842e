package casebook.logs;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.time.ZoneId;
import java.util.ArrayDeque;
import java.util.zip.ZipException;

/**
 * Reads a file, or the part of one between two of its bytes, entry by entry. An entry belongs to the part in which it begins. A
 * part that begins inside an entry leaves the rest of that entry to the part before. Both stop the search after {@link #SEARCHED}
 * bytes without a date; from there, each line counts alone.
 */
public final class LogReader implements Closeable {
  private static final int SEARCHED = 1 << 20;
  static final int MOST_TEXT = 4000;
  private static final Header NOBODY = new Header();

  /** How much of a text is joined where it was wrapped, bytes. */
  static final int LONGEST_FOLDED = 600;

  private final Layouts layouts;
  private final Ident ident = new Ident();
  private final Candidates candidates = new Candidates();
  private final byte[] buffer = new byte[Lines.BUFFER];
  private final Header read = new Header();
  private final Entry entry = new Entry();
  private final ArrayDeque<Event> found = new ArrayDeque<>();
  private final Borders borders = new Borders(candidates);
  private final EntryTyper entryTyper = new EntryTyper(candidates, ident, found);
  private final LineTyper lineTyper = new LineTyper(candidates, ident, found);
  private Lines lines;
  private long start;
  private long end;
  private boolean others;
  private boolean ended;
  private Untyped untyped;
  private Coverage coverage;
  private boolean open;

  /** The previous line without an entry, or the message of the previous one-line entry, if it matches no wording; and its number. */
  private String unknown;

  private long unknownLine;

  /** Header of that message; empty for a line without an entry. */
  private final Header unknownHeader = new Header();

  private long zeros;
  private long firstZeros;

  /**
   * @param zone zone of lines that print none
   * @param layout a regex of {@link GivenLayout}, for lines in a layout that the reader does not recognize; {@code null} where
   * none was given
   */
  public LogReader(ZoneId zone, String layout) {
    layouts = new Layouts(new Clock(zone), layout);
  }

  /**
   * Starts a part of a file, or all of it.
   *
   * @param content the content from byte {@code max(0, start - 1)} on: a line end before the part means that its first line is
   * complete
   * @param start first byte of the part
   * @param end first byte of the next part
   */
  public void begin(Content content, long start, long end) throws IOException {
    lines = new Lines(content.stream(), Math.max(0, start - 1), buffer);
    if (start > 0) {
      lines.skip();
    }
    this.start = start;
    this.end = end;
    layouts.begin(content.order());
    found.clear();
    untyped = new Untyped();
    coverage = Coverage.none(content.doubt());
    others = start > 0;
    open = false;
    unknown = null;
    unknownHeader.clear();
    ended = false;
    zeros = 0;
    firstZeros = 0;
  }

  /** The next event of the part; {@code null} after the last one. */
  public Event next() throws IOException {
    while (found.isEmpty() && !ended) {
      ended = !readLine();
      if (ended) {
        endEntry();
        tellOfZeros();
      }
    }
    return found.poll();
  }

  @Override
  public void close() throws IOException {
    if (lines != null) {
      lines.close();
    }
    lines = null;
  }

  /** Coverage of the part, complete after its last event. */
  public Coverage coverage() {
    return coverage;
  }

  /** The part's entries that match no wording, complete after its last event. */
  public Untyped untyped() {
    return untyped;
  }

  /** Reads a line; {@code false} when the part has no more of them. */
  private boolean readLine() throws IOException {
    if (!nextLine()) {
      zeros += lines.zeros();
      return false;
    }
    boolean ours = lines.offset() < end;
    if (!ours && (!open || lines.offset() >= end + SEARCHED)) {
      return false;
    }
    if (ours && !lines.isContinued()) {
      coverage.lines++;
      count();
    }
    boolean begins = begins();
    if (begins && open && entry.isToldBy(lines, read)) {
      begins = false;
      read.from -= lines.begin();
    }
    if (!begins && open && read.from == 0) {
      read.from = entry.behindPrefix(lines);
    }
    if (begins && !ours) {
      return false;
    }
    others &= !begins && lines.offset() < start + SEARCHED;
    if (begins) {
      coverage.strange += ours && read.time == Header.NO_TIME ? 1 : 0;
      endEntry();
      entry.begin(lines, read, coverage.lines);
      open = true;
    } else if (open && borders.isAnother(entry, lines, read.from)) {
      endEntry();
      open = false;
      others = false;
      if (!ours) {
        return false;
      }
      alone();
    } else if (open && entry.lines < Entry.MOST_LINES) {
      entry.add(lines, read.from);
    } else if (!others && ours) {
      alone();
    }
    return true;
  }

  private void count() {
    if (lines.isUnended()) {
      coverage.damaged("its last line has no end: it was cut, or copied while it was written");
    }
    if (lines.zeros() > 0) {
      zeros += lines.zeros();
      firstZeros = firstZeros == 0 ? coverage.lines : firstZeros;
    }
  }

  private void tellOfZeros() {
    if (zeros > 0) {
      coverage.damaged(zeros + " bytes are zero, from line " + Math.max(1, firstZeros) + " on: what was written there is lost");
    }
  }

  /** Whether the line begins an entry. A line too complex for the patterns belongs to the entry before. */
  private boolean begins() {
    try {
      return layouts.read(lines.bytes(), lines.begin(), lines.end(), read);
    } catch (StackOverflowError intricate) {
      coverage.damaged("line " + coverage.lines + " is too intricate to be read");
      return false;
    }
  }

  private boolean nextLine() throws IOException {
    try {
      return lines.next();
    } catch (EOFException | ZipException damaged) {
      coverage.damaged("its compressed data ends too early or is damaged: " + damaged.getMessage());
      return false;
    } catch (IOException failed) {
      coverage.damaged("it cannot be read to its end: " + failed.getMessage());
      return false;
    }
  }

  /** Types the entry that has ended. */
  private void endEntry() {
    if (!open) {
      return;
    }
    open = false;
    coverage.entries++;
    coverage.dated(entry.header.time);
    coverage.laidOut(entry.header.layout);
    boolean known = typed();
    coverage.typed += known ? 1 : 0;
    String message = entry.message();
    coverage.spoken(ident.speaker(message, entry.header.logger));
    if (!known) {
      untyped.add(entry.header.logger, entry.header.level, message.substring(Ident.end(message)), entry.line);
      unknown = entry.lines == 1 ? message : null;
      unknownLine = entry.line;
      unknownHeader.take(entry.header, 0);
    }
  }

  private boolean typed() {
    try {
      return entryTyper.type(entry);
    } catch (StackOverflowError intricate) {
      coverage.damaged("the entry at line " + entry.line + " is too intricate to be read");
      return false;
    }
  }

  /** Matches a line that belongs to no entry: a wording may be anywhere in it. */
  private void alone() {
    int end = Math.min(lines.end(), lines.begin() + MOST_TEXT);
    String line = new String(lines.bytes(), lines.begin(), end - lines.begin(), UTF_8);
    if (line.isBlank()) {
      return;
    }
    coverage.strange += Layouts.hasTimeAndLevel(lines.bytes(), lines.begin(), lines.end()) || Entry.endsWithLogger(lines) ? 1 : 0;
    boolean known = candidates.find(lines.bytes(), lines.begin(), end) && lineTyper.type(line, coverage.lines, NOBODY) || isFoldedAlone(line);
    unknown = known ? null : line;
    unknownLine = coverage.lines;
    unknownHeader.clear();
    if (known) {
      coverage.typed++;
    } else {
      untyped.add(null, null, line, coverage.lines);
    }
  }

  /** Whether a line ends a wrapped message that the line before it begins. */
  private boolean isFoldedAlone(String line) {
    if (unknown == null || unknownLine != coverage.lines - 1) {
      return false;
    }
    String joined = unknown.stripTrailing() + " " + line.strip();
    byte[] bytes = joined.getBytes(UTF_8);
    return candidates.find(bytes, 0, bytes.length) && lineTyper.type(joined, coverage.lines, unknownHeader);
  }
}
