package casebook.logs;

/** Time, level and logger of a message, printed before or after it. */
public final class Header {
  public static final long NO_TIME = Long.MIN_VALUE;

  /** Epoch milliseconds, or {@link #NO_TIME}. */
  long time = NO_TIME;

  String level;
  String logger;

  /** Layout of the line in log4j's notation: {@code [%d] %p %m (%c)}; {@code …} stands for a collector's prefix. */
  String layout;

  /** The message, if it is not a part of the line, as in a JSON line. */
  String message;

  /** Group and partition that a JSON line names outside the message; {@code null} for none. */
  Fields said;

  /** Start and end of the message in the line. */
  int from;

  int until;

  /** Copies the header of a line that was at another position. */
  void take(Header other, int movedBy) {
    time = other.time;
    level = other.level;
    logger = other.logger;
    layout = other.layout;
    message = other.message;
    said = other.said;
    from = other.from - movedBy;
    until = other.until - movedBy;
  }

  void clear() {
    time = NO_TIME;
    level = null;
    logger = null;
    layout = null;
    message = null;
    said = null;
    from = 0;
    until = 0;
  }
}
