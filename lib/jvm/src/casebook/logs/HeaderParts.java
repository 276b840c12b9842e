package casebook.logs;

import java.util.regex.Pattern;

/** The parts of a header as they are printed: levels, loggers, threads, processes, and what containers and collectors put before them. */
final class HeaderParts {
  static final Pattern LEVEL = Pattern.compile("(?:" + Levels.ALL + ")(?:(?![\\w$./=-])|/[\\w-]{1,40}(?=\\]))");
  static final Pattern LEVEL_IN_BRACKETS = Pattern.compile("(?i)(?:" + Levels.ALL + ")|[TDIWEF]");
  static final Pattern LEVEL_BEFORE_COLON = Pattern.compile("(?i)(?:" + Levels.ALL + ")(?=:)");

  /** {@code (kafka.log.Log)} at the end, followed by a thread in Strimzi's layout, and by characters of quotes and tables; or its rest. */
  static final Pattern LOGGER_AT_END =
      Pattern.compile(" ?(?:\\((?:(?<logger>(?:kafka|org|state|io|com|net)(?:\\.[\\w$]+)+|[\\w$]+(?:\\.[\\w$]+)*\\.[A-Z][\\w$]*)(?:[:@]\\d+)?|[\\w$.]*\\.\\.\\.[\\w$.]*|state\\.change\\.logger)\\)|\\((?:kafka|org|state)\\.[\\w.$]*>?$)(?: \\[(?:[^\\[\\]]|\\[[^\\[\\]]*\\])*(?:\\]|$))?[\\s\"'`*|}]*$");

  static final Pattern LOGGER =
      Pattern.compile("(?<logger>[A-Za-z_$][\\w$-]*(?:\\.[\\w$<>-]+)+|[A-Z][\\w$]*[a-z][\\w$]*|[\\w$]{40}(?= : )|root)(?:[:@]\\d+|:\\[\\d+\\](?= )|\\((?:ln|line):\\d+\\)|\\(\\w+\\.(?:java|scala|kt):\\d+\\))?(?: ?\\[[^\\]]*\\])?(?: *(?:: |:$| -{1,2} |(?<=\\(line:\\d{1,6}\\) )-(?=\\S)|\\| ?|\\] )|:(?=\\S))");
  static final Pattern LOGGER_BEHIND_COLON = Pattern.compile("(?<logger>[A-Za-z_][\\w$-]*(?:\\.[\\w$-]+)*):(?=\\S)");

  /** A class with its package, or one after its thread whose message begins in the next line. */
  static final Pattern LOGGER_ALONE =
      Pattern.compile("(?<logger>(?:org|o(?=\\.a\\.)|kafka|io|com|net|state)(?:\\.[a-z][\\w$]*)+\\.[A-Z][\\w$]*(?<!Exception|Error|Throwable)(?=(?:[:@]\\d+)? )|(?<=\\] )(?:[A-Z][a-z]+){2,}(?=\\s*$))(?:[:@]\\d+)? ?");

  /** Kafka's own header, inside the output of a service wrapper or a test. */
  static final Pattern OWN = Pattern.compile("\\[\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d,\\d{3}\\] (?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) ");

  /** A class with its package after a time only: no level was printed. */
  static final Pattern LOGGER_WITHOUT_LEVEL = Pattern.compile("(?<logger>(?:org\\.apache|kafka)\\.(?:[a-z]\\w*\\.)*[A-Z][\\w$]*(?<!Exception|Error|Throwable)): (?=\\S)");

  static final Pattern FILE_OF_C = Pattern.compile("[\\w./-]+\\.(?:c|cc|cpp|go|js|ts|py|rb|rs):\\d+(?:\\(\\w+\\))?\\]?:? ");

  /** A thread of Kafka's behind its class, without brackets. */
  static final Pattern THREAD_OF_KAFKA = Pattern.compile("(?<=\\] )(?:[\\w-]*-)?kafka-[\\w-]+(?: \\| [\\w.-]+)? - ");

