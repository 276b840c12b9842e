package casebook.logs;

import java.util.Map;
import java.util.TreeMap;

/** What a part of a file covers. */
public final class Coverage {
  /** A file of more has none of its own. */
  private static final int MOST_SPEAKERS = 1000;

  private static final int MOST_LAYOUTS = 100;

  /** Lines that begin in it. */
  public long lines;

  /** Entries with a date or a level. */
  public long entries;

  /** Entries and lines whose meaning is known. */
  public long typed;

  /** Lines with a clock's time and a level that nevertheless begin no entry, and entries without a time that is known. */
  public long strange;

  /** Times of the first and the last dated entry, or {@link Header#NO_TIME}. */
  public long first = Header.NO_TIME;

  public long last = Header.NO_TIME;

  /** What of it could not be read, and why; {@code null} when it was read from its beginning to its end. */
  public String damage;

  /** Entries by the broker that they name as the one that speaks. */
  private final Map<String, Long> speakers = new TreeMap<>();

  /** Entries by how they are laid out. */
  private final Map<String, Long> layouts = new TreeMap<>();

  void laidOut(String layout) {
    if (layout != null && (layouts.size() < MOST_LAYOUTS || layouts.containsKey(layout))) {
      layouts.merge(layout, 1L, Long::sum);
    }
  }

  /** How many entries are laid out in which way, as a JSON object. */
  public String layouts() {
    return json(layouts);
  }

  void spoken(String speaker) {
    if (speaker != null && (speakers.size() < MOST_SPEAKERS || speakers.containsKey(speaker))) {
      speakers.merge(speaker, 1L, Long::sum);
    }
  }

  /** How many entries name each speaker, as a JSON object. */
  public String speakers() {
    return json(speakers);
  }

  private static String json(Map<String, Long> counts) {
    StringBuilder json = new StringBuilder("{");
    counts.forEach(
        (name, count) -> {
          json.append(json.length() > 1 ? "," : "");
          Fields.quote(json, name);
          json.append(':').append(count);
        });
    return json.append('}').toString();
  }

  void dated(long time) {
    if (time != Header.NO_TIME) {
      first = first == Header.NO_TIME ? time : first;
      last = time;
    }
  }

  /** Of a file that could not be opened. */
  public static Coverage none(String damage) {
    Coverage coverage = new Coverage();
    coverage.damaged(damage);
    return coverage;
  }

  void damaged(String what) {
    damage = damage == null ? what : damage + "; " + what;
  }
}
