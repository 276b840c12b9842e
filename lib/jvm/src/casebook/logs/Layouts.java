package casebook.logs;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What lines begin with. Kafka's own layout, {@code [%d] %p %m (%c)%n} of {@code config/log4j.properties@0.8.2.2..3.9.0}, is
 * read byte by byte; all others, and what containers and log collectors put before a line, are found by patterns.
 */
final class Layouts {
  private static final String DATE = "(?<time>\\d{4}-\\d\\d-\\d\\d[ T]\\d\\d:\\d\\d:\\d\\d(?:[.,]\\d{1,9})?) ?(?<zone>Z|UTC|[+-]\\d\\d:?\\d\\d)?";
  private static final String LEVEL = "(?<level>TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|SEVERE)";

  /** In the order in which they are tried; the last ones would match what belongs to the first. */
  private static final List<Pattern> OF_APPLICATIONS =
      List.of(
          // ZooKeeper's conf/log4j.properties@release-3.4.6 and logback.xml@release-3.8.4
          Pattern.compile("^" + DATE + " (?:\\[myid:[^\\]]*\\] )?- " + LEVEL + " +\\[(?<logger>.*?)\\] - (?<message>.*)$"),
          // Spring Boot's default, and its relatives
          Pattern.compile("^" + DATE + " +" + LEVEL + " \\d+ (?:--- )?(?:\\[[^\\]]*\\] )++(?<logger>\\S+) *: (?<message>.*)$"),
          // Strimzi: %d %-5p [%t] %c{1}:%L - %m%n
          Pattern.compile("^" + DATE + " +" + LEVEL + " +\\[[^\\]]*\\] (?<logger>[\\w.$]+)(?::\\d+)? -{1,2} (?<message>.*)$"),
          // logback: %d [%thread] %-5level %logger - %msg
          Pattern.compile("^\\[?" + DATE + "\\]? (?:\\d+ )?\\[.*?\\] " + LEVEL + " +(?<logger>[\\w.$\\[\\]]+) (?:\\[.*?\\] )?-{1,2} (?<message>.*)$"),
          // Cloudera and Hadoop: %d{ISO8601} %p %c: %m%n
          Pattern.compile("^" + DATE + " " + LEVEL + " (?<logger>[\\w$]+(?:\\.[\\w$]+)+): (?:\\[[\\w-]+\\]: )?(?<message>.*)$"),
          // Kafka's own with any date, with or without its brackets
          Pattern.compile("^\\s*\\[?" + DATE + "\\]? ?\\[?" + LEVEL + "\\]? +(?<message>.*)$"),
          // a JVM's unified log: -Xlog:gc*:file=..:time,tags
          Pattern.compile("^\\[" + DATE + "\\](?:\\[(?!gc)[\\w.]+ *\\])*+\\[(?<logger>gc)[\\w,]* *\\] (?<message>.*)$"),
          // a JVM's log before Java 9: -XX:+PrintGCDateStamps
          Pattern.compile("^" + DATE + ": (?:[\\d.,]+: |(?=\\[))(?<message>.*)$"));

  private static final Pattern SPARK =
      Pattern.compile("^(?<time>\\d\\d/\\d\\d/\\d\\d \\d\\d:\\d\\d:\\d\\d) " + LEVEL + " (?<logger>[\\w.$]+): (?<message>.*)$");
  private static final Pattern LIBRDKAFKA =
      Pattern.compile("^%(?<level>\\d)\\|(?<time>\\d+\\.\\d{3})\\|(?<logger>\\w+)\\|[^|]*\\| (?<message>.*)$");
  private static final Pattern UNDATED =
      Pattern.compile("^\\s*" + LEVEL + "\\s+(?<message>.*? \\([\\w.$]+(?::\\d+)?\\))$");

  /** A pasted line that has lost its date; what time it was of which day, nobody knows. */
  private static final Pattern CLOCK =
      Pattern.compile("^\\s*\\[?\\d\\d:\\d\\d:\\d\\d(?:[.,]\\d{1,9})?\\]? +(?:\\[.*?\\] +)?" + LEVEL + " +(?:(?<logger>[\\w$]+(?:\\.[\\w$]+)+) -{1,2} )?(?<message>.*)$");

