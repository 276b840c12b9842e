package casebook.logs;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A dated line and the lines after it that begin no entry of their own, such as a stack trace or a cleaner's figures. */
final class Entry {
  /** Bytes kept of an entry; the rest is skipped. */
  private static final int MOST_BYTES = 16 << 10;

  static final int MOST_LINES = 1000;
  /** A logger cut by the end of a line; its rest is in the next line. */
  private static final Pattern LOGGER_BEGUN = Pattern.compile("\\(((?:kafka|org|state)\\.[\\w.$]*)\\s*$");

  private static final Pattern LOGGER_ENDED = Pattern.compile("\\n\\s*([\\w.$]+)\\)[ \\t]*(?=\\n|$)");
  private static final Pattern LOGGER = Pattern.compile(" ?\\(((?:kafka|org|state)\\.[\\w.$]+)\\)(?=\\s*$)", Pattern.MULTILINE);

  /** Start of the lines of a stack trace other than frames, after any prefix. */
  static final String OF_TRACES = "\\.{3} \\d+ more|Caused by: |Suppressed: |(?:[a-zA-Z_]\\w*\\.)+(?:[A-Z][\\w$]*)?(?:Exception|Error|Throwable)\\b";

  private static final Pattern TRACE = Pattern.compile("at [\\w.$/<]|" + OF_TRACES + "|[A-Z]\\w*(?:Exception|Error)\\b|Exception in thread ");
  private static final Pattern EXCEPTION = Pattern.compile("(?:[a-zA-Z_]\\w*\\.)*[A-Z][\\w$]*(?:Exception|Error)(?::|\\s*$)");
  private static final Pattern CAUSE = Pattern.compile("Caused by: ");

  /** An exception in a message or at its end; its cause may follow. */
  private static final Pattern OF_THROWN = Pattern.compile("(?:Exception|Error|Throwable)(?=[:;]|\\s*$)");

  /** A collector's time and the application's. */
  private static final Pattern COLLECTED_TWICE = Pattern.compile("(?:\\d{4}-\\d\\d-\\d\\dT[\\d:.]+(?:Z|[+-][\\d:]+)\\s+){2}");

  /** A frame of a Java or Node.js trace. */
  private static final Pattern FRAME = Pattern.compile("\\s*at \\S.*[:(]");

  /** Words of an entry that an exception may follow. */
  private static final Pattern OF_TROUBLE =
      Pattern.compile("(?i)error|exception|fail|unable|cannot|can't|could ?n[o']t|timed ?-?out|los[ts]|clos|unexpected|caught|retry|invalid|abort|refus|disconnect|reject|interrupt|broken|\\bnot\\b|\\bno\\b|kill|died|throw|\\bfault|warn|trace|[:,-]\\s*$");
  private static final Set<String> CALM = Set.of("INFO", "DEBUG", "TRACE");
  private static final byte[] NOTHING = {};
  private static final int LONGEST_PREFIX = 80;
  private static final String CLOSERS = ")]}";
  private static final int LONGEST_BEGIN = 200;
  private static final int LONGEST_CONTAINER = 60;

  final Header header = new Header();
  long line;
  int lines;
  byte[] bytes = new byte[MOST_BYTES];
  int length;

  /** End of the first line. */
  private int firstEnds;

  /** Prefix of the first line from a collector: {@code kafka-1  | }; empty for none. */
  private byte[] prefix = NOTHING;

  private static final String TRACEBACK = "Traceback (most recent call last)";

  /** The exception at a traceback's end. */
  private static final Pattern RAISED = Pattern.compile("[A-Za-z_][\\w.]*(?::|\\s*$)");

  /** One of Confluent's client for Python, which its loggers print below a traceback only. */
  private static final Pattern OF_CONFLUENT = Pattern.compile("(?:cimpl|confluent_kafka\\.error)\\.\\w+: ");

  /** Whether one of its lines ended with its logger. */
  private boolean isComplete;

  /** Whether its stack trace already has an exception that is not a cause, a cause, or frames. */
  private boolean hasThrown;

  /** Whether its last line is of a Python traceback that has not come to its exception. */
  private boolean isInTraceback;

  /** Whether only its first line has text. */
  private boolean isOneLine;

  void begin(Lines source, Header read, long number) {
    header.take(read, source.begin());
    line = number;
    lines = 0;
    length = 0;
    add(source, 0);
    firstEnds = length;
    prefix = prefix();
    isComplete = header.logger != null || endsWithLogger(source);
    hasThrown = false;
    isInTraceback = false;
    isOneLine = true;
  }

