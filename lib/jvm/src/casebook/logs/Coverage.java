package casebook.logs;

/** What a part of a file covers. */
public final class Coverage {
  /** Lines that begin in it. */
  public long lines;

  /** Entries with a date or a level. */
  public long entries;

  /** Entries and lines whose meaning is known. */
  public long typed;

  /** Times of the first and the last dated entry, or {@link Header#NO_TIME}. */
  public long first = Header.NO_TIME;

  public long last = Header.NO_TIME;

  /** Why it could not be read to its end; {@code null} when it was. */
  public String damage;

  void dated(long time) {
    if (time != Header.NO_TIME) {
      first = first == Header.NO_TIME ? time : first;
      last = time;
    }
  }
}
