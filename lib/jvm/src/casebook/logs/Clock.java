package casebook.logs;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Converts printed times to epoch milliseconds. In an hour that a clock change repeats, a time counts as the first of the two. */
final class Clock {
  private static final int HOUR_DIGITS = 13;

  private final ZoneId zone;
  private final byte[] hour = new byte[HOUR_DIGITS];
  private long hourBegins = Header.NO_TIME;

  Clock(ZoneId zone) {
    this.zone = zone;
  }

  /** Time of {@code yyyy-MM-dd HH:mm:ss,SSS} at a place of an array, in this clock's zone. */
  long standard(byte[] bytes, int at) {
    long begins = hourAt(bytes, at);
    return begins == Header.NO_TIME
        ? begins
        : begins + 60_000L * two(bytes, at + 14) + 1000L * two(bytes, at + 17) + 100 * (bytes[at + 20] - '0') + two(bytes, at + 21);
  }

  private static int two(byte[] bytes, int at) {
    return 10 * (bytes[at] - '0') + bytes[at + 1] - '0';
  }

  /** Start of the printed hour. It is kept, as consecutive lines mostly share it. */
  private long hourAt(byte[] bytes, int at) {
    boolean same = true;
    for (int index = 0; index < HOUR_DIGITS && same; index++) {
      same = bytes[at + index] == hour[index] || index == 10;
    }
    if (!same) {
      System.arraycopy(bytes, at, hour, 0, HOUR_DIGITS);
      hourBegins = local(100 * two(bytes, at) + two(bytes, at + 2), two(bytes, at + 5), two(bytes, at + 8), two(bytes, at + 11));
    }
    return hourBegins;
  }

  private long local(int year, int month, int day, int of) {
    try {
      return LocalDateTime.of(year, month, day, of, 0).atZone(zone).toInstant().toEpochMilli();
    } catch (DateTimeException noSuchHour) {
      return Header.NO_TIME;
    }
  }

  /**
   * Converts a local time by the printed zone, else by this clock's zone. A zone name with several meanings counts only if this
   * clock's zone has that name at that time.
   */
  long at(LocalDateTime moment, String printed) {
    try {
      String offset = Stamps.offset(printed);
      if (offset == null || offset.isEmpty() && isCalled(printed, moment)) {
        return moment.atZone(zone).toInstant().toEpochMilli();
      }
      return offset.isEmpty() ? Header.NO_TIME : moment.toInstant(ZoneOffset.of(offset)).toEpochMilli();
    } catch (DateTimeException none) {
      return Header.NO_TIME;
    }
  }

  private boolean isCalled(String name, LocalDateTime moment) {
    return DateTimeFormatter.ofPattern("zzz", Locale.ENGLISH).format(moment.atZone(zone)).equals(name);
  }

  /** Converts epoch seconds or milliseconds, as JSON layouts print them. */
  static long epoch(double value) {
    return Math.round(value > 1e11 ? value : value * 1000);
  }

  static String iso(long time) {
    return time == Header.NO_TIME ? null : Instant.ofEpochMilli(time).toString();
  }
}
