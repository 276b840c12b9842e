package casebook.logs;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** One wording of the table {@code log_patterns.tsv}: its pattern and its meaning. */
final class Rule {
  /** The part of an entry in which a wording is searched for. */
  enum Scope {
    HEAD,
    FULL,
    APP,
    INSIDE,
    LINE
  }

  /** A named group and the field for its value. */
  private record Group(int number, String field) {}

  static final String QUIET = "quiet";
  private static final String SUSPECTED = "unreadable";

  /** Shorter literals are too common for a search in lines of an unknown layout. */
  private static final int TELLING = 10;

  /** Client wordings of this length do not occur by chance in sentences of a broker or of another program. */
  private static final int CLIENTS = 14;

  /** The length that {@code formats/pasted/logs.py} uses. */
  private static final int SENTENCE = 24;

  private static final Set<String> OF_CLIENTS =
      Set.of(
          "coordinator_lost",
          "coordinator_discovered",
          "coordinator_unavailable",
          "coordinator_loading",
          "not_coordinator",
          "commit_failed",
          "not_leader",
          "produce_retried",
          "request_timed_out",
          "client_disconnected",
          "metadata_error",
          "consumer_reset",
          "consumer_truncation",
          "consumer_rebalancing",
          "client_error",
          "client_api_versions_failed");

  /** The classes of brokers and of ZooKeeper, whole or shortened; {@code kafka.conn} and its like are Python's. */
  private static final Pattern OF_SERVERS =
      Pattern.compile(
          "(?:state\\.|s\\.c\\.|kafka\\.(?:server|cluster\\.[A-Z]|controller|coordinator\\.(?:group|transaction)|log|network|raft|utils|zk|zookeeper|admin(?!\\.\\w+Command)|security|api|common)\\b|k\\.(?!c(?:onsumer)?\\.(?:Zookeeper|ConsumerFetcher|SimpleConsumer|RangeAssignor|RoundRobinAssignor|PartitionTopicInfo))[a-z]"
              + "|(?:org\\.apache|o\\.a)\\.(?:zookeeper|z\\.|(?:kafka|k)\\.(?:server|controller|coordinator|image|metadata|raft|storage|s\\.)\\b)).*");

  /** A lazy quantifier before the end of a regex. */
  private static final Pattern LAZY_END = Pattern.compile("([*+])\\?\\)((?:\\\\\\.\\??)?)$");

  /** A partition and a number, as the regexes of the table match them. */
  private static final Pattern PARTITION = Pattern.compile("\\(\\?<tp\\d?>\\\\\\[.*?-\\\\d\\+\\)");
  private static final Pattern NUMBER = Pattern.compile("\\(\\?<\\w+>-?\\??\\\\d\\+\\)");

  private static final Pattern NAME = Pattern.compile("\\(\\?<([a-zA-Z]+)\\d*>");

  final String kind;
  final Scope scope;
  final String literal;
  private final List<String> loggers;

  /** Whether only its logger identifies it: other programs print the same text. */
  private final boolean isNamed;

  private final String regex;
  private final boolean anchored;

  /** Compiled on first use: most logs contain few of all wordings. */
  private Matcher matcher;

  private Matcher loose;
  private Matcher changed;
  private List<Group> groups;

  /** @param where the scope, and after an @ the prefixes of the loggers that print it; a ! before them if the line must name one */
  Rule(String kind, String where, String literal, String regex) {
    this.kind = kind;
    int border = where.indexOf('@');
    scope = Scope.valueOf((border < 0 ? where : where.substring(0, border)).toUpperCase(Locale.ROOT));
    isNamed = border >= 0 && where.startsWith("!", border + 1);
    loggers = border < 0 ? List.of() : List.of(where.substring(border + (isNamed ? 2 : 1)).split("\\|"));
    this.literal = literal;
    this.regex = regex.replace("(?P<", "(?<");
    anchored = regex.startsWith("^") && scope != Scope.INSIDE;
  }

  /** Whether a logger prints such messages. A line without a logger passes, except for wordings that other programs print too. */
  boolean isOf(String logger) {
    if (scope == Scope.APP && logger != null && OF_SERVERS.matcher(logger).matches()) {
      return false;
    }
    if (scope == Scope.INSIDE && isNamed && logger != null && logger.indexOf('.') < 0 && !Trouble.isOfServers(logger)) {
      return false; // a class without its package, whose trace has what every program says
    }
    return logger == null && !isNamed || loggers.isEmpty() || logger != null && loggers.stream().anyMatch(own -> logger.startsWith(own) || Loggers.isShort(logger, own));
  }

  private static String unanchored(String regex) {
    String begun = regex.startsWith("^") ? regex.substring(1) : regex;
    return begun.endsWith("$") && !begun.endsWith("\\$") ? begun.substring(0, begun.length() - 1) : begun;
  }

