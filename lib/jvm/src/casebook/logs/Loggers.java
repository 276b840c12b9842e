package casebook.logs;

/** Compares shortened names of loggers: {@code NetworkClient}, {@code o.a.k.c.NetworkClient}, {@code org.apa.kaf.cli.X}. */
final class Loggers {
  private Loggers() {}

  /** Whether a logger may be short for a name with this prefix; a class without its package is compared by its name. */
  static boolean isShort(String logger, String own) {
    String[] printed = logger.split("\\.");
    String[] whole = own.split("\\.");
    if (printed.length == 1) {
      String name = whole[whole.length - 1];
      return !Character.isUpperCase(name.charAt(0)) || printed[0].startsWith(name);
    }
    for (int index = 0; index < Math.min(printed.length, whole.length); index++) {
      boolean isLast = index == whole.length - 1;
      if (printed[index].isEmpty() || !whole[index].startsWith(printed[index]) && !(isLast && printed[index].startsWith(whole[index]))) {
        return false;
      }
    }
    return true;
  }

  /** Whether a shortened logger with its package may begin with this full name, which ends with a dot if it is a package. */
  static boolean isIn(String logger, String own) {
    if (logger.charAt(0) != own.charAt(0) || logger.startsWith(own.substring(0, own.indexOf('.') + 1) + "apache.")) {
      return false;
    }
    int least = own.split("\\.").length + (own.endsWith(".") ? 1 : 0);
    return logger.split("\\.").length >= least && isShort(logger, own);
  }
}
