package casebook.logs;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds where an entry ends before the next header: at a line of another program, or at one with a message of its own. */
final class Borders {
  /** Start of a java.util.logging header, after the name of the program that printed it. */
  private static final Pattern OF_JUL = Pattern.compile("\\s{0,8}[\\w.-]{1,60}: [A-Z][a-z]{2} \\d{1,2}, \\d{4} \\d{1,2}:\\d\\d:\\d\\d [AP]M ");

  /** Start of an item in a list, or of a quote. */
  private static final Pattern NUMBERED = Pattern.compile("\\d{1,2}[.)、] ?|[`\"'>*\u201c]+ ?");

  private final Candidates candidates;
  private Entry entry;
  private Lines lines;

  Borders(Candidates candidates) {
    this.candidates = candidates;
  }

  /** Whether a line without a header does not belong to the entry before it. */
  boolean isAnother(Entry before, Lines read, int from) {
    entry = before;
    lines = read;
    return Layouts.hasTimeAndLevel(lines.bytes(), lines.begin(), lines.end()) || !entry.isContinued(lines, from) || entry.isAnother(lines) || !entry.isFromTheSame(lines) || entry.isWhole() || isOfNobody(from);
  }

  /** Whether a line is from a client or another program, or is a complete wording: it has no time, and gets none from the entry. */
  private boolean isOfNobody(int from) {
    int begin = lines.begin() + from;
    int end = Math.min(lines.end(), begin + LogReader.LONGEST_FOLDED);
    if (begin >= end) {
      return false;
    }
    String line = new String(lines.bytes(), begin, end - begin, UTF_8);
    if (line.charAt(0) <= ' ') {
      return Clients.beginsIndented(line) || OF_JUL.matcher(line).lookingAt() || Foreign.isLaidOut(line) || isCopiedBehindBlank(line);
    }
    if (Clients.begins(line) || OF_JUL.matcher(line).lookingAt() || Foreign.begins(line, entry) || entry.isCalm() && Entry.isException(line)) {
      return true;
    }
    return candidates.find(lines.bytes(), begin, end) && !Entry.isTrace(line) && (isWording(behindNumber(line)) || entry.isClosed() && isOfApplication(behindNumber(line)));
  }

  /** Whether a complete Kafka sentence follows one blank: copying from between other columns leaves such a blank. */
  private boolean isCopiedBehindBlank(String line) {
    return line.length() > 1 && Character.isUpperCase(line.charAt(1)) && entry.isClosed() && candidates.find(lines.bytes(), lines.begin(), lines.begin() + line.length()) && isOfApplication(line.substring(1));
  }

  /** A line without its number in a list and without quote signs. */
  private static String behindNumber(String line) {
    Matcher numbered = NUMBERED.matcher(line);
    return numbered.lookingAt() ? line.substring(numbered.end()) : line;
  }

  /** Whether a line, with or without its ident, begins with one of the candidates. */
  private boolean isWording(String line) {
    String proper = line.substring(Ident.end(line));
    for (int rule = candidates.next(0); rule >= 0; rule = candidates.next(rule + 1)) {
      Rule tried = candidates.rule(rule);
      if (tried.begins(line) || tried.begins(proper) || entry.isClosed() && tried.isSaidAtOnce(line)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Whether a line that begins like a sentence contains a client's words, as applications print them, or a complete Kafka
   * sentence; after the end of a sentence, any words of a Kafka message are enough.
   */
  private boolean isOfApplication(String line) {
    for (int rule = Character.isUpperCase(line.charAt(0)) ? candidates.next(0) : -1; rule >= 0; rule = candidates.next(rule + 1)) {
      Rule tried = candidates.rule(rule);
      if ((tried.isSentence() || entry.isSentenceEnded() && tried.isSaid()) && tried.matchLoosely(line) != null) {
        return true;
      }
    }
    return false;
  }
}
