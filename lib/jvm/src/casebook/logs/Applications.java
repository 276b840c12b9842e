package casebook.logs;

import java.util.regex.Pattern;

/** Kafka trouble that an application reports in its own words, in a warning or an error that matches no wording. */
final class Applications {
  private static final int LONGEST = 400;

  /** Kafka by its name, but not as part of a path, of a setting or of another name. */
  private static final Pattern OF_KAFKA = Pattern.compile("(?<![\\w./@$-])(?:[Kk]afka|KAFKA)(?![\\w$/@-]|\\.\\w)");

  /** A class that is named after Kafka. */
  private static final Pattern OF_CLASS = Pattern.compile("(?:.*\\.)?\\w*Kafka[\\w$]*");

  private static final Pattern OF_TROUBLE =
      Pattern.compile("(?i)\\b(?:errors?|exceptions?|fail(?:ed|ure|ures|ing|s)?|unable|cannot|can't|can not|could(?: not|n't)|unavailable|unreachable|refused|rejected|tim(?:ed|e)[ -]?out|timeout|lost|broken|aborted|disconnected|not (?:available|connected|reachable|running|responding|ready)|no (?:\\w+ )?brokers?|only \\d+ out of \\d+|crash(?:ed)?)\\b");

  private static final Pattern OF_CONNECTIONS =
      Pattern.compile("(?i)\\b(?:(?:re)?connect(?:ing|ion|ions|ed|ivity)?|disconnected|unreachable|unavailable|refused|dial|not (?:available|connected|reachable|responding|running)|no (?:\\w+ )?brokers?|no such host|brokers? (?:available|reachable))\\b");

  private Applications() {}

  /** Kind of a message, for any logger; {@code null} if neither message nor logger names Kafka, or the message reports no trouble. */
  static String kind(String logger, String message) {
    int ends = message.indexOf('\n');
    String line = message.substring(0, Math.min(ends < 0 ? message.length() : ends, LONGEST));
    boolean isOfKafka = OF_KAFKA.matcher(line).find() || logger != null && OF_CLASS.matcher(logger).matches();
    if (!isOfKafka || !OF_TROUBLE.matcher(line).find()) {
      return null;
    }
    return OF_CONNECTIONS.matcher(line).find() ? "client_disconnected" : "client_error";
  }
}
