package casebook.logs;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Order of day and month in a file, by the dates at its start: of two numbers before a year, one above twelve is the day. A date
 * of three two-digit numbers begins with its year if the last number changes from day to day, and the first does not.
 */
public enum DayOrder {
  DAY_FIRST,
  MONTH_FIRST,
  YEAR_FIRST,
  UNKNOWN;

  private static final Pattern DATE = Pattern.compile("(?<![\\d/-])(\\d\\d?)([-/])(\\d\\d?)\\2\\d{4}[ ,T]");

  private static final Pattern SHORT = Pattern.compile("^(\\d\\d/\\d\\d/)(\\d\\d) \\d\\d:\\d\\d:\\d\\d ", Pattern.MULTILINE);

  /** The order by all dates of a text; a text with both orders is ambiguous. */
  public static DayOrder of(byte[] head) {
    String text = new String(head, ISO_8859_1);
    Matcher date = DATE.matcher(text);
    boolean dayFirst = false;
    boolean monthFirst = false;
    while (date.find()) {
      dayFirst |= Integer.parseInt(date.group(1)) > 12;
      monthFirst |= Integer.parseInt(date.group(3)) > 12;
    }
    DayOrder otherwise = isYearFirst(text) ? YEAR_FIRST : UNKNOWN;
    return dayFirst == monthFirst ? otherwise : dayFirst ? DAY_FIRST : MONTH_FIRST;
  }

  /** Whether a short date also occurs with its full year, or two short dates differ in their last number only. */
  private static boolean isYearFirst(String text) {
    Matcher date = SHORT.matcher(text);
    String before = null;
    String last = null;
    while (date.find()) {
      boolean isAnother = date.group(1).equals(before) && !date.group(2).equals(last);
      if (isAnother || before == null && text.contains("20" + date.group(1).replace('/', '-') + date.group(2))) {
        return true;
      }
      before = date.group(1);
      last = date.group(2);
    }
    return false;
  }
}
