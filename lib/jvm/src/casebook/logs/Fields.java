package casebook.logs;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Content of a line: its partition and group separately, all other fields by name in the order of the line. */
public final class Fields {
  private static final char[] HEX = "0123456789abcdef".toCharArray();

  /** A file of a segment, in the folder of its partition. */
  private static final Pattern OF_SEGMENT = Pattern.compile("[/\\\\]([^/\\\\]+-\\d{1,9})[/\\\\]\\d{20}\\.[^/\\\\]*\\z");

  public String topic;
  public int partition = -1;
  public String group;
  private final List<String> names = new ArrayList<>(4);
  private final List<String> values = new ArrayList<>(4);

  /** Sets a field unless it is set: the fields of the line take precedence over those of its ident. */
  void put(String name, String value) {
    switch (name) {
      case "tp" -> putPartition(value);
      case "topic" -> topic = topic == null ? value : topic;
      case "partition" -> partition = partition < 0 ? number(value) : partition;
      case "group" -> group = group == null ? value : group;
      case "file" -> putFile(value);
      default -> putNamed(name, value);
    }
  }

  private void putNamed(String name, String value) {
    if (!names.contains(name)) {
      names.add(name);
      values.add(value);
    }
  }

  /** Sets a file, and the partition whose folder it is in. */
  private void putFile(String path) {
    putNamed("file", path);
    Matcher segment = OF_SEGMENT.matcher(path);
    if (segment.find()) {
      putPartition(segment.group(1));
    }
  }

  /** Adds the fields of others that are not set. */
  void add(Fields others) {
    if (topic == null && partition < 0) {
      topic = others.topic;
      partition = others.partition;
    }
    group = group == null ? others.group : group;
    for (int index = 0; index < others.names.size(); index++) {
      put(others.names.get(index), others.values.get(index));
    }
  }

  /** Sets the partition from {@code [orders,3]} (to 0.10.1) or {@code orders-3}. */
  private void putPartition(String place) {
    boolean old = place.startsWith("[") && place.endsWith("]");
    String whole = old ? place.substring(1, place.length() - 1) : place;
    int border = whole.lastIndexOf(old ? ',' : '-');
    int number = border < 1 ? -1 : number(whole.substring(border + 1));
    if (number < 0) {
      put("log", place);
    } else if (topic == null && partition < 0) {
      topic = whole.substring(0, border);
      partition = number;
    }
  }

  private static int number(String digits) {
    if (digits.isEmpty() || digits.length() > 9) {
      return -1;
    }
    int value = 0;
    for (int index = 0; index < digits.length(); index++) {
      int digit = digits.charAt(index) - '0';
      if (digit < 0 || digit > 9) {
        return -1;
      }
      value = 10 * value + digit;
    }
    return value;
  }

  /** Value of a name; {@code null} for none. */
  String named(String name) {
    int index = names.indexOf(name);
    return index < 0 ? null : values.get(index);
  }

  /** All fields except partition and group, as a JSON object. */
  public String json() {
    if (names.isEmpty()) {
      return "{}";
    }
    StringBuilder json = new StringBuilder(64);
    for (int index = 0; index < names.size(); index++) {
      json.append(index == 0 ? '{' : ',');
      quote(json, names.get(index));
      json.append(':');
      quote(json, values.get(index));
    }
    return json.append('}').toString();
  }

  static void quote(StringBuilder json, String text) {
    json.append('"');
    for (int index = 0; index < text.length(); index++) {
      char character = text.charAt(index);
      if (character == '"' || character == '\\') {
        json.append('\\').append(character);
      } else if (character < ' ' || Character.isSurrogate(character) && !paired(text, index)) {
        json.append("\\u").append(HEX[character >> 12]).append(HEX[character >> 8 & 15]).append(HEX[character >> 4 & 15]).append(HEX[character & 15]);
      } else {
        json.append(character);
      }
    }
    json.append('"');
  }

  private static boolean paired(String text, int index) {
    return Character.isHighSurrogate(text.charAt(index))
        ? index + 1 < text.length() && Character.isLowSurrogate(text.charAt(index + 1))
        : index > 0 && Character.isHighSurrogate(text.charAt(index - 1));
  }
}
