package casebook.logs;

import java.util.Map;
import java.util.TreeMap;

/** Coverage of a part of a file. */
public final class Coverage {
  /** A file with more speakers has no speaker of its own. */
  private static final int MOST_SPEAKERS = 1000;

  private static final int MOST_LAYOUTS = 100;

  /** Lines that begin in the part. */
  public long lines;

  /** Entries with a date or a level. */
  public long entries;

  /** Entries and lines that match a wording. */
  public long typed;

  /** Lines with a time of day and a level that nevertheless begin no entry, and entries without a known time. */
  public long strange;

  /** Times of the first and the last dated entry, or {@link Header#NO_TIME}. */
  public long first = Header.NO_TIME;

  public long last = Header.NO_TIME;

  /** The parts that could not be read, and the reason; {@code null} if everything was read. */
  public String damage;

  /** Entries by the broker that they name as their speaker. */
  private final Map<String, Long> speakers = new TreeMap<>();

  /** Entries by layout. */
  private final Map<String, Long> layouts = new TreeMap<>();

  void laidOut(String layout) {
    if (layout != null && (layouts.size() < MOST_LAYOUTS || layouts.containsKey(layout))) {
      layouts.merge(layout, 1L, Long::sum);
    }
  }

  /** Number of entries by layout, as a JSON object. */
  public String layouts() {
    return json(layouts);
  }

  void spoken(String speaker) {
    if (speaker != null && (speakers.size() < MOST_SPEAKERS || speakers.containsKey(speaker))) {
      speakers.merge(speaker, 1L, Long::sum);
    }
  }

  /** Number of entries by speaker, as a JSON object. */
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

  /** Coverage of a file that could not be opened. */
  public static Coverage none(String damage) {
    Coverage coverage = new Coverage();
    coverage.damaged(damage);
    return coverage;
  }

  void damaged(String what) {
    damage = damage == null ? what : damage + "; " + what;
  }
}
