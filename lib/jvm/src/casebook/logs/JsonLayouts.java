package casebook.logs;

import casebook.logs.Stamps.Stamp;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Entries that are JSON objects, in all usual layouts, and entries of pairs such as {@code level=info msg="..."}. Their members
 * are found by the usual names. If the message is a complete log line that a collector wrapped, the header of that line counts.
 */
final class JsonLayouts {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String[] TIMES = {"@timestamp", "timestamp", "time", "timemillis", "ts", "date", "datetime", "asctime", "eventtime", "@t", "t", "instant"};
  private static final String[] LEVELS = {"level", "log.level", "loglevel", "severity", "levelname", "log_level", "lvl", "severitytext", "@l", "severity_text"};
  private static final String[] LOGGERS = {"logger", "loggername", "logger_name", "log.logger", "class", "name", "c", "component", "category", "sourcecontext"};
  private static final String[] MESSAGES = {"message", "msg", "@message", "log", "textpayload", "@m", "body", "line", "event.original", "short_message", "_raw", "text", "msg.message", "fields.message",
    "message.deserializationerror.errormessage", "message.recordprocessingerror.errormessage", "message.productionerror.errormessage"};
  private static final String[] TRACES = {"stack_trace", "exception", "stacktrace", "error.stack_trace", "throwable", "thrown", "stack", "error", "err", "error.stack", "err.stack", "error.message", "err.message", "sarama_error"};
  private static final Pattern MEMBER = Pattern.compile("\"([@\\w.]+)\"\\s*:\\s*(?:\"([^\"\\\\]*+(?:\\\\.[^\"\\\\]*+)*+)(?:\"|$)|(-?[\\d.]+))");
  private static final Pattern PAIR = Pattern.compile("(?:^|[\\s{,])([@\\w.]+)=(?:\"([^\"\\\\]*+(?:\\\\.[^\"\\\\]*+)*+)\"|(\\S+?)(?=,?(?:\\s|$)))");

  private static final Pattern NAMED = Pattern.compile("[\\s,]+[@\\w.]+=");

  /** An object whose brace was not copied. */
  private static final Pattern REST = Pattern.compile("\\s{0,8}\"@?[\\w.]+\"\\s*:\\s*\"");

  /** Clients' names for the group, the topic and the partition: KafkaJS, franz-go and Spring. */
  private static final String[] GROUPS = {"groupid", "group_id", "group", "consumergroup", "mdc.groupid"};

  private static final int FARTHEST = 80;

  private final Stamps stamps;
  private final Headers headers;

  JsonLayouts(Stamps stamps, Headers headers) {
    this.stamps = stamps;
    this.headers = headers;
  }

  /** Reads an object in a line; {@code false} if the line has none that is an entry. */
  boolean read(String line, Header header) {
    int begin = line.indexOf('{');
    boolean isObject = begin >= 0 && begin < FARTHEST && line.startsWith("\"", line.length() > begin + 1 ? blank(line, begin + 1) : begin);
    boolean isRest = !isObject && REST.matcher(line).lookingAt();
    Map<String, String> members = isObject ? members(line.substring(begin)) : isRest ? texts(line) : pairs(line);
    String message = first(members, MESSAGES);
    if (message == null || !isObject && !isRest && first(members, LEVELS) == null) {
      return false;
    }
    return wrapped(members, message, header) || ofObject(members, message, header);
  }

  private static int blank(String line, int at) {
    int index = at;
    while (index < line.length() - 1 && line.charAt(index) == ' ') {
      index++;
    }
    return index;
  }

  /**
   * Members by name in lower case; members of inner objects as {@code log.level}. A cut object gives its complete members, and
   * its last text.
   */
  private static Map<String, String> members(String text) {
    Map<String, String> found = new LinkedHashMap<>();
    try {
      add(JSON.readTree(text), "", found);
      return found;
    } catch (JsonProcessingException cut) {
      return texts(text);
    }
  }

  private static Map<String, String> texts(String text) {
    Map<String, String> found = new LinkedHashMap<>();
    Matcher member = MEMBER.matcher(text);
    while (member.find()) {
      found.putIfAbsent(member.group(1).toLowerCase(Locale.ROOT), member.group(2) != null ? unescaped(member.group(2)) : member.group(3));
    }
    return found;
  }

