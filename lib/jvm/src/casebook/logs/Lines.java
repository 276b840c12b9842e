package casebook.logs;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/**
 * The lines of a stream as parts of a buffer, each valid until the next one. Of very long lines, only the start is kept.
 *
 * <p>Zeros within a line replace other text: a file system that lost power, or a file that was emptied while it was open, leaves
 * them. The texts before and after the zeros are lines of their own, with the same number.
 */
final class Lines implements Closeable {
  /** Number of bytes kept of a line. */
  static final int LONGEST = 1 << 16;

  /** Size of the buffer that a reader uses for one stream after the other. */
  static final int BUFFER = 1 << 20;

  /** Number of zeros in a row that no message contains. */
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
   * @param stream is read from its beginning, and closed with this
   * @param offset position of that beginning in the file
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

  /** End of the line, without its line feed and the carriage return before it. */
  int end() {
    return end;
  }

  /** Whether the stream ended before the line did. */
  boolean isUnended() {
    return unended;
  }

  /** Position of the line in the file. */
  long offset() {
    return offset;
  }

  /** Number of zeros in the line that replace other text. */
  long zeros() {
    return zeros;
  }

  /** Whether this text follows zeros in the same line as the text before. */
  boolean isContinued() {
    return continued;
  }

  /** Moves to the next line; {@code false} if there is none. */
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

  /** Skips a line, including its texts after zeros. */
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

  /** Skips the byte order mark that some editors put before UTF-8. */
  private void skipMark() throws IOException {
    while (filled < MARK.length && fill()) {}
    if (filled >= MARK.length && Arrays.equals(buffer, 0, MARK.length, MARK, 0, MARK.length)) {
      next = MARK.length;
      nextOffset = MARK.length;
    }
  }

  /** Skips the zeros at the start of a file that was emptied while it was open. If it has only zeros, they count as zeros of a line. */
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

  /** Keeps the start of a line that is too long, and skips the rest. */
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

  /** Reads more bytes after those not yet taken. */
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
