package casebook.logs;

import casebook.logs.Stamps.Stamp;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Start of each line that is not in Kafka's own layout: time, level, thread and logger in any order and wrapping, after any
 * prefix of a container, a collector or a chat. The reader takes one part after the other; the message begins at the first text
 * that is none of them.
 *
 * <p>Of two times, the inner one counts, which is the application's own; if it has no day, the outer one counts.
 */
final class Headers {
  private static final String BETWEEN = " \t-|:,;>*`'\"•▶┏┃┗])}";

  /** Of these characters, those that a message may begin with. */
  private static final String OF_MESSAGES = "*>";

  private static final int FARTHEST = 240;
  private static final int LONGEST_GROUP = 200;

  /** Length to which Spring Boot shortens a logger's name; it keeps the end. */
  private static final int OF_SPRING = 40;

  private final Stamps stamps;
  private final FixedLayouts fixed;
  private final RdkafkaHeaders rdkafka;
  private final LayoutSketch layout = new LayoutSketch();

  private String line;
  private boolean endsWithLogger;
  private int at;
  private boolean isDated;
  private boolean isTimed;

  /** Whether the last part is a time. */
  private boolean isTime;
  private long time;
  private String level;
  private String logger;

  Headers(Stamps stamps) {
    this.stamps = stamps;
    fixed = new FixedLayouts(stamps);
    rdkafka = new RdkafkaHeaders(stamps);
  }

  /**
   * Reads the header of a line; {@code false} if the line begins no entry. If it continues the entry before it and has a prefix,
   * {@code header.from} is its start after the prefix.
   *
   * @param text without colours
   */
  boolean read(String text, Header header) {
    line = text;
    if (fixed.read(text, header)) {
      return true;
    }
    Matcher end = HeaderParts.LOGGER_AT_END.matcher(text);
    endsWithLogger = end.find();
    int until = endsWithLogger ? end.start() : text.length();
    for (int from = endsWithLogger ? afterWrapper(text, until) : 0; from < Math.min(until, FARTHEST); from++) {
      if ((from == 0 || mayBegin(from)) && isHeader(from)) {
        if (level == null && HeaderParts.STACK.matcher(text).region(at, text.length()).lookingAt()) {
          header.from = at;
          return false;
        }
        take(header, endsWithLogger ? end.group("logger") : null, Math.max(at, until));
        return true;
      }
    }
    return false;
  }

  /** Start of Kafka's own header after a wrapper's that has a level as well; 0 if there is none. */
  private static int afterWrapper(String text, int until) {
    Matcher own = HeaderParts.OWN.matcher(text).region(0, Math.min(until, FARTHEST));
    return own.find() && HeaderParts.LEVEL.matcher(text).region(0, own.start()).find() ? own.start() : 0;
  }

  /** Whether a word, a number or a bracket that may begin a header is at a place. */
  private boolean mayBegin(int from) {
    char letter = line.charAt(from);
    if (Character.isLetterOrDigit(line.charAt(from - 1))) {
      return false;
    }
    return letter >= '0' && letter <= '9' || letter == '[' || letter == '(' || letter == '<' || letter == '%' || letter >= 'A' && letter <= 'Z';
  }

  private boolean isHeader(int from) {
    at = from;
    isDated = false;
    isTimed = false;
    time = Header.NO_TIME;
    level = null;
    logger = null;
    layout.begin(from > 0);
    while (takePart(from)) {}
    boolean named = level != null && (isTimed || endsWithLogger || (from == 0 ? at > 0 : logger != null && HeaderParts.BULLETS.matcher(line).region(0, from).matches()));
    return named || isTimed && isDated && (from == 0 || HeaderParts.OF_GO.matcher(line).lookingAt());
  }

  /** Takes one part; {@code false} at the start of the message. */
  private boolean takePart(int from) {
    int skipped = at;
    while (at < line.length() && BETWEEN.indexOf(line.charAt(at)) >= 0 && (level == null || OF_MESSAGES.indexOf(line.charAt(at)) < 0)) {
      at++;
    }
    if (at >= line.length()) {
      return false;
    }
    int begin = at;
    isTime = false;
    String levelBefore = level;
    String loggerBefore = logger;
    if (takeRdkafka() || takeTime() || takeLevel(from) || takeGroup() || at == 0 && takeFirst() || (isTimed || level != null) && takeName()) {
      layout.addAsItIs(line, skipped, begin);
      layout.add(line.substring(begin, at), isTime, level != levelBefore, logger != loggerBefore ? logger : null);
      return true;
    }
    boolean isIndented = level == null && skipped < at;
    at = isIndented ? behindOne(skipped) : at;
    return false;
  }

  /** Indented text after a collector's time keeps its blanks: it may be a stack trace. */
  private int behindOne(int before) {
    return line.charAt(before) == ' ' || line.charAt(before) == ']' ? Math.min(before + 1, at) : at;
  }

