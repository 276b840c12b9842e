package casebook.logs;

import casebook.logs.Stamps.Stamp;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Layouts whose parts have one fixed order, as they cannot be configured: .NET's console, klog and glog, and kafka-python's examples. */
final class FixedLayouts {
  /** .NET's console, with the message in the next line: {@code fail: App.Worker[0]}. */
  private static final Pattern OF_NET = Pattern.compile("(?<level>trce|dbug|info|warn|fail|crit): (?<logger>[A-Za-z_][\\w.+`]*)\\[\\d+\\]\\s*");

  /** klog and glog: {@code E1120 10:00:00.123456    4711 client.go:71] }. */
  private static final Pattern OF_GLOG = Pattern.compile("(?:\\s{0,4}|[\\w./-]{0,80}(?::?\\d{1,9}){1,2}:)(?<level>[IWEF])(?=\\d{4} \\d\\d:\\d\\d:\\d\\d\\.\\d{3,6} )");

  /** Text after their time: the thread, and the source line. */
  private static final Pattern PLACE_OF_GLOG = Pattern.compile("\\s+\\d+ (?:[\\w./-]+:\\d+)?\\w{0,2}\\] ");

  /**
   * Text after the time in the layout that kafka-python's examples give to {@code logging.basicConfig}:
   * {@code ,123.123.456:kafka.conn:140:ERROR:7:}.
   */
  private static final Pattern OF_PYTHON =
      Pattern.compile("(?:\\.\\d{1,3}(?:\\.\\d+)?)?:(?<logger>[A-Za-z_]\\w*(?:\\.\\w+)*):(?:\\d+:)?(?<level>DEBUG|INFO|WARNING|ERROR|CRITICAL):\\d+:");

  private final Stamps stamps;

  FixedLayouts(Stamps stamps) {
    this.stamps = stamps;
  }

  /** Reads the header of a line; {@code false} if it has none of these layouts. */
  boolean read(String line, Header header) {
    return ofNet(line, header) || ofGlog(line, header) || ofPython(line, header);
  }

  private static boolean ofNet(String line, Header header) {
    Matcher found = OF_NET.matcher(line);
    if (!found.matches()) {
      return false;
    }
    String printed = found.group("level");
    header.level = printed.equals("trce") ? "TRACE" : printed.equals("dbug") ? "DEBUG" : printed.equals("fail") ? "ERROR" : Levels.normal(printed.equals("crit") ? "F" : printed);
    header.logger = found.group("logger");
    header.message = "";
    header.layout = "%p: %c[…] %m";
    return true;
  }

  private boolean ofGlog(String line, Header header) {
    Matcher found = OF_GLOG.matcher(line);
    if (!found.lookingAt()) {
      return false;
    }
    Stamp stamp = stamps.at(line, found.end(), false);
    Matcher place = stamp == null ? null : PLACE_OF_GLOG.matcher(line).region(stamp.end(), line.length());
    if (place == null || !place.lookingAt()) {
      return false;
    }
    header.time = stamp.time();
    header.level = Levels.normal(found.group("level"));
    header.message = line.substring(place.end()).stripTrailing();
    header.from = place.end();
    header.layout = "%p%d … %m";
    return true;
  }

  private boolean ofPython(String line, Header header) {
    Stamp stamp = line.startsWith("20") ? stamps.at(line, 0, false) : null;
    Matcher found = stamp == null || stamp.time() == Header.NO_TIME ? null : OF_PYTHON.matcher(line).region(stamp.end(), line.length());
    if (found == null || !found.lookingAt()) {
      return false;
    }
    header.time = stamp.time();
    header.level = Levels.normal(found.group("level"));
    header.logger = found.group("logger");
    header.message = line.substring(found.end()).stripTrailing();
    header.from = found.end();
    header.layout = "%d:%c:%p:%m";
    return true;
  }
}
