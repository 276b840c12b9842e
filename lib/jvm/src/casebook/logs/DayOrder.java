package casebook.logs;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Which of two numbers before a year is the day, as the beginning of a file tells: where one is above twelve, it is. */
public enum DayOrder {
  DAY_FIRST,
  MONTH_FIRST,
  UNKNOWN;

  private static final Pattern DATE = Pattern.compile("(?<![\\d/-])(\\d\\d?)([-/])(\\d\\d?)\\2\\d{4}[ ,T]");

  /** By all dates of a text; one that is laid out both ways tells nothing. */
  public static DayOrder of(byte[] head) {
    Matcher date = DATE.matcher(new String(head, ISO_8859_1));
    boolean dayFirst = false;
    boolean monthFirst = false;
    while (date.find()) {
      dayFirst |= Integer.parseInt(date.group(1)) > 12;
      monthFirst |= Integer.parseInt(date.group(3)) > 12;
    }
    return dayFirst == monthFirst ? UNKNOWN : dayFirst ? DAY_FIRST : MONTH_FIRST;
  }
}