  /** {@code leaderEpoch2} gives {@code leader_epoch}. Every group has a name, so the names count them. */
  private static List<Group> groups(String regex) {
    List<Group> found = new ArrayList<>();
    Matcher named = NAME.matcher(regex);
    while (named.find()) {
      found.add(new Group(found.size() + 1, named.group(1).replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT)));
    }
    return found;
  }

  /** The fields in a text; {@code null} if the text does not match. */
  Fields match(String text) {
    if (matcher == null) {
      matcher = compiled(regex);
    }
    matcher.reset(text);
    return (anchored ? matcher.lookingAt() : matcher.find()) ? fields(matcher) : null;
  }

  /** The same for known kinds only; suspected ones are tried last. */
  Fields matchKnown(String text) {
    return kind.equals(SUSPECTED) ? null : match(text);
  }

  /**
   * The fields in a text that is this wording except for the parts that people and later releases change: its end, and replaced
   * partitions and numbers.
   */
  Fields matchChanged(String text) {
    if (!anchored || !isTelling()) {
      return null;
    }
    if (changed == null) {
      changed = compiled(loosened(regex));
    }
    changed.reset(text);
    return changed.lookingAt() ? fields(changed) : null;
  }

  private static String loosened(String regex) {
    boolean ends = regex.endsWith("$") && !regex.endsWith("\\$");
    String begun = ends ? LAZY_END.matcher(regex.substring(0, regex.length() - 1)).replaceFirst("$1)$2") : regex;
    return NUMBER.matcher(PARTITION.matcher(begun).replaceAll("(?:$0|[^\\\\s:]++)")).replaceAll("(?:$0|[#*xXnN]{1,12}|<[^<>\\\\s]*>|\\\\.\\\\.\\\\.)");
  }

  /** The fields in a text that was cut; none if the cut was inside this wording. */
  Fields matchCut(String text) {
    if (!anchored || !isTelling()) {
      return null;
    }
    Fields whole = match(text);
    return whole == null && matcher.hitEnd() ? new Fields() : whole;
  }

  /** Whether it only reports that a client has trouble. */
  boolean isGeneral() {
    return kind.equals("client_error");
  }

  /** The fields in a text that states the cause of a client's trouble, in words that are searched for anywhere. */
  Fields matchCause(String text) {
    return scope == Scope.APP && !isGeneral() && OF_CLIENTS.contains(kind) ? match(text) : null;
  }

  /**
   * Whether the literal is long enough to match without its end. Quiet and suspected wordings need their end, as it may change
   * the meaning.
   */
  private boolean isTelling() {
    return literal.length() >= TELLING && !kind.equals(QUIET) && !kind.equals(SUSPECTED);
  }

  /**
   * The same anywhere in a line of unknown layout, except for wordings that only their logger identifies: it is unknown there.
   * Wordings of certain loggers match there if they are long enough to be unique, or if the line begins with them. A line of which no
   * layout is needed has the form of its own program.
   */
  Fields matchLoosely(String line) {
    if (literal.length() < TELLING && scope != Scope.LINE || isNamed) {
      return null;
    }
    if (!loggers.isEmpty() && literal.length() < SENTENCE) {
      return literal.length() >= CLIENTS ? matchBeginning(line) : null;
    }
    if (loose == null) {
      loose = compiled(unanchored(regex));
    }
    loose.reset(line);
    return loose.find() ? fields(loose) : null;
  }

  /** The same in the output of an application: only wordings of clients, and only those long enough to be unique. */
  Fields matchBehind(String line, String logger) {
    boolean isMessage = scope != Scope.INSIDE && scope != Scope.LINE;
    boolean isClients = isMessage && literal.length() >= CLIENTS && (OF_CLIENTS.contains(kind) || kind.equals(QUIET));
    return isClients && !(logger != null && OF_SERVERS.matcher(logger).matches()) ? matchLoosely(line) : null;
  }

  /** Whether a line from any source begins with it. */
  boolean begins(String line) {
    return matchBeginning(line) != null;
  }

  /** Whether it matches anywhere: it names a client, or it is long enough to be unique. */
  boolean isSentence() {
    return isSaid() && (scope == Scope.APP || literal.length() >= SENTENCE);
  }

  /** Whether it belongs to a message and is not quiet. */
  boolean isSaid() {
    return !kind.equals(QUIET) && scope != Scope.INSIDE && scope != Scope.LINE;
  }

  /** Whether a line begins with it that may stand behind other words as well. */
  boolean isSaidAtOnce(String line) {
    return isSaid() && !isNamed && literal.length() >= TELLING && match(line) != null && matcher.start() == 0;
  }

  /** The fields in a line, from any source, that begins with it. */
  Fields matchBeginning(String line) {
    return anchored && !isNamed && scope != Scope.LINE && literal.length() >= TELLING ? match(line) : null;
  }

  private Matcher compiled(String java) {
    Matcher made = Pattern.compile(java, Pattern.MULTILINE).matcher("");
    groups = groups(regex);
    if (made.groupCount() != groups.size()) {
      throw new IllegalArgumentException("A group has no name in: " + regex);
    }
    return made;
  }

  private Fields fields(Matcher found) {
    Fields fields = new Fields();
    for (Group group : groups) {
      String value = found.group(group.number());
      if (value != null) {
        fields.put(group.field(), value);
      }
    }
    return fields;
  }
}
