package casebook.logs;

import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Printed times in all their forms. No missing part is made up. A time without a year gets the year that is nearest to the last
 * complete time. A day and a month that could be swapped, an hour without a day, and a zone name with several meanings give no
 * time.
 */
final class Stamps {
  /** A time in a text: its end, the epoch milliseconds or {@link Header#NO_TIME}, and whether it has a day. */
  record Stamp(int end, long time, boolean hasDay) {}

  /** A printed form; only its own groups can be read. */
  static final class Form {
    private static final Pattern GROUP = Pattern.compile("\\(\\?<([a-z]+)>");
    private final Matcher matcher;
    private final Set<String> groups = new HashSet<>();

    Form(String regex) {
      matcher = Pattern.compile(regex).matcher("");
      Matcher named = GROUP.matcher(regex);
      while (named.find()) {
        groups.add(named.group(1));
      }
    }

    boolean isAt(String text, int from) {
      return matcher.reset(text).region(from, text.length()).useTransparentBounds(true).lookingAt();
    }

    String text(String group) {
      return groups.contains(group) ? matcher.group(group) : null;
    }

    int number(String group) {
      String digits = text(group);
      return digits == null ? 0 : Integer.parseInt(digits);
    }
  }

  private static final String CLOCK =
      "(?<half>[上下]午 ?)?(?<hour>\\d\\d?)[:时点](?<minute>\\d\\d)(?:[:分](?<second>\\d\\d)秒?)?(?:(?:[.,:]|(?<=:\\d\\d) (?=\\d{3} {1,2}(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\\b))(?<fraction>\\d{1,9}))?(?: ?(?<noon>[AaPp]\\.?[Mm]\\b\\.?))?";
  private static final String ZONES_NAMED =
      "UTC|GMT|WES?T|CES?T|MES?Z|EES?T|MSK|[ECMP][SD]T|JST|KST|SGT|HKT|AE[SD]T|IST|BST|AST|ADT|NZ[SD]T|HST|AK[SD]T";
  private static final String ZONE =
      "(?: ?(?<zone>Z(?!\\w)|[+-]\\d\\d:?\\d\\d(?!\\d)|(?:" + ZONES_NAMED + ")(?![\\w-])(?:[+-]\\d\\d:?\\d\\d)?)(?: ?(?:\\([A-Z]{3,5}\\)|\\[\\w+/\\w+\\]))?)?";
  private static final String WEEKDAY = "(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Mo|Di|Mi|Do|Fr|Sa|So)[a-z]{0,6}\\.?,? )?";
  private static final String MONTH = "(?<name>[A-Z][a-zä]{2,8}|\\d\\d?月)\\.?";
  private static final String BETWEEN = "(?:[ T_]|, ?| at | - )";

  private final Form[] dated = {
    new Form("(?<year>\\d{4})(?<border>[-/.])(?<month>\\d\\d?)\\k<border>(?<day>\\d\\d?)" + BETWEEN + CLOCK + ZONE),
    new Form("(?<one>\\d\\d?)(?<border>[-/.])(?<two>\\d\\d?)\\k<border>(?<year>\\d{4}|\\d\\d)" + BETWEEN + CLOCK + ZONE),
    new Form(WEEKDAY + MONTH + " {1,2}(?<day>\\d\\d?)(?:st|nd|rd|th)?,?(?: (?<year>\\d{4}),?)?(?: at)? " + CLOCK + ZONE + "(?: (?<later>\\d{4})(?!\\d))?"),
    new Form(WEEKDAY + "(?<day>\\d\\d?)\\.?[- /]" + MONTH + "(?:[- /](?<year>\\d{4}|\\d\\d(?!:)))?(?:[ :T]|, ?)" + CLOCK + ZONE),
    new Form("(?<year>\\d{4})年(?<month>\\d\\d?)月(?<day>\\d\\d?)日? ?(?:星期.|周.)? ?" + CLOCK + ZONE),
  };
  private final Form epoch = new Form("(?<epoch>[12]\\d{9}(?:[.,]\\d{3,9}|\\d{3})?)(?![\\w.])");