  private byte[] prefix() {
    int bar = -1;
    for (int at = 1; at < Math.min(length, LONGEST_PREFIX) && bar < 0 && isOfPrefix(bytes[at]); at++) {
      bar = bytes[at] == '|' && bytes[at - 1] == ' ' ? at : -1;
    }
    return bar > 0 && bar < header.from ? Arrays.copyOf(bytes, bar + 1) : NOTHING;
  }

  private static boolean isOfPrefix(byte letter) {
    return Character.isLetterOrDigit(letter) || " |-_.@>".indexOf(letter) >= 0;
  }

  /** Length of the first line's prefix in a line; 0 if the line does not begin with it. */
  int behindPrefix(Lines source) {
    int begin = source.begin();
    boolean same = prefix.length > 0 && source.end() - begin >= prefix.length && Arrays.equals(source.bytes(), begin, begin + prefix.length, prefix, 0, prefix.length);
    return same ? prefix.length + (begin + prefix.length < source.end() && source.bytes()[begin + prefix.length] == ' ' ? 1 : 0) : 0;
  }

  /** Whether a line is the end of another entry, whose header is missing: an entry ends with its logger once. */
  boolean isAnother(Lines source) {
    boolean ends = endsWithLogger(source);
    boolean another = ends && isComplete;
    isComplete |= ends;
    return another;
  }

  /**
   * Whether a line is from the same container as the entry. A line that names no container may be a wrapped part. A syslog line
   * after an entry without a syslog header is from another source.
   */
  boolean isFromTheSame(Lines source) {
    if (isOfSyslog(source.bytes(), source.begin(), source.end()) && !isOfSyslog(bytes, 0, firstEnds)) {
      return false;
    }
    int named = container(source.bytes(), source.begin(), source.end());
    int length = named - source.begin();
    return length == 0 || length <= firstEnds && Arrays.equals(bytes, 0, length, source.bytes(), source.begin(), named);
  }

  /** Whether a line begins with syslog's header: {@code Nov 20 10:00:00 }. */
  private static boolean isOfSyslog(byte[] text, int from, int until) {
    return until - from > 16 && text[from] >= 'A' && text[from] <= 'Z' && text[from + 3] == ' ' && text[from + 6] == ' ' && text[from + 9] == ':' && text[from + 12] == ':' && text[from + 15] == ' ';
  }

  /**
   * End of {@code kafka_1  | }, which docker-compose puts before each line; the start of the text, if it does not begin with such
   * a name.
   */
  private static int container(byte[] text, int from, int until) {
    int at = from;
    while (at < until && at - from < LONGEST_CONTAINER && (isOfLogger(text[at]) || text[at] == '-')) {
      at++;
    }
    int named = at;
    while (at < until && text[at] == ' ') {
      at++;
    }
    return named > from && at > named && at + 1 < until && text[at] == '|' && text[at + 1] == ' ' ? at : from;
  }

  /** Whether the line ends with a logger, as {@link #LOGGER} would match it. */
  static boolean endsWithLogger(Lines source) {
    byte[] bytes = source.bytes();
    int end = source.end();
    while (end > source.begin() && bytes[end - 1] <= ' ' && bytes[end - 1] >= 0) {
      end--;
    }
    int begin = end - 1;
    while (begin > source.begin() && isOfLogger(bytes[begin - 1])) {
      begin--;
    }
    if (begin < source.begin() + 2 || end <= begin || bytes[end - 1] != ')' || bytes[begin - 1] != '(' || bytes[begin - 2] != ' ') {
      return false;
    }
    String logger = new String(bytes, begin, end - 1 - begin, UTF_8);
    return logger.startsWith("kafka.") || logger.startsWith("org.") || logger.startsWith("state.");
  }

  private static boolean isOfLogger(byte letter) {
    return Character.isLetterOrDigit(letter) || letter == '.' || letter == '_' || letter == '$';
  }

  /** Whether a line has only the entry's JSON members, after the time that a collector put before both: it was broken there. */
  boolean isToldBy(Lines source, Header read) {
    boolean isOfNobody = read.level == null && read.logger == null && read.message != null && read.message.stripLeading().startsWith("{\"");
    return isOfNobody && header.level != null && COLLECTED_TWICE.matcher(firstLine()).lookingAt();
  }

  /** Whether a line continues the entry: it is indented, belongs to a stack trace, or the message's logger is still missing. */
  boolean isContinued(Lines source, int from) {
    int begin = source.begin() + from;
    if (!isComplete || begin >= source.end() || source.bytes()[begin] <= ' ' || CLOSERS.indexOf(source.bytes()[begin]) >= 0) {
      return true;
    }
    int until = Math.min(source.end(), begin + LONGEST_BEGIN);
    return isTrace(new String(source.bytes(), begin, until - begin, UTF_8));
  }

  /** Whether a text is a line of a stack trace, without its indentation. */
  static boolean isTrace(String text) {
    return TRACE.matcher(text).lookingAt();
  }

