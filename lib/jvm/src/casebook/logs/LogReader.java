package casebook.logs;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.time.ZoneId;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.ZipException;

/**
 * Reads a file, or the part of one between two of its bytes, entry by entry. An entry belongs to the part in which it begins. A
 * part that begins inside an entry leaves the rest of that entry to the part before. Both stop the search after {@link #SEARCHED}
 * bytes without a date; from there, each line counts alone.
 */
public final class LogReader implements Closeable {
  private static final int SEARCHED = 1 << 20;
  private static final int MOST_TEXT = 4000;
  private static final Header NOBODY = new Header();
  private static final Pattern FOLD = Pattern.compile("\\s*\n\\s*|  +");
  private static final int LONGEST_FOLDED = 600;

  /** Start of a java.util.logging header, after the name of the program that printed it. */
  private static final Pattern OF_JUL = Pattern.compile("\\s{0,8}[\\w.-]{1,60}: [A-Z][a-z]{2} \\d{1,2}, \\d{4} \\d{1,2}:\\d\\d:\\d\\d [AP]M ");

  /** Start of an item in a list, or of a quote. */
  private static final Pattern NUMBERED = Pattern.compile("\\d{1,2}[.)、] ?|[`\"'>*\u201c]+ ?");

  /** Marks that people and pagers put at the place where they cut a line. */
  private static final Pattern CUT = Pattern.compile("\\s*(?:\\.{3}|\u2026|(?<=\\w)>)\\s*\\z");

  private final Rules rules = new Rules();
  private final long[] candidates = Rules.LITERALS.none();
  private final Layouts layouts;
  private final Ident ident = new Ident();
  private final byte[] buffer = new byte[Lines.BUFFER];
  private final Header read = new Header();
  private final Entry entry = new Entry();
  private final ArrayDeque<Event> found = new ArrayDeque<>();
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