  /** glog's form, after the letter of a level. */
  private final Form glog = new Form("(?<month>\\d\\d)(?<day>\\d\\d) " + CLOCK);

  private final Form alone = new Form(CLOCK);

  /** Zone names with one offset worldwide; {@code CST}, {@code IST}, {@code BST} and others have several. */
  private static final Map<String, String> OFFSETS =
      Map.ofEntries(
          Map.entry("UTC", "Z"), Map.entry("GMT", "Z"), Map.entry("WET", "Z"), Map.entry("WEST", "+01:00"), Map.entry("CET", "+01:00"),
          Map.entry("CEST", "+02:00"), Map.entry("MEZ", "+01:00"), Map.entry("MESZ", "+02:00"), Map.entry("EET", "+02:00"), Map.entry("EEST", "+03:00"),
          Map.entry("MSK", "+03:00"), Map.entry("EST", "-05:00"), Map.entry("EDT", "-04:00"), Map.entry("CDT", "-05:00"), Map.entry("MST", "-07:00"),
          Map.entry("MDT", "-06:00"), Map.entry("PST", "-08:00"), Map.entry("PDT", "-07:00"), Map.entry("JST", "+09:00"), Map.entry("KST", "+09:00"),
          Map.entry("SGT", "+08:00"), Map.entry("HKT", "+08:00"), Map.entry("AEST", "+10:00"), Map.entry("AEDT", "+11:00"));

  private static final Map<String, Integer> MONTHS = months();

  private final Clock clock;

  /** The last complete time. */
  private long last = Header.NO_TIME;

  private DayOrder order = DayOrder.UNKNOWN;

  Stamps(Clock clock) {
    this.clock = clock;
  }

  private static Map<String, Integer> months() {
    Map<String, Integer> found = new HashMap<>();
    String[] english = {"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"};
    String[] german = {"jan", "feb", "mär", "apr", "mai", "jun", "jul", "aug", "sep", "okt", "nov", "dez"};
    for (int month = 1; month <= 12; month++) {
      found.put(english[month - 1], month);
      found.put(german[month - 1], month);
      found.put(month + "月", month);
    }
    return found;
  }

  /** Begins another file, with its order of day and month. */
  void begin(DayOrder order) {
    last = Header.NO_TIME;
    this.order = order;
  }

  /** Records a complete time that was read by other means. */
  void near(long time) {
    last = time;
  }

  /** The time that begins at a place; {@code null} if none does. Seconds since 1970 count only at the start of a line and in brackets. */
  Stamp at(String text, int from, boolean isBracketed) {
    for (Form form : dated) {
      if (form.isAt(text, from)) {
        return new Stamp(form.matcher.end(), timeOf(form), true);
      }
    }
    if (from > 0 && "IWEF".indexOf(text.charAt(from - 1)) >= 0 && glog.isAt(text, from)) {
      return new Stamp(glog.matcher.end(), timeOf(glog), true);
    }
    if ((isBracketed || from == 0) && epoch.isAt(text, from)) {
      return new Stamp(epoch.matcher.end(), timeOf(epoch), true);
    }
    boolean isClock = alone.isAt(text, from) && alone.text("second") != null && alone.text("hour").length() == 2;
    return isClock ? new Stamp(alone.matcher.end(), Header.NO_TIME, false) : null;
  }

