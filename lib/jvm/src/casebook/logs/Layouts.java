package casebook.logs;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Start of log lines. Kafka's own layout, {@code [%d] %p %m (%c)%n} of {@code config/log4j.properties@0.8.2.2..3.9.0}, is read
 * byte by byte. Patterns match all other layouts, and the prefixes of containers and log collectors.
 */
final class Layouts {
  /** The unified log of a JVM: {@code -Xlog:gc*:file=..:time,tags}; and the log before Java 9: {@code -XX:+PrintGCDateStamps}. */
  private static final List<Pattern> OF_JAVA =
      List.of(
          Pattern.compile("^\\[(?<time>[^\\]]+)\\](?:\\[(?!gc)[\\w.]+ *\\])*+\\[(?<logger>gc)[\\w,]* *\\] (?<message>.*)$"),
          Pattern.compile("^(?<time>\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d+[+-]\\d{4}): (?:[\\d.,]+: |(?=\\[))(?<message>.*)$"));

  /** Layout of Spark and Hadoop. Dates with two-digit numbers are ambiguous: other lines show that the year is first. */
  private static final Pattern SPARK = Pattern.compile("^(?<date>\\d\\d/\\d\\d/\\d\\d \\d\\d:\\d\\d:\\d\\d)(?= [A-Z]{4,5} [\\w.$]+: )");

  /** An exported row: its time, further columns, and the message, which may end in a later line. */
  private static final Pattern ROW =
      Pattern.compile("^\"(?<time>\\d{4}-\\d\\d-\\d\\d[T ][^\"]{8,30})\"(?:,(?:\"(?:[^\"]|\"\")*+\"|[^,\"]*+))*?,\"(?<message>(?:[^\"]|\"\")*+)\"?$");

  /** The time that KafkaJS writes after its messages. */
  private static final Pattern OF_KAFKAJS = Pattern.compile("\\{(?:\"level\":\"\\w+\",)?\"timestamp\":\"(?<time>[^\"]+)\",\"logger\":\"kafkajs\"");

  private static final Pattern UNSEEN = Pattern.compile("\u001b\\[[0-9;?]*[A-Za-z]|[\u200b-\u200f\u2060\ufeff\u00ad]");
  private static final Pattern BOLD = Pattern.compile("(?<![\\w*])\\*\\*(?=[^\\s*])(.+?)(?<=[^\\s*])\\*\\*(?![\\w*])");

  private static final byte[][] NAMES = {
    "INFO ".getBytes(UTF_8), "WARN ".getBytes(UTF_8), "ERROR ".getBytes(UTF_8), "DEBUG ".getBytes(UTF_8), "TRACE ".getBytes(UTF_8), "FATAL ".getBytes(UTF_8)
  };

  /** Python's name of the level WARN. */
  private static final byte[] WARNING = "WARNING ".getBytes(UTF_8);
  /** Prefixes of the names of levels, including librdkafka's. */
  private static final byte[][] PREFIXES = {
    "INFO".getBytes(UTF_8), "WARN".getBytes(UTF_8), "ERR".getBytes(UTF_8), "DEBUG".getBytes(UTF_8), "TRACE".getBytes(UTF_8), "FATAL".getBytes(UTF_8),
    "SEVERE".getBytes(UTF_8), "CRIT".getBytes(UTF_8), "NOTICE".getBytes(UTF_8), "RDKAFKA-".getBytes(UTF_8), "LOG-".getBytes(UTF_8)
  };
  /** Layout of most of Kafka's own logs, and of logs that a person described. */
  static final String OWN = "[%d] %p %m (%c)";

  static final String GIVEN = "as given";

  private static final String[] WORDS = {"INFO", "WARN", "ERROR", "DEBUG", "TRACE", "FATAL"};
  private static final int STANDARD = 26;
  private static final int LONGEST_LEVEL = 11;

  private final Clock clock;
  private final Stamps stamps;
  private final Headers headers;
  private final JsonLayouts json;
  private final GivenLayout given;
  private String lastLogger = "";
  private byte[] lastLoggerBytes = {};
  private final Map<String, String> loggers = new HashMap<>();
  private boolean isYearFirst;

  /** @param given a regex of {@link GivenLayout} that is tried before all others; {@code null} for none */
  Layouts(Clock clock, String given) {
    this.clock = clock;
    stamps = new Stamps(clock);
    headers = new Headers(stamps);
    json = new JsonLayouts(stamps, headers);
    this.given = given == null ? null : new GivenLayout(given, stamps);
  }

  /** Begins another file, with its order of day and month. */
  void begin(DayOrder order) {
    stamps.begin(order);
    isYearFirst = order == DayOrder.YEAR_FIRST;
  }

