package casebook.logs;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A dated line and the lines after it that begin no entry of their own: a stack trace, a cleaner's figures. */
final class Entry {
  /** What is kept of it; the rest is read over. */
  private static final int MOST_BYTES = 16 << 10;

  static final int MOST_LINES = 1000;
  private static final Pattern LOGGER = Pattern.compile(" ?\\(((?:kafka|org|state)\\.[\\w.$]+)\\)(?=\\s*$)", Pattern.MULTILINE);

  final Header header = new Header();
  long line;
  int lines;
  byte[] bytes = new byte[MOST_BYTES];
  int length;

  /** Where the first line ends. */
  private int firstEnds;

  void begin(Lines source, Header read, long number) {
    header.take(read, source.begin());
    line = number;
    lines = 0;
    length = 0;
    add(source);
    firstEnds = length;
  }

  void add(Lines source) {
    int room = Math.min(source.end() - source.begin(), MOST_BYTES - length - 1);
    if (lines > 0 && room >= 0) {
      bytes[length++] = '\n';
      room = Math.min(room, MOST_BYTES - length);
    }
    if (room > 0) {
      System.arraycopy(source.bytes(), source.begin(), bytes, length, room);
      length += room;
    }
    lines++;
  }

  /** The whole first line as it stands. */
  String firstLine() {
    return new String(bytes, 0, firstEnds, UTF_8);
  }

  /** The message with its ident, without date, level and logger, and with the lines after it. */
  String message() {
    if (header.message == null && lines == 1) {
      return new String(bytes, header.from, Math.max(0, Math.min(header.until, length) - header.from), UTF_8);
    }
    String first = header.message != null ? header.message : new String(bytes, header.from, Math.max(0, Math.min(header.until, firstEnds) - header.from), UTF_8);
    return lines == 1 ? first : first + rest();
  }

  /** The lines after the first, each behind a line end; the logger of a message that is longer than a line stands there. */
  private String rest() {
    String rest = new String(bytes, firstEnds, length - firstEnds, UTF_8);
    if (header.logger != null) {
      return rest;
    }
    Matcher found = LOGGER.matcher(rest);
    if (!found.find()) {
      return rest;
    }
    header.logger = found.group(1);
    return rest.substring(0, found.start()) + rest.substring(found.end());
  }
}
