package casebook.logs;

import java.util.regex.Pattern;

/**
 * Signs that a line without a header of its own does not belong to the entry before it, in a file that mixes the logs of several
 * programs.
 */
final class Foreign {
  /**
   * A source location at the start of lines from loggers of Go, Python and C: {@code reader.go:1837: },
   * {@code fetcher->_fetch():750 - }.
   */
  private static final Pattern PLACE =
      Pattern.compile("(?:[\\w ]{1,30} >> )?(?:[\\w./-]{1,80}\\.(?:go|c|cc|cpp|js|ts|py|rb|rs):\\d+:? (?=\\S)|[\\w.>-]{1,80}\\(\\):\\d+ - )");

  /** Output of the JVM for a thread that ended, of testify for a test, and of other tools for a run: it continues no log entry. */
  private static final Pattern OF_STDERR = Pattern.compile("Exception in thread \"|Error(?: Trace)?:\\s{2,}\\S");

  /** An ident of Kafka's classes: {@code [ReplicaFetcher replicaId=2, leaderId=3] }. */
  private static final Pattern IDENT = Pattern.compile("\\[[A-Z]\\w+ \\w+=[^\\]\\n]*\\] (?=\\S)");

  /** A time and a level, also in lower case, or a level and a class with its package, after an unknown prefix. */
  private static final Pattern LAID_OUT =
      Pattern.compile(
          ".{0,80}?\\b\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d:\\d\\d\\S*\\s+\\[?(?i:trace|debug|info|warn(?:ing)?|error|fatal)\\b\\]?\\s"
              + "|\\s?.{0,80}?\\b(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) +(?:[a-z]\\w*\\.){2,}[A-Z]\\w* +(?:- |: )");

  /** A garbage collection, with the JVM's uptime or without any time; behind a container's name too. */
  private static final Pattern COLLECTED =
      Pattern.compile("(?:[\\w#.-]{1,60} ?\\| ?)?[\\s*]{0,16}(?:\\[[\\d.,]+m?s\\](?:\\[[\\w ]+\\])*\\[gc[\\w,+ ]*\\]|(?:[\\d.,]+: )?\\[(?:Full )?GC(?: pause| \\()|Total time for which application threads were stopped: )");

  /** Marks of librdkafka's output, which has no stack traces. */
  private static final Pattern OF_LIBRDKAFKA = Pattern.compile("\\[thrd:|\\brdkafka#(?:consumer|producer)-\\d");

  private Foreign() {}

  /** Whether a line is laid out like an entry, regardless of its indentation. */
  static boolean isLaidOut(String line) {
    return LAID_OUT.matcher(line).lookingAt() || COLLECTED.matcher(line).lookingAt();
  }

  /** Whether a line that is not indented begins something other than the rest of an entry. */
  static boolean begins(String line, Entry entry) {
    boolean isBegun = PLACE.matcher(line).lookingAt() || OF_STDERR.matcher(line).lookingAt() || isLaidOut(line);
    return isBegun || entry.isThrownAnew(line) || entry.isOutsideTraceback(line) || entry.isClosed() && IDENT.matcher(line).lookingAt() || Entry.isException(line) && OF_LIBRDKAFKA.matcher(entry.firstLine()).find();
  }
}