  /**
   * Reads the header of a line; {@code false} if the line begins no entry. In that case, {@code header.from} is the length of a
   * collector's prefix.
   */
  boolean read(byte[] bytes, int from, int until, Header header) {
    header.clear();
    if (given != null && given.read(plain(new String(bytes, from, until - from, UTF_8)), header)) {
      return true;
    }
    if (standard(bytes, from, until, header)) {
      stamps.near(header.time);
      return true;
    }
    if (!worthPatterns(bytes, from, until)) {
      return false;
    }
    String raw = new String(bytes, from, until - from, UTF_8);
    if (any(raw, header)) {
      header.from += from;
      return true;
    }
    header.from = raw.length() == until - from ? header.from : 0;
    return false;
  }

  private boolean standard(byte[] bytes, int from, int until, Header header) {
    if (until - from < STANDARD || bytes[from] != '[' || bytes[from + 24] != ']' || bytes[from + 25] != ' ' || !isDate(bytes, from + 1)) {
      return false;
    }
    int level = level(bytes, from + STANDARD, until);
    if (level < 0 || until > from + STANDARD + NAMES[level].length && bytes[from + STANDARD + NAMES[level].length] == '(') {
      return false; // another layout: a thread or a logger precedes the message
    }
    header.time = clock.standard(bytes, from + 1);
    header.level = WORDS[level];
    header.from = from + STANDARD + NAMES[level].length;
    while (header.from < until && bytes[header.from] == ' ') {
      header.from++; // the level may be padded
    }
    header.until = until;
    takeLogger(bytes, header);
    header.layout = OWN;
    return header.time != Header.NO_TIME;
  }

  /** Whether a text has the form {@code dddd-dd-dd dd:dd:dd,ddd}. */
  private static boolean isDate(byte[] bytes, int at) {
    for (int index = 0; index < 23; index++) {
      byte letter = bytes[at + index];
      boolean fits =
          switch (index) {
            case 4, 7 -> letter == '-';
            case 10 -> letter == ' ' || letter == 'T';
            case 13, 16 -> letter == ':';
            case 19 -> letter == ',' || letter == '.';
            default -> letter >= '0' && letter <= '9';
          };
      if (!fits) {
        return false;
      }
    }
    return true;
  }

  private static int level(byte[] bytes, int at, int until) {
    for (int level = 0; level < NAMES.length; level++) {
      byte[] name = NAMES[level];
      if (bytes[at] == name[0] && until - at >= name.length && java.util.Arrays.equals(bytes, at, at + name.length, name, 0, name.length)) {
        return level;
      }
    }
    return -1;
  }

  /** Moves {@code (kafka.log.Log)} from the end of a message to the header. */
  private void takeLogger(byte[] bytes, Header header) {
    int end = header.until;
    while (end > header.from && bytes[end - 1] == ' ') {
      end--;
    }
    if (end <= header.from || bytes[end - 1] != ')') {
      return;
    }
    int at = end - 2;
    boolean dotted = false;
    while (at >= header.from && isOfName(bytes[at])) {
      dotted |= bytes[at--] == '.';
    }
    if (!dotted || at < header.from || bytes[at] != '(' || isDigit(bytes[at + 1]) || at > header.from && bytes[at - 1] != ' ') {
      return;
    }
    header.logger = name(bytes, at + 1, end - 1);
    header.until = at > header.from ? at - 1 : at;
  }

  private static boolean isOfName(byte letter) {
    return letter >= 'a' && letter <= 'z' || letter >= 'A' && letter <= 'Z' || letter >= '0' && letter <= '9' || letter == '.' || letter == '_' || letter == '$' || letter == ':' || letter == '/';
  }

  /** The logger's name, one string for many lines. */
  private String name(byte[] bytes, int from, int until) {
    if (!java.util.Arrays.equals(bytes, from, until, lastLoggerBytes, 0, lastLoggerBytes.length)) {
      lastLoggerBytes = java.util.Arrays.copyOfRange(bytes, from, until);
      lastLogger = loggers.computeIfAbsent(new String(lastLoggerBytes, UTF_8), Layouts::withoutLine);
    }
    return lastLogger;
  }

  private static String withoutLine(String logger) {
    return logger.replaceFirst("[:@]\\d+$", "");
  }

  /** Whether a time, a level or an object may be near: stack traces need no pattern. */
  private static boolean worthPatterns(byte[] bytes, int from, int until) {
    int most = Math.min(until, from + 240);
    for (int at = from; at < most; at++) {
      byte letter = bytes[at];
      boolean worth =
          letter == '{' && at - from < 80
              || letter == '%' && at - from < 80
              || letter == '!' && at > from && isTelegrafs(bytes[at - 1])
              || letter == '[' && at - from < 8 && isBracketed(bytes, at, until)
              || letter == ':' && at - from >= 2 && at + 2 < until && isDigit(bytes[at - 1]) && isDigit(bytes[at - 2]) && isDigit(bytes[at + 1])
              || letter >= 'A' && letter <= 'Z' && (at == from || !isOfName(bytes[at - 1])) && isLevel(bytes, at, until)
              || letter >= '1' && letter <= '2' && at == from && isDigits(bytes, at, until, 10)
              || letter == '"' && at == from
              || at == from && (letter == 'w' || letter == 'e' || letter == 'i' || letter == 'f' || letter == 'c' || letter == 'd' || letter == 't');
      if (worth) {
        return true;
      }
    }
    return false;
  }