  /** Whether a text is an exception, or the cause of one. */
  static boolean isException(String text) {
    Matcher cause = CAUSE.matcher(text);
    return EXCEPTION.matcher(text).region(cause.lookingAt() ? cause.end() : 0, text.length()).lookingAt();
  }

  /**
   * Whether an exception that is not the cause of another follows an earlier exception or its frames: it belongs to another entry. So does
   * a cause directly below a line without an exception, since a trace begins with its effect ({@code Throwable.printStackTrace}).
   */
  boolean isThrownAnew(String text) {
    return hasThrown && EXCEPTION.matcher(text).lookingAt() || isOneLine && CAUSE.matcher(text).lookingAt() && !OF_THROWN.matcher(firstLine()).find();
  }

  /** Whether a line that is not indented is outside a Python traceback, which ends with its exception; or is the exception of another. */
  boolean isOutsideTraceback(String text) {
    return isInTraceback ? !RAISED.matcher(text).lookingAt() : OF_CONFLUENT.matcher(text).lookingAt();
  }

  /** Whether its layout is an object or pairs that end with the line: no line continues it. */
  boolean isWhole() {
    if (header.layout == null || !header.layout.startsWith("JSON: ")) {
      return false;
    }
    String first = firstLine().strip();
    return first.endsWith("}") || !first.startsWith("{") && first.chars().filter(letter -> letter == '"').count() % 2 == 0;
  }

  /** Whether it is one line that reports no trouble: an exception after it belongs to another entry. */
  boolean isCalm() {
    return isOneLine && header.level != null && CALM.contains(header.level) && !OF_TROUBLE.matcher(message()).find();
  }

  /** Whether its first line is a complete sentence, or a later line ended it: the next line does not continue it. */
  boolean isClosed() {
    String first = firstLine().stripTrailing();
    return !isOneLine || !first.isEmpty() && ":,-([{=".indexOf(first.charAt(first.length() - 1)) < 0;
  }

  /** Whether its last line ends with a full stop. */
  boolean isSentenceEnded() {
    return length > 0 && bytes[length - 1] == '.';
  }

  /**
   * Adds a line.
   *
   * @param from number of bytes that a collector put before the line
   */
  void add(Lines source, int from) {
    if (lines > 0) {
      note(source, from);
    }
    int room = Math.min(source.end() - source.begin() - from, MOST_BYTES - length - 1);
    if (lines > 0 && room >= 0) {
      bytes[length++] = '\n';
      room = Math.min(room, MOST_BYTES - length);
    }
    if (room > 0) {
      System.arraycopy(source.bytes(), source.begin() + from, bytes, length, room);
      length += room;
    }
    lines++;
  }

  /** Records the signs in a later line that decide where the entry ends. */
  private void note(Lines source, int from) {
    int begin = source.begin() + from;
    String text = new String(source.bytes(), begin, Math.max(0, Math.min(source.end(), begin + LONGEST_BEGIN) - begin), UTF_8);
    hasThrown |= EXCEPTION.matcher(text).lookingAt() || CAUSE.matcher(text).lookingAt() || FRAME.matcher(text).lookingAt();
    isInTraceback = text.startsWith(TRACEBACK) || isInTraceback && !text.isEmpty() && text.charAt(0) <= ' ';
    isOneLine &= text.isBlank();
  }

  /** The complete first line, unchanged. */
  String firstLine() {
    return new String(bytes, 0, firstEnds, UTF_8);
  }

  /** The message with its ident and the following lines, without date, level and logger. */
  String message() {
    if (header.message == null && lines == 1) {
      return new String(bytes, header.from, Math.max(0, Math.min(header.until, length) - header.from), UTF_8);
    }
    String first = header.message != null ? header.message : new String(bytes, header.from, Math.max(0, Math.min(header.until, firstEnds) - header.from), UTF_8);
    return lines == 1 ? first : first + rest();
  }

  /**
   * The lines after the first, each with a line end before it. If a message is longer than a line, its logger is in these lines;
   * it moves to the header.
   */
  private String rest() {
    String rest = new String(bytes, firstEnds, length - firstEnds, UTF_8);
    if (header.logger != null) {
      return rest;
    }
    Matcher begun = LOGGER_BEGUN.matcher(firstLine());
    Matcher ended = LOGGER_ENDED.matcher(rest);
    if (begun.find() && ended.lookingAt()) {
      header.logger = begun.group(1) + ended.group(1);
      return rest.substring(ended.end());
    }
    Matcher found = LOGGER.matcher(rest);
    if (!found.find()) {
      return rest;
    }
    header.logger = found.group(1);
    return rest.substring(0, found.start()) + rest.substring(found.end());
  }
}
