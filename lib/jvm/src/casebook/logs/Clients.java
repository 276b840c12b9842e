package casebook.logs;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Signs that a client printed a message: its name in the message, the start of its lines without a header, and its loggers. */
final class Clients {
  private static final int LONGEST = 600;

  /** Names that clients of Java, Go and librdkafka print for themselves. */
  private static final Pattern NAMED =
      Pattern.compile("\\[(?:(?:Consumer|Producer|AdminClient|Worker|ShareConsumer) (?:clientId|instanceId)=[^\\]\\n]*|[Ss]arama|thrd:[^\\]\\n]*)\\]:? ?");

  /** Start of clients' lines without a header: they do not belong to the entry before them. */
  private static final Pattern OF_LINES =
      Pattern.compile(
          "\\W{0,4}(?:panic: |kafka(?: server)?: \\w|[Ss]arama\\] |KafkaJS\\w+|LibrdKafkaError|NoKafkaConnectionError|BrokerNotAvailableError|NestedError \\{|KafkaError\\{|severity: \\d, ?(?:fac|$)|\\w+: KafkaJS\\w+|\\(node:\\d+\\) \\w+: KafkaJS|Worker(?:Source|Sink)Task\\{id=|stream-(?:thread|client) \\[|thrd:|Error executing group consumer|omkafka: |Connect to ipv[46]#|Timed out \\d+ in-flight, |Local: [A-Z]\\w+ |\\d\\d:\\d\\d:\\d\\d[.,]\\d+\\s+(?:info|warn|error|debug)\\s|(?:DEBU|INFO|WARN|ERRO)\\[\\d|(?:[\\w.-]{1,80}: )?kafka\\.errors\\.\\w"
              + "|(?:Unhandled (?:promise )?rejection )?Error: (?:Local|Broker): |Response \\w+\\(key: \\d+, version: \\d+\\) \\{|(?:sasl_)?(?:ssl|plaintext)://\\S+/(?:\\d+|bootstrap): )"
              + "|[^\\n]{0,80}?(?:\\brdkafka#(?:consumer|producer)-\\d|\\[thrd:|\\bkafka server: |[Ss]arama: |: (?:Local|Broker): [A-Z][a-z])");

  /**
   * Start of indented lines that nevertheless do not continue another entry: npm's debug prints such lines, as does the column of
   * Spring Boot's loggers.
   */
  private static final Pattern OF_INDENTED =
      Pattern.compile("\\s{1,2}(?:Local: [A-Z]\\w+ |The coordinator is not aware|(?:kafka-node|no-kafka|sinek|kafkajs):\\w+ (?!\\s)|(?:[a-z]\\w*\\.)+[A-Z][\\w$]*(?:\\$[\\w$]+)? +: )");

  /**
   * The same for any indentation: the end of a Go program, glog's output, npm's debug with its number, errors of librdkafka's examples
   * and of Python's client, and Spring Boot's threads and loggers in columns.
   */
  private static final Pattern OF_INDENTED_FAR =
      Pattern.compile("\\s{1,60}(?:panic: |kafka server: [A-Z]|[IWEF]\\d{4} \\d\\d:\\d\\d:\\d\\d\\.\\d+ +\\d+ \\S+:\\d+\\] |\\d{1,3} [A-Z][a-z]{2}, \\d{1,2} [A-Z][a-z]{2} \\d{4} [\\d:]{8} GMT \\S|% (?:ERROR|FATAL): (?:Local|Broker): |\\W?KafkaException: KafkaError\\{|(?:\\[[^\\]\\n]{1,60}\\] ){1,2}(?:[a-z]\\w*\\.)+[A-Z][\\w$]* +: )");

  /**
   * Loggers of Kafka's clients for Java, Python and JavaScript, of Streams and Connect, and of libraries based on them: complete,
   * or shortened by a layout.
   */
  private static final Pattern LOGGER =
      Pattern.compile(
          "(?:org\\.apache\\.kafka|o\\.a\\.kafka|o\\.a\\.k)\\.(?:clients|connect|streams|c\\.|s\\.[a-z])|(?:org\\.springframework|o\\.s)\\.(?:kafka|k)\\."
              + "|(?:org\\.springframework\\.cloud\\.stream\\.binder|o\\.s\\.c\\.s\\.b)\\.k|(?:org\\.springframework\\.cloud\\.stream\\.binding|o\\.s\\.c\\.s\\.b|o\\.s\\.cloud\\.stream\\.binding)\\.BindingService|(?:akka|org\\.apache\\.pekko|reactor)\\.kafka\\.|io\\.smallrye\\.reactive\\.messaging\\.kafka|org\\.apache\\.camel\\.component\\.kafka"
              + "|org\\.apache\\.flink\\.(?:connector|streaming\\.connectors)\\.kafka|org\\.apache\\.spark\\.(?:sql|streaming)\\.kafka|logstash\\.(?:in|out)puts\\.kafka"
              + "|io\\.confluent\\.(?:connect|kafka|ksql|kafkarest|parallelconsumer)\\.|io\\.debezium\\.(?:embedded|pipeline\\.ErrorHandler|connector\\.common)|com\\.(?:linkedin|mongodb|snowflake)\\.kafka\\."
              + "|(?:org|io)\\.(?!apache\\.(?:kafka|druid)\\.)(?:[a-z]\\w*\\.){1,6}kafka\\d*\\.|storm\\.kafka\\.|processing\\.[A-Z]|kafkajs$|(?:aiokafka|pykafka|confluent_kafka)\\b"
              + "|kafka\\.(?:consumer|producer|javaapi|tools)\\.(?:[a-z]\\w*\\.)?[A-Z]|org\\.apache\\.kafka\\.common\\.telemetry\\.|kafka\\.(?:conn|client|client_async|cluster|coordinator(?:\\.[a-z_]+)*|future|metrics(?:\\.[a-z_]+)*|protocol(?:\\.[a-z_]+)*|admin\\.client|consumer\\.(?:fetcher|group|subscription_state)|producer\\.(?:kafka|sender|record_accumulator))$");

  private Clients() {}

  /** Position of a client's name in a message; less than zero for none. */
  static int named(String message) {
    Matcher named = NAMED.matcher(message.length() > LONGEST ? message.substring(0, LONGEST) : message);
    return named.find() ? named.start() : -1;
  }

  /** Whether a client printed a line without a header: it does not belong to the entry before it. */
  static boolean begins(String line) {
    return OF_LINES.matcher(line).lookingAt();
  }

  /** Whether an indented line without a header nevertheless begins a message. */
  static boolean beginsIndented(String line) {
    return line.length() > 2 && line.charAt(2) > ' ' && OF_INDENTED.matcher(line).lookingAt() || OF_INDENTED_FAR.matcher(line).lookingAt();
  }

  /** Whether an entry is from one of Kafka's own clients, or from a library based on them. */
  static boolean speaks(Header header, String message) {
    return header.logger == null ? named(message) == 0 : LOGGER.matcher(header.logger).lookingAt();
  }
}