  static final Pattern THREAD_BEFORE_LOGGER = Pattern.compile("[^\\[\\]]{1,120}? - (?=(?:org|kafka|io|com|net|state)\\.)|[\\w-]{1,40} (?=(?:(?:org|kafka)\\.[a-z]\\w*|o\\.a)\\.)|[\\w#./ -]{1,60} \\| (?=[\\w$.]+ \\| )");
  static final Pattern LOGGER_BEFORE_LEVEL = Pattern.compile("(?<logger>[\\w$]+(?:\\.[\\w$]+)+)(?:(?: -{1,2})? +|::)(?=(?:" + Levels.ALL + ")(?: |::|$))");

  /** Start of a Python line without a time. */
  static final Pattern LOGGER_FIRST = Pattern.compile("(?<logger>[\\w$]+(?:\\.[\\w$]+)+) - (?=(?:" + Levels.ALL + ") - )");

  static final Pattern KEYED = Pattern.compile("(?:(?:pri|level|lvl|severity)=(?<level>\\w+)|(?:at|logger|class|category)=(?<logger>[^\\s\\]]+)|(?:t|thread)=\\S+)");
  static final Pattern PROCESS = Pattern.compile("\\d{1,8}(?= (?:---|\\[|\\())|[\\d,]{1,14}(?= (?:" + Levels.ALL + ") )|#\\d{1,8}(?=\\] )");

  /** Names of Python threads without brackets. */
  static final Pattern THREAD_OF_PYTHON = Pattern.compile("(?:MainThread|Thread-\\d{1,6})(?: \\(\\w+\\))? (?=\\S)");

  /** A host and a program; the first words of clients' errors are neither. */
  static final Pattern OF_SYSLOG = Pattern.compile("(?!kafka(?: server)?: |(?:\\w+ )?[\\w.]*(?:Error|Exception): |KafkaJS)(?:[\\w.:-]+ )?[\\w./-]+(?:\\[[\\w.-]+\\])?: ");

  /**
   * Text before a Go logger's date, including the logger's prefix: {@code kafka-go: 2026/11/20 10:00:00 },
   * {@code app_1 | [sarama] 2026/… }.
   */
  static final Pattern OF_GO = Pattern.compile("[>\\s]{0,8}(?:[\\w.-]{1,60} {1,40}\\| ?)?(?:\\[[\\w-]{1,30}\\] ?|[\\w-]{1,30}: ?)?\\d{4}/\\d\\d/\\d\\d \\d\\d:\\d\\d:\\d\\d");

  /** A thread between colons, without brackets. */
  static final Pattern THREAD_BEFORE_LEVEL = Pattern.compile("[\\w-]{1,60}(?::\\d+)? : (?=(?:" + Levels.ALL + ") )");

  /** Start of log4j's TTCC layout: milliseconds since the start of the program, before its thread and level. */
  static final Pattern SINCE_START = Pattern.compile("\\d{1,9} (?=\\[[A-Za-z][^\\],/]{1,120}\\] +(?:" + Levels.ALL + ") )");

  static final Pattern OF_CONTAINER = Pattern.compile("std(?:out|err) [FP] ");

  /** A bracket after time and level that belongs to the message: Kafka's {@code logIdent}, or a partition. */
  static final Pattern IDENT =
      Pattern.compile("[^\\]]*=.*|.* on (?:[Bb]roker|[Cc]ontroller) ?\\d+|[^\\s,]+,\\d+|(?:KafkaApi|Controller|Kafka ?Server|Socket ?Server|ZooKeeperClient|Group ?Coordinator|Transaction ?Coordinator|Connection|Consumer|ConsumerGroup|Producer|BrokerPool|Runner|Cluster|thrd:)\\b.*");

  static final Pattern LOGGER_IN_BRACKETS =
      Pattern.compile("(?:.*:)?(?<logger>[\\w$-]+(?:\\.[\\w$]+)+|[A-Z][\\w$]*(?=@\\d))(?:[:@]\\d+)?");

  /** Telegraf's level: {@code D! }. */
  static final Pattern LEVEL_OF_TELEGRAF = Pattern.compile("[DIWE](?=! )");

  static final Pattern STACK = Pattern.compile("\\s+at |\\s*(?:" + Entry.OF_TRACES + ")");

  /** Marks of a list or a comment. */
  static final Pattern BULLETS = Pattern.compile("[#>* \u2022-]{1,4}");

  private HeaderParts() {}
}