  /** Header for lines without an entry: empty, or the header of the message that such a line ends. */
  private Header ofAlone = NOBODY;
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
    } else if (open && isAnother()) {
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

  private boolean isStrange() {
    return Layouts.hasTimeAndLevel(lines.bytes(), lines.begin(), lines.end());
  }

  /** Whether a line without a header does not belong to the entry before it. */
  private boolean isAnother() {
    return isStrange() || !entry.isContinued(lines, read.from) || entry.isAnother(lines) || !entry.isFromTheSame(lines) || entry.isWhole() || isOfNobody();
  }

  /** Whether a line is from a client or another program, or is a complete wording: it has no time, and gets none from the entry. */
  private boolean isOfNobody() {
    int begin = lines.begin() + read.from;
    int end = Math.min(lines.end(), begin + LONGEST_FOLDED);
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
    return candidates(lines.bytes(), begin, end) && !Entry.isTrace(line) && (isWording(behindNumber(line)) || entry.isClosed() && isOfApplication(behindNumber(line)));
  }

  /** Whether a complete Kafka sentence follows one blank: copying from between other columns leaves such a blank. */
  private boolean isCopiedBehindBlank(String line) {
    return line.length() > 1 && Character.isUpperCase(line.charAt(1)) && entry.isClosed() && candidates(lines.bytes(), lines.begin(), lines.begin() + line.length()) && isOfApplication(line.substring(1));
  }

  /** A line without its number in a list and without quote signs. */
  private static String behindNumber(String line) {
    Matcher numbered = NUMBERED.matcher(line);
    return numbered.lookingAt() ? line.substring(numbered.end()) : line;
  }

  /** Whether a line, with or without its ident, begins with one of the candidates. */
  private boolean isWording(String line) {
    String proper = line.substring(Ident.end(line));
    for (int rule = nextCandidate(0); rule >= 0; rule = nextCandidate(rule + 1)) {
      Rule tried = rules.all.get(rule);
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
    for (int rule = Character.isUpperCase(line.charAt(0)) ? nextCandidate(0) : -1; rule >= 0; rule = nextCandidate(rule + 1)) {
      Rule tried = rules.all.get(rule);
      if ((tried.isSentence() || entry.isSentenceEnded() && tried.isSaid()) && tried.matchLoosely(line) != null) {
        return true;
      }
    }
    return false;
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
      return type();
    } catch (StackOverflowError intricate) {
      coverage.damaged("the entry at line " + entry.line + " is too intricate to be read");
      return false;
    }
  }

  private boolean type() {
    if (!candidates(entry.bytes, 0, entry.length) && entry.header.message == null) {
      return Trouble.isOf(entry.header) && ofTrouble(entry.message());
    }
    String full = entry.message();
    if (entry.header.message != null) {
      byte[] bytes = full.getBytes(UTF_8);
      Rules.LITERALS.find(bytes, 0, bytes.length, candidates); // added to those of the line: a layout is part of some wordings
    }
    int fold = full.indexOf('\n');
    if (fold < 0) {
      return head(full) || behindThread(full) || fromClient(full) || inside(full, 0) || behindPrefix(full) || ofTrouble(full);
    }
    boolean isFlush = fold + 1 < full.length() && full.charAt(fold + 1) > ' ' && !Entry.isTrace(full.substring(fold + 1));
    boolean known = isFlush ? folded(full) || head(full) : head(full) || folded(full);
    known = known || behindThread(full) || fromClient(full);
    known |= inside(full, known ? fold + 1 : 0);
    return known || behindPrefix(full.substring(0, fold)) || isFlush && behindPrefixFolded(full) || ofTrouble(full);
  }

  /** Matches a message after its ident, where a thread in brackets precedes both. */
  private boolean behindThread(String full) {
    int border = Ident.end(full);
    return border > 0 && border < full.length() && full.charAt(border) == '[' && head(full.substring(border));
  }

  /** Reports a warning or an error of a Kafka or ZooKeeper class that matches no wording, by its source. */
  private boolean ofTrouble(String full) {
    String kind = Trouble.kind(entry.header, full);
    if (kind != null) {
      Fields fields = new Fields();
      ident.tell(full, entry.header.logger, fields);
      said(fields);
      tell(kind, entry.line, fields, full);
    }
    return kind != null;
  }

  /** Matches a message after the name of the client, where its host printed something before that name. */
  private boolean fromClient(String full) {
    int named = Clients.named(full);
    return named > 0 && head(full.substring(named));
  }

  /** Matches a client library's message after text that only its application knows: a prefix of its own, or a layout that was not given. */
  private boolean behindPrefix(String line) {
    if (ident.speaker(line, entry.header.logger) != null) {
      return false;
    }
    for (int rule = nextCandidate(0); rule >= 0; rule = nextCandidate(rule + 1)) {
      Fields fields = rules.all.get(rule).matchBehind(line, entry.header.logger);
      if (fields != null) {
        said(fields);
        tell(rules.all.get(rule).kind, entry.line, fields, line);
        return true;
      }
    }
    return false;
  }

  private boolean candidates(byte[] bytes, int from, int until) {
    Arrays.fill(candidates, 0);
    return Rules.LITERALS.find(bytes, from, until, candidates);
  }

  /** Reports the first wording that the whole message matches; if none does, one that it matches except for a changed or cut part. */
  private boolean head(String full) {
    return head(full, Rule::matchKnown) || head(full, Rule::matchChanged) || cut(full) || head(full, Rule::match);
  }

  private boolean cut(String full) {
    Matcher cut = CUT.matcher(full);
    return cut.find() && head(full.substring(0, cut.start()), Rule::matchCut);
  }

  private boolean head(String full, BiFunction<Rule, String, Fields> match) {
    int border = Ident.end(full);
    String proper = border == 0 ? full : full.substring(border);
    for (int rule = nextCandidate(0); rule >= 0; rule = nextCandidate(rule + 1)) {
      Rule tried = rules.all.get(rule);
      String text =
          switch (tried.scope) {
            case HEAD -> proper;
            case APP -> ident.speaker(full, entry.header.logger) == null ? proper : null;
            case FULL -> full;
            case LINE -> entry.firstLine();
            case INSIDE -> null;
          };
      Fields fields = text == null || !tried.isOf(entry.header.logger) ? null : match.apply(tried, text);
      if (fields != null) {
        String kind = tried.isGeneral() ? cause(proper, rule, fields) : tried.kind;
        ident.tell(full, entry.header.logger, fields);
        said(fields);
        tell(kind, entry.line, fields, full);
        return true;
      }
    }
    return false;
  }

  /** Kind of the cause that the first line of a message states, if the wording at its start only reports that there is trouble. */
  private String cause(String message, int general, Fields fields) {
    int ends = message.indexOf('\n');
    String first = ends < 0 ? message : message.substring(0, ends);
    for (int rule = nextCandidate(0); rule >= 0; rule = nextCandidate(rule + 1)) {
      Fields found = rules.all.get(rule).matchCause(first);
      if (found != null) {
        fields.add(found);
        return rules.all.get(rule).kind;
      }
    }
    return rules.all.get(general).kind;
  }

  /** Matches a message that was wrapped on its way, with its lines joined again. */
  private boolean folded(String full) {
    return folded(full, this::head);
  }

  /** The same after a prefix of its application. */
  private boolean behindPrefixFolded(String full) {
    return folded(full, this::behindPrefix);
  }

  private boolean folded(String full, Predicate<String> isKnown) {
    String whole = FOLD.matcher(full.length() > LONGEST_FOLDED ? full.substring(0, LONGEST_FOLDED) : full).replaceAll(" ").strip();
    long[] kept = candidates.clone();
    byte[] bytes = whole.getBytes(UTF_8);
    boolean known = candidates(bytes, 0, bytes.length) && isKnown.test(whole);
    System.arraycopy(kept, 0, candidates, 0, kept.length);
    return known;
  }

  /**
   * Reports each wording that one of the lines from a place on matches: the lines after the first, and the first if no other
   * wording matches it.
   */
  private boolean inside(String full, int from) {
    boolean known = false;
    for (int rule = nextCandidate(0); rule >= 0; rule = nextCandidate(rule + 1)) {
      Rule tried = rules.all.get(rule);
      if (tried.scope == Rule.Scope.INSIDE && tried.isOf(entry.header.logger)) {
        known |= inside(full, from, tried);
      }
    }
    return known;
  }

  private boolean inside(String full, int from, Rule tried) {
    int number = from == 0 ? 0 : 1;
    for (int begin = from, ends = 0; ends >= 0; begin = ends + 1, number++) {
      ends = full.indexOf('\n', begin);
      String line = full.substring(begin, ends < 0 ? full.length() : ends);
      Fields fields = line.contains(tried.literal) ? tried.match(line) : null;
      if (fields != null) {
        ident.tell(full, entry.header.logger, fields);
        said(fields);
        tell(tried.kind, entry.line + Math.min(number, entry.lines - 1), fields, line.strip());
        return true;
      }
    }
    return false;
  }

  private void said(Fields fields) {
    if (entry.header.said != null) {
      fields.add(entry.header.said);
    }
  }

  private void tell(String kind, long line, Fields fields, String text) {
    if (!kind.equals(Rule.QUIET)) {
      String kept = text.length() > MOST_TEXT ? text.substring(0, MOST_TEXT) : text;
      found.add(new Event(kind, entry.header.time, line, entry.header.level, entry.header.logger, fields, kept));
    }
  }

  /** Matches a line that belongs to no entry: a wording may be anywhere in it. */
  private void alone() {
    int end = Math.min(lines.end(), lines.begin() + MOST_TEXT);
    String line = new String(lines.bytes(), lines.begin(), end - lines.begin(), UTF_8);
    if (line.isBlank()) {
      return;
    }
    coverage.strange += isStrange() || Entry.endsWithLogger(lines) ? 1 : 0;
    boolean known = candidates(lines.bytes(), lines.begin(), end) && isKnownAlone(line) || isFoldedAlone(line);
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
    ofAlone = unknownHeader;
    boolean known = candidates(bytes, 0, bytes.length) && isKnownAlone(joined);
    ofAlone = NOBODY;
    return known;
  }

  private boolean isKnownAlone(String line) {
    return whole(line, Rule::matchBeginning) || loosely(line) || whole(line, Rule::matchChanged);
  }

  /** Whether a line is a complete message, after at most its ident: this is more certain than a wording found inside the line. */
  private boolean whole(String line, BiFunction<Rule, String, Fields> match) {
    int border = Ident.end(line);
    for (int rule = border == 0 ? -1 : nextCandidate(0); rule >= 0; rule = nextCandidate(rule + 1)) {
      Rule tried = rules.all.get(rule);
      String text = tried.scope == Rule.Scope.FULL ? line : tried.scope == Rule.Scope.HEAD ? line.substring(border) : "";
      Fields fields = match.apply(tried, text);
      if (fields != null) {
        ident.tell(line, null, fields);
        tellAlone(tried, fields, line);
        return true;
      }
    }
    return false;
  }

  /** Matches a wording anywhere in a line; a quiet one only if no other is in it. */
  private boolean loosely(String line) {
    return loosely(line, false) || loosely(line, true);
  }

  private boolean loosely(String line, boolean isQuiet) {
    for (int rule = nextCandidate(0); rule >= 0; rule = nextCandidate(rule + 1)) {
      boolean isAsked = isQuiet == rules.all.get(rule).kind.equals(Rule.QUIET);
      Fields fields = isAsked ? rules.all.get(rule).matchLoosely(line) : null;
      if (fields != null) {
        tellAlone(rules.all.get(rule), fields, line);
        return true;
      }
    }
    return false;
  }

  private void tellAlone(Rule rule, Fields fields, String line) {
    if (!rule.kind.equals(Rule.QUIET)) {
      found.add(new Event(rule.kind, ofAlone.time, coverage.lines, ofAlone.level, ofAlone.logger, fields, line.strip()));
    }
  }

  private int nextCandidate(int from) {
    for (int word = from >> 6; word < candidates.length; word++) {
      long bits = candidates[word] & (word == from >> 6 ? -1L << from : -1L);
      if (bits != 0) {
        return (word << 6) + Long.numberOfTrailingZeros(bits);
      }
    }
    return -1;
  }
}
