package casebook.logs;

import java.util.regex.Pattern;

/** Layout of a header in log4j's notation, part by part; {@code …} stands for what is no part of it. */
final class LayoutSketch {
  private static final int LONGEST = 120;
  private static final String OPENERS = "[(<{";
  private static final String CLOSERS = "])>}";
  private static final Pattern LINE_NUMBER = Pattern.compile("[:@]\\d+");
  private static final Pattern LOGGER_IN_PARENTHESES = Pattern.compile("\\([\\w.$:@>]*\\)?");
  private static final Pattern THREAD_IN_BRACKETS = Pattern.compile("\\[.*\\]");

  private final StringBuilder layout = new StringBuilder();

  /** Begins a line, behind a prefix or not. */
  void begin(boolean isPrefixed) {
    layout.setLength(0);
    layout.append(isPrefixed ? "… " : "");
  }

  /** Appends the conversion of a part: the logger that it names, its level, or its time. */
  void add(String part, boolean isTime, boolean isLevel, String logger) {
    boolean isLogger = logger != null;
    if (layout.length() > LONGEST) {
      return;
    }
    if (isLogger && part.indexOf('|') > 0 && part.charAt(0) >= '1' && part.charAt(0) <= '9' && !isLevel) {
      layout.append("%d|%c|%t|");
    } else if (isLogger && isLevel) {
      layout.append(part.startsWith("%") ? "%p|%d|%c|%t|" : "%p-%c:");
    } else if (isLogger && part.contains(logger)) {
      String named = LINE_NUMBER.matcher(part.replace(logger, "%c")).replaceAll(":%L");
      addAsItIs(named, 0, named.length());
    } else if (isTime || isLevel) {
      addWrapped(part, isTime ? "%d" : "%p");
    } else if (isOf(OPENERS, part, 0) || isOf(CLOSERS, part, part.length() - 1)) {
      addWrapped(part, "%t");
    } else {
      layout.append(part.endsWith(" ") ? "… " : "…");
    }
  }

  private void addWrapped(String part, String conversion) {
    boolean isOpened = isOf(OPENERS, part, 0);
    layout.append(isOpened ? part.substring(0, 1) : "").append(conversion);
    int last = part.length() - 1;
    layout.append(isOf(CLOSERS, part, last) ? part.substring(last) : "");
  }

  private static boolean isOf(String letters, String part, int at) {
    return letters.indexOf(part.charAt(at)) >= 0;
  }

  /** Appends part of a text, with several blanks as one. */
  void addAsItIs(String text, int from, int until) {
    for (int index = from; index < until; index++) {
      char letter = Character.isWhitespace(text.charAt(index)) ? ' ' : text.charAt(index);
      if (letter != ' ' || layout.length() == 0 || layout.charAt(layout.length() - 1) != ' ') {
        layout.append(letter);
      }
    }
  }

  /**
   * The layout of the header and its message.
   *
   * @param end text from the logger at the line's end on; {@code null} without one
   */
  String whole(String end) {
    if (layout.length() == 0 || layout.charAt(layout.length() - 1) != ' ') {
      layout.append(' ');
    }
    layout.append("%m");
    if (end != null) {
      String named = LOGGER_IN_PARENTHESES.matcher(end).replaceAll("(%c)");
      layout.append(THREAD_IN_BRACKETS.matcher(named).replaceAll("[%t]").stripTrailing());
    }
    return layout.toString().strip();
  }
}
