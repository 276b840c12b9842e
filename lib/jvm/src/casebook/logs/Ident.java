package casebook.logs;

import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The speaker before a message: {@code [Controller id=1 epoch=3] }, {@code [Replica Manager on Broker 2]: },
 * {@code Partition [orders,4] on broker 1: } and the like (the {@code logIdent} of Kafka's classes, 0.8.2 to 3.9).
 */
final class Ident {
  private static final Pattern OLD_PARTITION = Pattern.compile("^Partition (\\[\\S+,\\d+\\]|\\S+-\\d+) on broker (\\d+): ");
  private static final Pattern OF_PARTITION = Pattern.compile("\\b[Pp]artition[ =](\\S+-\\d+)(?=[\\s,]|$)");
  private static final Pattern NAMED =
      Pattern.compile("\\b(id|epoch|broker|brokerId|controllerId|replicaId|leaderId|nodeId|clientId|groupId|GroupId|dir)=([^,\\s]+)");
  private static final Pattern OF_FETCHER = Pattern.compile("ReplicaFetcherThread-\\d+-(\\d+)");
  private static final Pattern OLD_SPEAKER =
      Pattern.compile("(?:[Bb]roker|Controller-?|controller|Server|KafkaApi-|Listener on|Coordinator|Broker-|DelayedFetch|Manager|SenderThread-) ?(\\d+)");
  private static final Pattern STATE_CHANGE_SPEAKER = Pattern.compile("^(?:Broker|Controller) (\\d+) ");
  private static final String STATE_CHANGES = "state.change.logger";
  private static final Pattern PLAIN_PARTITION = Pattern.compile("^[^\\s,\\[\\]]+,\\d+$");

  private static final int MOST_KNOWN = 10_000;

  /** Fields by ident: the same few idents precede many lines. */
  private final Map<String, Fields> known = new HashMap<>();

  /** Start of the message after its ident. */
  static int end(String message) {
    if (message.startsWith("Partition ")) {
      Matcher old = OLD_PARTITION.matcher(message);
      return old.find() ? old.end() : 0;
    }
    if (!message.startsWith("[")) {
      return 0;
    }
    int close = close(message);
    if (close < 0 || PLAIN_PARTITION.matcher(message.substring(1, close)).matches()) {
      return 0;
    }
    int end = close + 1;
    while (end < message.length() && (message.charAt(end) == ':' || message.charAt(end) == ',')) {
      end++;
    }
    while (end < message.length() && message.charAt(end) <= ' ') {
      end++; // its message may be in the next line
    }
    return end;
  }

  /** Position of the bracket that closes the first one, in the first line; -1 for none. */
  private static int close(String message) {
    int depth = 0;
    for (int index = 0; index < message.length() && message.charAt(index) != '\n'; index++) {
      char letter = message.charAt(index);
      depth += letter == '[' ? 1 : letter == ']' ? -1 : 0;
      if (depth == 0) {
        return index;
      }
    }
    return -1;
  }

  /** Adds the speaker of a message to its fields: from its ident, or, up to 0.11, from the subject of a state change. */
  void tell(String message, String logger, Fields fields) {
    int end = end(message);
    if (end > 0) {
      tell(message.substring(0, end), fields);
    } else if (STATE_CHANGES.equals(logger)) {
      Matcher subject = STATE_CHANGE_SPEAKER.matcher(message);
      if (subject.find()) {
        fields.put("speaker", subject.group(1));
      }
    }
  }

  private void tell(String ident, Fields fields) {
    if (!ident.isEmpty()) {
      fields.add(known(ident));
    }
  }

  private Fields known(String ident) {
    if (known.size() > MOST_KNOWN) {
      known.clear();
    }
    return known.computeIfAbsent(ident, Ident::told);
  }

  /** Id of the broker that speaks; {@code null} if the message has none. */
  String speaker(String message, String logger) {
    int end = end(message);
    if (end > 0) {
      return known(message.substring(0, end)).named("speaker");
    }
    Matcher subject = STATE_CHANGES.equals(logger) ? STATE_CHANGE_SPEAKER.matcher(message) : null;
    return subject != null && subject.find() ? subject.group(1) : null;
  }

  private static Fields told(String ident) {
    Fields fields = new Fields();
    read(ident, fields);
    return fields;
  }

  private static void read(String ident, Fields fields) {
    Matcher old = OLD_PARTITION.matcher(ident);
    if (old.find()) {
      fields.put("tp", old.group(1));
      fields.put("speaker", old.group(2));
      return;
    }
    Matcher partition = OF_PARTITION.matcher(ident);
    if (partition.find()) {
      fields.put("tp", partition.group(1));
    }
    boolean controller = ident.startsWith("[Controller");
    Matcher named = NAMED.matcher(ident);
    while (named.find()) {
      tell(named.group(1), strip(named.group(2)), controller, fields);
    }
    Matcher fetcher = OF_FETCHER.matcher(ident);
    if (fetcher.find()) {
      fields.put("leader", fetcher.group(1));
    }
    Matcher speaker = OLD_SPEAKER.matcher(ident);
    if (speaker.find()) {
      fields.put("speaker", speaker.group(1));
    }
  }

  private static void tell(String name, String value, boolean controller, Fields fields) {
    switch (name) {
      case "id", "broker", "brokerId", "controllerId", "replicaId", "nodeId" -> fields.put("speaker", value);
      case "epoch" -> fields.put(controller ? "controller_epoch" : "epoch", value);
      case "leaderId" -> fields.put("leader", value);
      case "clientId" -> fields.put("client_id", value);
      case "groupId", "GroupId" -> fields.put("group", value);
      default -> fields.put(name, value);
    }
  }

  private static String strip(String value) {
    return value.endsWith("]") ? value.substring(0, value.length() - 1) : value;
  }
}