  /** docker-compose, CRI, {@code kubectl logs --prefix}, syslog, {@code grep -n}, a quotation. */
  private static final Pattern OUTER =
      Pattern.compile(
          "^(?:\\[pod/\\S+\\] |[\\w.-]+ +\\| ?|\\S+ std(?:out|err) [FP] |(?:\\S*[\\\\/])?[\\w.-]+\\.log[\\w.-]*:(?:\\d+:)?|(?:> ?)+"
              + "|\\w{3} +\\d+ \\d\\d:\\d\\d:\\d\\d \\S+ [^\\[\\s]+(?:\\[\\d+\\])?: )");
  /** {@code kubectl logs --timestamps}, journald's short-iso and rsyslog's own: their time counts where the line has none. */
  private static final Pattern OUTER_DATE =
      Pattern.compile("^" + DATE + " (?:[\\w.-]+ [^\\[\\s:]+(?:\\[\\d+\\])?: |std(?:out|err) [FP] |(?=[\\[{%]|\\d{4}-|[A-Z]{4,5} ))");
  private static final Pattern ANSI = Pattern.compile("\u001b\\[[0-9;]*[A-Za-z]");
  private static final int MOST_PREFIXES = 4;

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String[] TIMES = {"@timestamp", "timestamp", "time", "timeMillis", "ts", "date", "datetime", "asctime"};
  private static final String[] LEVELS = {"level", "log.level", "loglevel", "severity", "levelname"};
  private static final String[] LOGGERS = {"logger", "loggerName", "logger_name", "log.logger", "class", "name", "c"};
  private static final String[] MESSAGES = {"message", "msg", "@message", "log"};
  private static final String[] TRACES = {"stack_trace", "exception", "stacktrace", "error.stack_trace", "throwable"};

  private static final byte[][] NAMES = {
    "INFO ".getBytes(UTF_8), "WARN ".getBytes(UTF_8), "ERROR ".getBytes(UTF_8), "DEBUG ".getBytes(UTF_8), "TRACE ".getBytes(UTF_8), "FATAL ".getBytes(UTF_8)
  };
  private static final String[] WORDS = {"INFO", "WARN", "ERROR", "DEBUG", "TRACE", "FATAL"};
  private static final int STANDARD = 26;

  private final Clock clock;
  private String lastLogger = "";
  private byte[] lastLoggerBytes = {};
  private final Map<String, String> loggers = new HashMap<>();

  Layouts(Clock clock) {
    this.clock = clock;
  }

  /** Reads what a line begins with; {@code false} where it is none that begins an entry. */
  boolean read(byte[] bytes, int from, int until, Header header) {
    header.clear();
    return standard(bytes, from, until, header) || worthPatterns(bytes, from, until) && any(new String(bytes, from, until - from, UTF_8), header, 0);
  }

  private boolean standard(byte[] bytes, int from, int until, Header header) {
    if (until - from < STANDARD || bytes[from] != '[' || bytes[from + 24] != ']' || bytes[from + 25] != ' ' || !isDate(bytes, from + 1)) {
      return false;
    }
    int level = level(bytes, from + STANDARD, until);
    if (level < 0) {
      return false;
    }
    header.time = clock.standard(bytes, from + 1);
    header.level = WORDS[level];
    header.from = from + STANDARD + NAMES[level].length;
    header.until = until;
    takeLogger(bytes, header);
    return header.time != Header.NO_TIME;
  }

  /** {@code dddd-dd-dd dd:dd:dd,ddd}. */
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

  /** Takes {@code (kafka.log.Log)} off the end of a message. */
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

  /** One text for many lines of the same logger. */
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

  /** Whether there is a date, a level or an object in sight: stack traces need no pattern. */
  private static boolean worthPatterns(byte[] bytes, int from, int until) {
    int most = Math.min(until, from + 200);
    for (int at = from; at < most; at++) {
      byte letter = bytes[at];
      boolean worth =
          letter == '{' && at - from < 80
              || letter == '%' && at == from
              || (letter == '-' || letter == '/') && at - from >= 2 && at + 3 < until && isDigit(bytes[at - 1]) && isDigit(bytes[at - 2]) && isDigit(bytes[at + 1]) && bytes[at + 3] == letter
              || at - from < 24 && level(bytes, at, until) >= 0;
      if (worth) {
        return true;
      }
    }
    return false;
  }

