package casebook.logs;

import casebook.logs.Stamps.Stamp;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** librdkafka's own headers: {@code %3|1605866400.123|FAIL|rdkafka#producer-1| }, {@code RDKAFKA-3-FAIL: }. */
final class RdkafkaHeaders {
  private static final Pattern PLAIN = Pattern.compile("(?:RDKAFKA-|LOG-|%)(?<level>\\d)(?:-|\\|)(?:(?<time>\\d+\\.\\d{3})\\|)?(?<name>[A-Z_]{2,12})(?:: (?:rdkafka#\\S+: )?|\\|(?:[^|]*\\| ?)?)");

  /**
   * The layout of librdkafka's examples, and of applications based on them:
   * {@code 7|2026-11-20 10:00:00.123|rdkafka#consumer-1|JOIN| }.
   */
  private static final Pattern DATED =
      Pattern.compile("(?<level>[0-7])\\|(?<time>\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d{3})\\|[^|\\s]*#[^|\\s]*\\|(?<name>[A-Z_]{2,12})\\| ?");

  /** The same without its level, after the collector's time: {@code 2026-11-20 10:00:00|1795168800.123|FAIL|rdkafka#consumer-1| }. */
  private static final Pattern TAKEN = Pattern.compile("\\|(?<time>\\d{10}\\.\\d{3})\\|(?<name>[A-Z_]{2,12})\\|[^|\\s]*#[^|\\s]*\\| ?");

  private final Stamps stamps;

  /**
   * Content of a header.
   *
   * @param level {@code null} where it prints none
   * @param name of the facility
   * @param time {@link Header#NO_TIME} where it prints none
   * @param end where the message begins
   */
  record Found(String level, String name, long time, int end) {}

  RdkafkaHeaders(Stamps stamps) {
    this.stamps = stamps;
  }

  /** One behind a collector's time, without its level; {@code null} for another. */
  static Found taken(String line, int at) {
    Matcher found = TAKEN.matcher(line).region(Math.max(0, at - 1), line.length());
    return found.lookingAt() ? new Found(null, found.group("name"), millis(found.group("time")), found.end()) : null;
  }

  /** One with a date, at the start of a line; {@code null} for another. */
  Found dated(String line) {
    Matcher found = DATED.matcher(line);
    Stamp stamp = found.lookingAt() ? stamps.at(line, found.start("time"), true) : null;
    return stamp == null ? null : new Found(level(found), found.group("name"), stamp.time(), found.end());
  }

  /** One with its level, and epoch seconds or no time; {@code null} for another. */
  static Found plain(String line, int at) {
    Matcher found = PLAIN.matcher(line).region(at, line.length());
    return found.lookingAt() ? new Found(level(found), found.group("name"), millis(found.group("time")), found.end()) : null;
  }

  private static long millis(String seconds) {
    return seconds == null ? Header.NO_TIME : Math.round(Double.parseDouble(seconds) * 1000);
  }

  /** {@code LOG_ERR} and worse, {@code LOG_WARNING}, {@code LOG_NOTICE} and {@code LOG_INFO}, {@code LOG_DEBUG} (syslog(3)). */
  private static String level(Matcher found) {
    int level = found.group("level").charAt(0) - '0';
    return level <= 3 ? "ERROR" : level == 4 ? "WARN" : level <= 6 ? "INFO" : "DEBUG";
  }
}