  private boolean takeTime() {
    char letter = line.charAt(at);
    boolean isWord = letter >= 'A' && letter <= 'Z';
    if (level != null && (isTimed || !isWord && letter > '9') || !(isWord || letter >= '0' && letter <= '9' || letter == '上' || letter == '下')) {
      return false;
    }
    Stamp found = stamps.at(line, at, at > 0 && "[\"".indexOf(line.charAt(at - 1)) >= 0);
    if (found == null) {
      return false;
    }
    boolean isWhole = found.time() != Header.NO_TIME;
    time = isWhole ? found.time() : time;
    isTime = true;
    isDated |= isWhole || found.hasDay();
    isTimed = true;
    at = found.end();
    return true;
  }

  private boolean takeLevel(int from) {
    if (level == null && takesTelegrafs()) {
      return true;
    }
    boolean isFirst = at == from || from == 0 && line.substring(0, at).isBlank();
    Matcher found = HeaderParts.LEVEL.matcher(line).region(at, line.length()).useTransparentBounds(true);
    boolean hit = found.lookingAt();
    if (!hit && isFirst && level == null) {
      found = HeaderParts.LEVEL_BEFORE_COLON.matcher(line).region(at, line.length()).useTransparentBounds(true);
      hit = found.lookingAt();
    }
    if (!hit || level != null && !isBehindTime()) {
      return false;
    }
    level = Levels.normal(found.group().replaceFirst("/.*", "")); // Celery prints its process after the level
    at = found.end();
    return true;
  }

  private boolean takesTelegrafs() {
    Matcher found = HeaderParts.LEVEL_OF_TELEGRAF.matcher(line).region(at, line.length()).useTransparentBounds(true);
    if (!found.lookingAt()) {
      return false;
    }
    level = Levels.normal(found.group());
    at = found.end() + 1;
    return true;
  }

  /** Whether a time precedes this place: the level after it is the application's own. */
  private boolean isBehindTime() {
    return isTimed && logger == null && level.length() == 1;
  }

  private boolean takeGroup() {
    char open = line.charAt(at);
    if (open != '[' && open != '(' && open != '<' && open != '{') {
      return false;
    }
    int close = close(open);
    if (close < 0) {
      at += stamps.at(line, at + 1, true) == null ? 0 : 1;
      return line.charAt(at) != open && takeTime();
    }
    if (open == '[' && line.charAt(at + 1) == '{' && close == line.length() - 1) {
      return false; // a slice of Go's errors: it belongs to the message
    }
    String inside = line.substring(at + 1, close).strip();
    Stamp stamp = level != null && isTimed ? null : stamps.at(line, at + 1, true);
    if (stamp != null) {
      at++;
      return takeTime();
    }
    Matcher keyed = HeaderParts.KEYED.matcher(inside);
    if (keyed.matches()) {
      takeKeyed(keyed);
      at = close + 1;
      return true;
    }
    if (open == '(' && close + 1 < line.length() && Character.isLetter(line.charAt(close + 1)) || open == '<' && inside.indexOf('=') >= 0) {
      return false; // the first word of a message: (Re-)joining, or an object as Python prints it
    }
    if (open == '[' && HeaderParts.LEVEL_IN_BRACKETS.matcher(inside).matches() && (level == null || level.length() == 1)) {
      level = inside.length() == 1 ? inside : Levels.normal(inside);
      at = close + 1;
      return true;
    }
    Matcher named = HeaderParts.LOGGER_IN_BRACKETS.matcher(inside);
    boolean isThread = logger == null && inside.matches(".*\\w@\\d+") && named.matches();
    if (open == '(' && logger != null && !endsWithLogger && inside.matches("[\\w#./-]+|[\\w#./ -]+ [Tt]hread") && line.startsWith(" ", close + 1)) {
      at = close + 1; // a thread after its logger, in Quarkus' layout
      return true;
    }
    if (level == null && open == '{' || level != null && !isThread && (endsWithLogger || logger != null || isIdent(inside, close))) {
      return false;
    }
    if (level != null || isTimed) {
      logger = logger == null && named.matches() ? named.group("logger") : logger;
    }
    at = close + 1;
    return true;
  }

  private void takeKeyed(Matcher keyed) {
    level = level == null && keyed.group("level") != null ? Levels.normal(keyed.group("level")) : level;
    logger = logger == null && keyed.group("logger") != null ? keyed.group("logger").replaceFirst(":\\w+\\.\\w+:\\d+$|:\\d+$", "") : logger;
  }

  private boolean isIdent(String inside, int close) {
    char next = close + 1 < line.length() ? line.charAt(close + 1) : ' ';
    return next == ':' || next == ',' || HeaderParts.IDENT.matcher(inside).matches();
  }

