package casebook.logs;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;

/** Printed times to epoch milliseconds. An hour that a clock change doubles counts as its first. */
final class Clock {
  private static final int HOUR_DIGITS = 13;

  private final ZoneId zone;
  private final byte[] hour = new byte[HOUR_DIGITS];
  private long hourBegins = Header.NO_TIME;

  Clock(ZoneId zone) {
    this.zone = zone;
  }

  /** {@code yyyy-MM-dd HH:mm:ss,SSS} at a place of an array, in this clock's zone. */
  long standard(byte[] bytes, int at) {
    long begins = hourAt(bytes, at);
    return begins == Header.NO_TIME
        ? begins
        : begins + 60_000L * two(bytes, at + 14) + 1000L * two(bytes, at + 17) + 100 * (bytes[at + 20] - '0') + two(bytes, at + 21);
  }

  private static int two(byte[] bytes, int at) {
    return 10 * (bytes[at] - '0') + bytes[at + 1] - '0';
  }

  /** Lines of one hour follow each other. */
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

  /** An ISO time, with a blank for the T, a comma for the point, any number of decimals and a zone or none. */
  long iso(String text, String stated) {
    try {
      String normal = text.replace(' ', 'T').replace(',', '.');
      if (stated == null || stated.isEmpty()) {
        return LocalDateTime.parse(normal).atZone(zone).toInstant().toEpochMilli();
      }
      return OffsetDateTime.of(LocalDateTime.parse(normal), offset(stated.trim())).toInstant().toEpochMilli();
    } catch (DateTimeException none) {
      return Header.NO_TIME;
    }
  }

  private static ZoneOffset offset(String stated) {
    return stated.equals("Z") || stated.equals("UTC") ? ZoneOffset.UTC : ZoneOffset.of(stated);
  }

  /** Epoch seconds or milliseconds, as JSON layouts give them. */
  static long epoch(double value) {
    return Math.round(value > 1e11 ? value : value * 1000);
  }

  static String iso(long time) {
    return time == Header.NO_TIME ? null : Instant.ofEpochMilli(time).toString();
  }
}
