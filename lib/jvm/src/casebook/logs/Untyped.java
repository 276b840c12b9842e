package casebook.logs;

import java.util.LinkedHashMap;
import java.util.Map;

/** Counts entries that match no wording, by logger, level and shape. */
public final class Untyped {
  /** Number of shapes that are counted separately; all others count as one. */
  private static final int MOST_SHAPES = 4000;

  private static final int LONGEST = 160;
  private static final String OTHERS = "(other shapes)";

  /**
   * One shape.
   *
   * @param logger the logger; {@code null} if the lines have none
   * @param level {@code INFO} and so on; {@code null} if the lines have none
   * @param shape the message without its numbers and names
   */
  public record Key(String logger, String level, String shape) {}

  /** Count of the entries, with the place and text of the first. */
  public static final class Seen {
    public long count;
    public final long line;
    public final String text;

    private Seen(long line, String text) {
      this.line = line;
      this.text = text;
    }
  }

  public final Map<Key, Seen> seen = new LinkedHashMap<>();

  void add(String logger, String level, String message, long line) {
    int ends = message.indexOf('\n');
    String first = ends < 0 ? message : message.substring(0, ends);
    Key key = new Key(logger, level, shape(first));
    Seen one = seen.get(key);
    if (one == null) {
      Key kept = seen.size() < MOST_SHAPES ? key : new Key(null, level, OTHERS);
      one = seen.computeIfAbsent(kept, none -> new Seen(line, first.length() > 400 ? first.substring(0, 400) : first));
    }
    one.count++;
  }

  /** The message with {@code #} for each word that contains a digit. */
  static String shape(String message) {
    StringBuilder shape = new StringBuilder(LONGEST);
    int length = message.length();
    int begin = 0;
    while (begin < length && shape.length() < LONGEST) {
      int end = begin;
      boolean digit = false;
      while (end < length && !parts(message.charAt(end))) {
        char letter = message.charAt(end++);
        digit |= letter >= '0' && letter <= '9';
      }
      if (digit) {
        shape.append('#');
      } else {
        shape.append(message, begin, Math.min(end, begin + LONGEST));
      }
      if (end < length) {
        shape.append(message.charAt(end++));
      }
      begin = end;
    }
    return shape.toString().strip();
  }

  private static boolean parts(char letter) {
    return letter <= ' ' || ",;=()[]{}\"'<>".indexOf(letter) >= 0;
  }
}
