package casebook.logs;

/** What stands before a message: when, how grave, and after it: whose. */
public final class Header {
  public static final long NO_TIME = Long.MIN_VALUE;

  /** Epoch milliseconds, or {@link #NO_TIME}. */
  long time = NO_TIME;

  String level;
  String logger;

  /** How the line is laid out, as log4j writes it: {@code [%d] %p %m (%c)}; {@code …} stands for what a collector put before it. */
  String layout;

  /** The message, where it does not stand in the line itself: a JSON line's. */
  String message;

  /** The group and the partition that it names apart from the message: a JSON line's; {@code null} for none. */
  Fields said;

  /** Where in the line the message begins and ends. */
  int from;

  int until;

  /** Takes over what was read of a line that lay elsewhere. */
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
