package casebook.logs;

import java.util.Locale;

/** Levels as programs print them, and as log4j names them. */
final class Levels {
  /** A regex of all, in capital letters. */
  static final String ALL = "TRACE|DEBUG|INFO(?:RMATION)?|NOTICE|WARN(?:ING)?|ERROR|ERR|FATAL|SEVERE|CRIT(?:ICAL)?|ALERT|EMERG(?:ENCY)?|PANIC";

  private Levels() {}

  /** Log4j's name of a level, also of its first letter or in lower case. */
  static String normal(String level) {
    return switch (level.toUpperCase(Locale.ROOT)) {
      case "WARNING", "W" -> "WARN";
      case "SEVERE", "E", "ERR", "CRIT", "CRITICAL", "ALERT" -> "ERROR";
      case "F", "EMERG", "EMERGENCY", "PANIC" -> "FATAL";
      case "I", "INFORMATION", "NOTICE" -> "INFO";
      case "D" -> "DEBUG";
      case "T" -> "TRACE";
      default -> level.toUpperCase(Locale.ROOT);
    };
  }
}