  private static boolean isTelegrafs(byte letter) {
    return letter == 'D' || letter == 'I' || letter == 'W' || letter == 'E';
  }

  /** Whether a word in brackets is as long as the name of a level: {@code [error]}, {@code [E]}. It need not be one. */
  private static boolean isBracketed(byte[] bytes, int at, int until) {
    int end = at + 1;
    while (end < until && end - at <= LONGEST_LEVEL && Character.isLetter(bytes[end])) {
      end++;
    }
    return end > at + 1 && end < until && bytes[end] == ']';
  }

  private static boolean isDigits(byte[] bytes, int at, int until, int count) {
    for (int index = at; index < at + count; index++) {
      if (index >= until || !isDigit(bytes[index])) {
        return false;
      }
    }
    return true;
  }

  private static boolean isLevel(byte[] bytes, int at, int until) {
    for (byte[] name : PREFIXES) {
      if (until - at >= name.length && java.util.Arrays.equals(bytes, at, at + name.length, name, 0, name.length)) {
        return true;
      }
    }
    return false;
  }

  /** Whether a line has, near its start, the signs of an entry: a time such as 10:03:42, and a level. */
  static boolean hasTimeAndLevel(byte[] bytes, int from, int until) {
    int most = Math.min(until, from + 160);
    boolean time = false;
    boolean level = false;
    for (int at = from; at < most; at++) {
      time |= at + 8 <= most && bytes[at + 2] == ':' && bytes[at + 5] == ':' && isDigit(bytes[at]) && isDigit(bytes[at + 1]) && isDigit(bytes[at + 3]) && isDigit(bytes[at + 4]) && isDigit(bytes[at + 6]) && isDigit(bytes[at + 7]);
      level |= (at == from || !isOfName(bytes[at - 1])) && isWord(bytes, at, until);
    }
    return time && level;
  }

  private static boolean isWord(byte[] bytes, int at, int until) {
    for (byte[] name : NAMES) {
      if (isWord(name, bytes, at, until)) {
        return true;
      }
    }
    return isWord(WARNING, bytes, at, until);
  }

  private static boolean isWord(byte[] name, byte[] bytes, int at, int until) {
    int length = name.length - 1;
    boolean begins = until - at >= length && java.util.Arrays.equals(bytes, at, at + length, name, 0, length);
    return begins && (until - at == length || !isOfName(bytes[at + length]));
  }

  private static boolean isDigit(byte letter) {
    return letter >= '0' && letter <= '9';
  }

  private boolean any(String raw, Header header) {
    String line = row(plain(raw));
    line = isYearFirst ? SPARK.matcher(line).replaceFirst("20${date}") : line;
    return ofJava(line, header) || json.read(line, header) || headers.read(line, header) && timed(line, header);
  }

  /** Time and message of an exported row, in the form of a log line; the text itself if it is no such row. */
  private static String row(String text) {
    Matcher found = text.startsWith("\"") ? ROW.matcher(text) : null;
    return found != null && found.find() ? found.group("time") + " " + found.group("message").replace("\"\"", "\"") : text;
  }

  /** Replaces the host's time with the one that KafkaJS wrote after the message, if there is one. */
  private boolean timed(String line, Header header) {
    Matcher found = line.contains("\"logger\":\"kafkajs\"") ? OF_KAFKAJS.matcher(line) : null;
    Stamps.Stamp stamp = found != null && found.find() ? stamps.at(line, found.start("time"), true) : null;
    header.time = stamp != null && stamp.time() != Header.NO_TIME ? stamp.time() : header.time;
    return true;
  }

  /** The text without colours, zero-width characters and the asterisks of a chat's bold text. */
  private static String plain(String raw) {
    String line = raw.chars().allMatch(letter -> letter < 128 && letter != 27) ? raw : UNSEEN.matcher(raw).replaceAll("").replace('\u00a0', ' ');
    return line.contains("**") ? BOLD.matcher(line).replaceAll("$1") : line;
  }

  private boolean ofJava(String line, Header header) {
    for (Pattern layout : OF_JAVA) {
      Matcher found = layout.matcher(line);
      Stamps.Stamp stamp = found.find() ? stamps.at(found.group("time"), 0, true) : null;
      if (stamp != null && stamp.time() != Header.NO_TIME) {
        header.time = stamp.time();
        header.logger = layout == OF_JAVA.get(0) ? "gc" : null;
        header.layout = layout == OF_JAVA.get(0) ? "[%d][gc] %m" : "%d: %m";
        header.message = found.group("message");
        return true;
      }
    }
    return false;
  }
}