  /** The time in the groups of the form that was matched last. */
  long timeOf(Form form) {
    try {
      if (form.text("epoch") != null) {
        return whole(Clock.epoch(Double.parseDouble(form.text("epoch").replace(',', '.'))));
      }
      if (form.text("day") == null && form.text("one") == null) {
        return Header.NO_TIME;
      }
      int[] date = form.text("one") != null ? ordered(form) : new int[] {year(form), month(form), form.number("day")};
      if (date == null) {
        return Header.NO_TIME;
      }
      boolean hasYear = date[0] > 0;
      LocalDateTime moment =
          LocalDateTime.of(hasYear ? date[0] : 2000, date[1], date[2], hour(form), form.number("minute"), form.number("second"), nanos(form));
      return hasYear ? whole(clock.at(moment, form.text("zone"))) : nearest(moment, form.text("zone"));
    } catch (DateTimeException none) {
      return Header.NO_TIME;
    }
  }

  private long whole(long time) {
    last = time == Header.NO_TIME ? last : time;
    return time;
  }

  /** The printed year; 0 if none is printed. */
  private static int year(Form form) {
    String year = form.text("year") != null ? form.text("year") : form.text("later");
    return year == null ? 0 : year.length() == 2 ? 2000 + Integer.parseInt(year) : Integer.parseInt(year);
  }

  private static int month(Form form) {
    String name = form.text("name");
    if (name == null) {
      return form.number("month");
    }
    Integer month = MONTHS.get(name.endsWith("月") ? name : name.substring(0, 3).toLowerCase(Locale.ROOT));
    if (month == null) {
      throw new DateTimeException(name);
    }
    return month;
  }

  /**
   * Year, month and day from three numbers of which the first is not the year; {@code null} if their order is unknown. With
   * points between the numbers, the day is first; with AM or PM, the month. Otherwise, a number above twelve is the day, unless
   * the year may be first; if no number is above twelve, other lines of the file decide.
   */
  private int[] ordered(Form form) {
    int one = form.number("one");
    int two = form.number("two");
    if (form.text("border").equals(".")) {
      return new int[] {year(form), two, one};
    }
    if (form.text("noon") != null) {
      return new int[] {year(form), one, two};
    }
    boolean isOpen = one <= 12 && two <= 12 && one != two;
    if (form.text("year").length() == 2 || isOpen && order == DayOrder.UNKNOWN) {
      return null;
    }
    boolean dayFirst = isOpen ? order == DayOrder.DAY_FIRST : one > 12;
    return dayFirst ? new int[] {year(form), two, one} : new int[] {year(form), one, two};
  }

  private static int hour(Form form) {
    String half = form.text("half") != null ? form.text("half") : form.text("noon");
    if (half == null) {
      return form.number("hour");
    }
    boolean isAfternoon = half.startsWith("下") || half.toLowerCase(Locale.ROOT).startsWith("p");
    return form.number("hour") % 12 + (isAfternoon ? 12 : 0);
  }

  private static int nanos(Form form) {
    String digits = form.text("fraction");
    return digits == null ? 0 : Integer.parseInt((digits + "00000000").substring(0, 9));
  }

  /** The time in the year that brings it closest to the last complete time; {@link Header#NO_TIME} if there is none. */
  private long nearest(LocalDateTime moment, String zone) {
    if (last == Header.NO_TIME) {
      return Header.NO_TIME;
    }
    int year = LocalDate.ofEpochDay(Math.floorDiv(last, 86_400_000L)).getYear();
    long best = Header.NO_TIME;
    for (int tried = year - 1; tried <= year + 1; tried++) {
      long time = clock.at(moment.withYear(tried), zone);
      best = best == Header.NO_TIME || Math.abs(time - last) < Math.abs(best - last) ? time : best;
    }
    return best;
  }

  /** The offset of a printed zone: {@code null} if none is printed, {@code ""} if it has several meanings. */
  static String offset(String zone) {
    if (zone == null || zone.isEmpty()) {
      return null;
    }
    int sign = Math.max(zone.indexOf('+'), zone.indexOf('-'));
    return zone.equals("Z") ? "Z" : sign >= 0 ? zone.substring(sign) : OFFSETS.getOrDefault(zone, "");
  }
}
