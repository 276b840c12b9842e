package casebook.logs;

import java.util.regex.Pattern;

/** What tells that a line without a header of its own is nothing of the entry before it, where the logs of several programs are mixed. */
final class Foreign {
  /** A place in the source that Go's, Python's and C's loggers begin their lines with: {@code reader.go:1837: }, {@code fetcher->_fetch():750 - }. */
  private static final Pattern PLACE =
      Pattern.compile("(?:[\\w ]{1,30} >> )?(?:[\\w./-]{1,80}\\.(?:go|c|cc|cpp|js|ts|py|rb|rs):\\d+:? (?=\\S)|[\\w.>-]{1,80}\\(\\):\\d+ - )");

  /** What the JVM prints of a thread that ended, testify of a test, and others of a run: nobody's log entry goes on with it. */
  private static final Pattern OF_STDERR = Pattern.compile("Exception in thread \"|Error(?: Trace)?:\\s{2,}\\S");

  /** Who speaks, of Kafka's classes: {@code [ReplicaFetcher replicaId=2, leaderId=3] }. */
  private static final Pattern IDENT = Pattern.compile("\\[[A-Z]\\w+ \\w+=[^\\]\\n]*\\] (?=\\S)");

  /** A time and a level, as they are written in small letters, or a level and a class with its package, behind what nobody knows. */
  private static final Pattern LAID_OUT =
      Pattern.compile(
          ".{0,80}?\\b\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d:\\d\\d\\S*\\s+\\[?(?i:trace|debug|info|warn(?:ing)?|error|fatal)\\b\\]?\\s"
              + "|\\s?.{0,80}?\\b(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) +(?:[a-z]\\w*\\.){2,}[A-Z]\\w* +(?:- |: )");

  /** What librdkafka prints: lines, and no stack traces. */
  private static final Pattern OF_LIBRDKAFKA = Pattern.compile("\\[thrd:|\\brdkafka#(?:consumer|producer)-\\d");

  private Foreign() {}

  /** Whether a line is laid out as an entry is, however it is indented. */
  static boolean isLaidOut(String line) {
    return LAID_OUT.matcher(line).lookingAt();
  }

  /** Whether a line that is not indented begins something else than the rest of an entry. */
  static boolean begins(String line, Entry entry) {
    boolean isBegun = PLACE.matcher(line).lookingAt() || OF_STDERR.matcher(line).lookingAt() || isLaidOut(line);
    return isBegun || entry.isThrownAnew(line) || entry.isClosed() && IDENT.matcher(line).lookingAt() || Entry.isException(line) && OF_LIBRDKAFKA.matcher(entry.firstLine()).find();
  }
}