  private int close(char open) {
    char end = open == '[' ? ']' : open == '(' ? ')' : open == '<' ? '>' : '}';
    int depth = 0;
    for (int index = at; index < Math.min(line.length(), at + LONGEST_GROUP); index++) {
      char letter = line.charAt(index);
      depth += letter == open ? 1 : letter == end ? -1 : 0;
      if (depth == 0) {
        return index;
      }
    }
    return -1;
  }

  private boolean takeRdkafka() {
    RdkafkaHeaders.Found found = isTimed && level == null ? RdkafkaHeaders.taken(line, at) : null;
    if (found == null && at == 0) {
      found = rdkafka.dated(line);
    }
    if (found == null && (logger == null || line.startsWith("RDKAFKA", at))) {
      found = RdkafkaHeaders.plain(line, at);
      endsWithLogger &= found == null;
    }
    if (found == null) {
      return false;
    }
    level = found.level() == null ? level : found.level();
    logger = found.name();
    time = found.time() == Header.NO_TIME ? time : found.time();
    isDated |= found.time() != Header.NO_TIME;
    isTimed |= found.time() != Header.NO_TIME;
    at = found.end();
    return true;
  }

  private boolean takeFirst() {
    if (takes(HeaderParts.SINCE_START)) {
      return true;
    }
    Matcher found = HeaderParts.LOGGER_FIRST.matcher(line);
    if (!found.lookingAt()) {
      return false;
    }
    logger = found.group("logger");
    at = found.end();
    return true;
  }

  private boolean takeName() {
    if (level == null && (takes(HeaderParts.OF_CONTAINER) || takes(HeaderParts.THREAD_BEFORE_LEVEL) || !HeaderParts.OF_GO.matcher(line).lookingAt() && takes(HeaderParts.OF_SYSLOG))) {
      return true;
    }
    if (takes(HeaderParts.PROCESS) || takes(HeaderParts.FILE_OF_C) || level != null && takes(HeaderParts.THREAD_OF_PYTHON) || level != null && takes(HeaderParts.THREAD_OF_KAFKA)) {
      return true;
    }
    Matcher keyed = HeaderParts.KEYED.matcher(line).region(at, line.length());
    if (keyed.lookingAt()) {
      takeKeyed(keyed);
      at = keyed.end();
      return true;
    }
    Matcher before = HeaderParts.LOGGER_BEFORE_LEVEL.matcher(line).region(at, line.length());
    if (level == null && !before.lookingAt()) {
      before = HeaderParts.LOGGER_WITHOUT_LEVEL.matcher(line).region(at, line.length());
    }
    if (level == null && before.lookingAt()) {
      logger = before.group("logger");
      at = before.end();
      return true;
    }
    if (level == null || logger != null || endsWithLogger) {
      return false;
    }
    Matcher found = HeaderParts.LOGGER_BEHIND_COLON.matcher(line).region(at, line.length());
    if (line.charAt(at - 1) == ':' && found.lookingAt()) {
      logger = found.group("logger");
      at = found.end();
      return true;
    }
    found = HeaderParts.LOGGER.matcher(line).region(at, line.length());
    boolean isNamed = found.lookingAt() && !isException(found.group("logger")) && (isDotted(found) || Trouble.isOfServers(found.group("logger")) || !line.startsWith(": ", found.end() - 2));
    if (!isNamed) {
      found = HeaderParts.LOGGER_ALONE.matcher(line).region(at, line.length()).useTransparentBounds(true);
      isNamed = found.lookingAt();
    }
    if (isNamed) {
      logger = found.group("logger");
      at = found.end();
    }
    return isNamed || takes(HeaderParts.THREAD_BEFORE_LOGGER);
  }

  /** A class without its package differs from the first word of a message by its source line, or by the text after it. */
  private static boolean isDotted(Matcher found) {
    return found.group("logger").indexOf('.') > 0 || found.group("logger").length() == OF_SPRING || found.group().matches(".*[:@]\\d+\\b.*");
  }

  private static boolean isException(String name) {
    return name.endsWith("Exception") || name.endsWith("Error") || name.endsWith("Throwable");
  }

  private boolean takes(Pattern part) {
    Matcher found = part.matcher(line).region(at, line.length()).useTransparentBounds(true);
    if (!found.lookingAt()) {
      return false;
    }
    at = found.end();
    return true;
  }

  private void take(Header header, String atEnd, int until) {
    header.time = time;
    header.level = level == null ? null : level.length() == 1 ? Levels.normal(level) : level;
    header.logger = atEnd != null && endsWithLogger ? atEnd : logger;
    header.message = line.substring(at, endsWithLogger ? until : line.length()).stripTrailing();
    header.from = at;
    header.layout = layout.whole(endsWithLogger ? line.substring(until) : null);
  }
}