  private static void add(JsonNode node, String path, Map<String, String> found) {
    Iterator<Map.Entry<String, JsonNode>> fields = node.fields();
    while (fields.hasNext()) {
      Map.Entry<String, JsonNode> field = fields.next();
      String name = path + field.getKey().toLowerCase(Locale.ROOT);
      if (field.getValue().isValueNode() && !field.getValue().isNull()) {
        found.putIfAbsent(name, field.getValue().asText());
      } else if (name.equals("instant") && field.getValue().has("epochSecond")) {
        JsonNode instant = field.getValue();
        found.put(name, String.valueOf(instant.get("epochSecond").asLong() * 1000 + instant.path("nanoOfSecond").asLong() / 1_000_000));
      } else if (field.getValue().isObject()) {
        add(field.getValue(), name + ".", found);
      }
    }
  }

  private static String unescaped(String text) {
    return text.replace("\\n", "\n").replace("\\t", "\t").replace("\\\"", "\"").replace("\\/", "/").replace("\\\\", "\\");
  }

  private static Map<String, String> pairs(String line) {
    Map<String, String> found = new LinkedHashMap<>();
    if (line.contains("msg=") || line.contains("message=")) {
      Matcher pair = PAIR.matcher(line);
      while (pair.find()) {
        String name = pair.group(1).toLowerCase(Locale.ROOT);
        boolean isMessage = pair.group(2) == null && (name.equals("msg") || name.equals("message"));
        found.putIfAbsent(name, isMessage ? sentence(line, pair.start(3)) : pair.group(2) != null ? unescaped(pair.group(2)) : pair.group(3));
      }
    }
    return found;
  }

  /** A message without quotes: up to the next name. */
  private static String sentence(String line, int from) {
    Matcher next = NAMED.matcher(line).region(from, line.length());
    return line.substring(from, next.find() ? next.start() : line.length());
  }

  private boolean wrapped(Map<String, String> members, String message, Header header) {
    int ends = message.indexOf('\n');
    if (!headers.read(ends < 0 ? message.stripTrailing() : message.substring(0, ends), header) || !isHeader(members, header)) {
      header.clear();
      return false;
    }
    header.layout = "JSON: " + header.layout;
    header.message += ends < 0 ? "" : message.substring(ends).stripTrailing();
    header.time = header.time == Header.NO_TIME ? time(members) : header.time;
    return true;
  }

  /** Whether a message begins with a line's header: a word such as {@code ERROR:} alone belongs to the message. */
  private static boolean isHeader(Map<String, String> members, Header header) {
    boolean isWordAlone = header.time == Header.NO_TIME && header.logger == null && first(members, LEVELS) != null;
    return header.level != null && !isWordAlone;
  }

  private boolean ofObject(Map<String, String> members, String message, Header header) {
    String level = first(members, LEVELS);
    String trace = first(members, TRACES);
    header.time = time(members);
    header.level = level == null ? null : Levels.normal(level);
    header.logger = first(members, LOGGERS);
    header.layout = "JSON: " + name(members, TIMES, "%d") + name(members, LEVELS, "%p") + name(members, LOGGERS, "%c") + name(members, MESSAGES, "%m").strip();
    header.message = trace == null ? message.stripTrailing() : message.stripTrailing() + "\n" + trace.stripTrailing();
    header.said = said(members);
    return header.time != Header.NO_TIME || header.level != null;
  }

  /** Group and partition from members of their own. */
  private static Fields said(Map<String, String> members) {
    Fields said = new Fields();
    put(said, "group", first(members, GROUPS));
    put(said, "topic", members.get("topic"));
    put(said, "partition", members.get("partition"));
    return said;
  }

  private static void put(Fields said, String name, String value) {
    if (value != null && !value.isBlank()) {
      said.put(name, value);
    }
  }

  private long time(Map<String, String> members) {
    String printed = first(members, TIMES);
    Stamp stamp = printed == null ? null : stamps.at(printed, 0, true);
    return stamp == null ? Header.NO_TIME : stamp.time();
  }

  /** Name of a member with its conversion, {@code severity=%p }; {@code ""} if it does not exist. */
  private static String name(Map<String, String> members, String[] names, String conversion) {
    String found = key(members, names);
    return found == null ? "" : found + "=" + conversion + " ";
  }

  private static String first(Map<String, String> members, String[] names) {
    String found = key(members, names);
    return found == null ? null : members.get(found);
  }

  private static String key(Map<String, String> members, String[] names) {
    for (String name : names) {
      String found = members.get(name);
      if (found != null && !found.isBlank()) {
        return name;
      }
    }
    return null;
  }
}
