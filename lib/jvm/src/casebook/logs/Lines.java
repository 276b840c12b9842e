package casebook.logs;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/**
 * The lines of a stream as parts of a buffer, each valid until the next one; of very long lines only the beginning.
 *
 * <p>Zeros within a line stand where something else was written: a file system that lost power, or a file that was emptied while it
 * was open, leaves them. What stands before them and behind them are lines of their own, with one number.
 */
final class Lines implements Closeable {
  /** Bytes of a line that are kept. */
  static final int LONGEST = 1 << 16;

  /** What a reader lends to one stream after the other. */
  static final int BUFFER = 1 << 20;

  /** Zeros in a row that no message holds. */
  private static final int HOLE = 16;

  private static final byte[] MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};

  private static final int NOTHING = -1;

  private final InputStream stream;
  private final byte[] buffer;
  private int filled;
  private int next;
  private int begin;
  private int end;
  private long offset;
  private long nextOffset;
  private boolean unended;
  private int run;
  private long zeros;
  private int behind = NOTHING;
  private int lineEnd;
  private boolean continued;

  /**
   * @param stream to be read from its beginning, closed with this
   * @param offset where in the file that is
   * @param buffer of {@link #BUFFER} bytes, in use until this is closed
   */
  Lines(InputStream stream, long offset, byte[] buffer) {
    this.stream = stream;
    this.buffer = buffer;
    nextOffset = offset;
  }

  byte[] bytes() {
    return buffer;
  }

  int begin() {
    return begin;
  }

  /** Without line end, and without the carriage return before it. */
  int end() {
    return end;
  }

  /** Whether the stream ended before the line did. */
  boolean isUnended() {
    return unended;
  }

  /** Where in the file the line begins. */
  long offset() {
    return offset;
  }

  /** How many zeros stand in the line in place of what was written. */
  long zeros() {
    return zeros;
  }

  /** Whether it stands in the line of the one before, behind zeros. */
  boolean isContinued() {
    return continued;
  }

  /** Goes to the next line; {@code false} when there is none. */
  boolean next() throws IOException {
    continued = behind != NOTHING;
    if (continued) {
      begin = behind;
      end = lineEnd;
    } else if (!nextWhole()) {
      return false;
    }
    endBeforeZeros();
    return true;
  }

  /** Passes over a line, with what stands in it behind zeros. */
  void skip() throws IOException {
    nextWhole();
  }

  private void endBeforeZeros() {
    behind = NOTHING;
    lineEnd = end;
    int found = 0;
    for (int index = begin; zeros > 0 && index < lineEnd; index++) {
      if (buffer[index] == 0) {
        found++;
      } else if (found >= HOLE) {
        behind = index;
        end = index - found;
        return;
      } else {
        found = 0;
      }
    }
    end -= found >= HOLE ? found : 0;
  }

  private boolean nextWhole() throws IOException {
    zeros = 0;
    run = 0;
    offset = nextOffset;
    if (offset == 0) {
      skipMark();
      skipZeros();
    }
    int searched = next;
    while (true) {
      int newline = find(searched);
      if (newline >= 0) {
        take(newline, newline + 1);
        return true;
      }
      searched = filled;
      if (filled - next >= LONGEST) {
        skipRest();
        return true;
      }
      if (!fill()) {
        unended = filled > next;
        take(filled, filled);
        return unended;
      }
      searched -= moved;
    }
  }

  private int moved;

  /** Passes over the mark that some editors begin UTF-8 with. */
  private void skipMark() throws IOException {
    while (filled < MARK.length && fill()) {}
    if (filled >= MARK.length && Arrays.equals(buffer, 0, MARK.length, MARK, 0, MARK.length)) {
      next = MARK.length;
      nextOffset = MARK.length;
    }
  }

  /** Passes over the zeros that a file begins with that was emptied while it was open, unless there is nothing else. */
  private void skipZeros() throws IOException {
    long first = nextOffset;
    while (next < filled || fill()) {
      if (buffer[next] != 0) {
        return;
      }
      next++;
      nextOffset++;
    }
    zeros = nextOffset - first;
  }

  private int find(int from) {
    for (int index = from; index < filled; index++) {
      if (buffer[index] == '\n') {
        return index;
      }
      if (buffer[index] == 0) {
        run++;
        zeros += run == HOLE ? HOLE : run > HOLE ? 1 : 0;
      } else {
        run = 0;
      }
    }
    return -1;
  }

  private void take(int until, int following) {
    begin = next;
    end = Math.min(until > begin && buffer[until - 1] == '\r' ? until - 1 : until, begin + LONGEST);
    nextOffset += following - next;
    next = following;
  }

  /** Keeps the beginning of a line that is too long, and reads over the rest of it. */
  private void skipRest() throws IOException {
    begin = 0;
    end = LONGEST;
    byte[] kept = Arrays.copyOfRange(buffer, next, next + LONGEST);
    nextOffset += filled - next;
    next = filled;
    int newline = -1;
    while (newline < 0 && fill()) {
      newline = find(next);
      int until = newline < 0 ? filled : newline + 1;
      nextOffset += until - next;
      next = until;
    }
    unended = newline < 0;
    byte[] following = Arrays.copyOfRange(buffer, next, filled);
    System.arraycopy(kept, 0, buffer, 0, LONGEST);
    System.arraycopy(following, 0, buffer, LONGEST, following.length);
    next = LONGEST;
    filled = LONGEST + following.length;
  }

  /** Reads more behind what is not yet taken. */
  private boolean fill() throws IOException {
    moved = next;
    System.arraycopy(buffer, next, buffer, 0, filled - next);
    filled -= next;
    next = 0;
    int read = stream.read(buffer, filled, buffer.length - filled - LONGEST);
    filled += Math.max(0, read);
    return read > 0;
  }

  @Override
  public void close() throws IOException {
    stream.close();
  }
}