  /** Whether a line has, near its beginning, what an entry begins with: a time such as 10:03:42, and a level. */
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
      int length = name.length - 1;
      if (until - at >= length && java.util.Arrays.equals(bytes, at, at + length, name, 0, length)) {
        return until - at == length || !isOfName(bytes[at + length]);
      }
    }
    return false;
  }

  private static boolean isDigit(byte letter) {
    return letter >= '0' && letter <= '9';
  }

  private boolean any(String raw, Header header, int prefixes) {
    String line = raw.indexOf('\u001b') >= 0 ? ANSI.matcher(raw).replaceAll("") : raw.startsWith("\ufeff") ? raw.substring(1) : raw;
    return ofApplication(line, header) || json(line, header) || prefixes < MOST_PREFIXES && behind(line, header, prefixes);
  }

  private boolean ofApplication(String line, Header header) {
    for (Pattern layout : OF_APPLICATIONS) {
      Matcher found = layout.matcher(line);
      if (found.find()) {
        header.time = clock.iso(found.group("time"), found.group("zone"));
        return header.time != Header.NO_TIME && take(found, header);
      }
    }
    return spark(line, header) || librdkafka(line, header) || undated(line, header);
  }

  private boolean spark(String line, Header header) {
    Matcher found = SPARK.matcher(line);
    if (!found.find()) {
      return false;
    }
    header.time = clock.iso("20" + found.group("time").replace('/', '-'), null);
    return header.time != Header.NO_TIME && take(found, header);
  }

  private static boolean librdkafka(String line, Header header) {
    Matcher found = LIBRDKAFKA.matcher(line);
    if (!found.find()) {
      return false;
    }
    header.time = Math.round(Double.parseDouble(found.group("time")) * 1000);
    header.level = syslog(found.group("level").charAt(0) - '0');
    header.logger = found.group("logger");
    header.message = found.group("message");
    return true;
  }

  /** {@code LOG_ERR} and worse, {@code LOG_WARNING}, {@code LOG_NOTICE} and {@code LOG_INFO}, {@code LOG_DEBUG} (syslog(3)). */
  private static String syslog(int level) {
    return level <= 3 ? "ERROR" : level == 4 ? "WARN" : level <= 6 ? "INFO" : "DEBUG";
  }

  private boolean undated(String line, Header header) {
    Matcher found = UNDATED.matcher(line);
    Matcher clock = CLOCK.matcher(line);
    return found.find() && take(found, header) || clock.find() && take(clock, header);
  }

  private boolean take(Matcher found, Header header) {
    boolean named = gives(found, "logger");
    header.level = gives(found, "level") ? normal(found.group("level")) : null;
    String logger = named ? found.group("logger") : null;
    header.logger = logger == null ? null : withoutLine(logger);
    header.message = found.group("message");
    if (logger == null) {
      byte[] bytes = header.message.getBytes(UTF_8);
      header.until = bytes.length;
      takeLogger(bytes, header);
      header.message = new String(bytes, 0, header.until, UTF_8);
    }
    return true;
  }

  private static boolean gives(Matcher found, String group) {
    return found.pattern().pattern().contains("(?<" + group + ">");
  }

  private static String normal(String level) {
    return switch (level.toUpperCase(java.util.Locale.ROOT)) {
      case "WARNING" -> "WARN";
      case "SEVERE" -> "ERROR";
      default -> level.toUpperCase(java.util.Locale.ROOT);
    };
  }

  /** Takes off what stands before the line proper; its time counts where the line has none. */
  private boolean behind(String line, Header header, int prefixes) {
    Matcher plain = OUTER.matcher(line);
    if (plain.find() && plain.end() > 0) {
      return any(line.substring(plain.end()), header, prefixes + 1);
    }
    Matcher dated = OUTER_DATE.matcher(line);
    if (!dated.find()) {
      return false;
    }
    long time = clock.iso(dated.group("time"), dated.group("zone"));
    String rest = line.substring(dated.end());
    if (!any(rest, header, prefixes + 1)) {
      header.clear();
      header.message = rest;
    }
    header.time = header.time == Header.NO_TIME ? time : header.time;
    return true;
  }

  private boolean json(String line, Header header) {
    if (!line.startsWith("{")) {
      return false;
    }
    try {
      JsonNode object = JSON.readTree(line);
      JsonNode message = first(object, MESSAGES);
      if (message == null || !message.isTextual()) {
        return false;
      }
      return wrapped(object, message.asText(), header) || ofObject(object, message.asText(), header);
    } catch (JsonProcessingException notJson) {
      return false;
    }
  }

  /** Docker's json-file: the line proper is a text in it. */
  private boolean wrapped(JsonNode object, String line, Header header) {
    if (!object.has("stream") || !any(line.strip(), header, MOST_PREFIXES)) {
      return false;
    }
    header.time = header.time == Header.NO_TIME ? time(object) : header.time;
    return true;
  }

  private boolean ofObject(JsonNode object, String message, Header header) {
    JsonNode level = first(object, LEVELS);
    JsonNode logger = first(object, LOGGERS);
    JsonNode trace = first(object, TRACES);
    header.time = time(object);
    header.level = level == null || !level.isTextual() ? null : normal(level.asText());
    header.logger = logger == null ? null : logger.asText();
    header.message = trace == null || !trace.isTextual() ? message.stripTrailing() : message.stripTrailing() + "\n" + trace.asText().stripTrailing();
    return header.time != Header.NO_TIME || header.level != null;
  }

  private long time(JsonNode object) {
    if (object.has("instant") && object.get("instant").has("epochSecond")) {
      JsonNode instant = object.get("instant");
      return instant.get("epochSecond").asLong() * 1000 + instant.path("nanoOfSecond").asLong() / 1_000_000;
    }
    JsonNode time = first(object, TIMES);
    if (time == null) {
      return Header.NO_TIME;
    }
    if (time.isNumber()) {
      return Clock.epoch(time.asDouble());
    }
    Matcher found = Pattern.compile("^" + DATE + "$").matcher(time.asText());
    return found.find() ? clock.iso(found.group("time"), found.group("zone")) : Header.NO_TIME;
  }

  /** A member by any of its usual names; {@code log.level} also as an object in an object. */
  private static JsonNode first(JsonNode object, String[] names) {
    for (String name : names) {
      JsonNode found = object.has(name) ? object.get(name) : object.at("/" + name.replace('.', '/'));
      if (!found.isMissingNode() && found.isValueNode()) {
        return found;
      }
    }
    return null;
  }
}
