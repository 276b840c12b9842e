package casebook.logs;

import java.util.List;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The general kind of a warning or an error that matches no wording, by its source: packages and classes of Kafka 0.8 to 4.1 and
 * of ZooKeeper 3.4 to 3.9. The source is the logger, complete or shortened, or the name in brackets before the message.
 */
final class Trouble {
  private static final Set<String> LEVELS = Set.of("WARN", "ERROR", "FATAL");
  private static final String CLIENT = "client_error";
  private static final String BROKER = "broker_warning";

  /**
   * The packages and classes that give a kind. Special areas come before general ones, and clients before all areas with the same
   * initials.
   *
   * @param packages prefixes of the full names of their classes
   * @param classes a regex of class names that no other program uses
   */
  private record Area(String kind, List<String> packages, Pattern classes) {
    Area(String kind, String packages, String classes) {
      this(kind, List.of(packages.split(" ")), Pattern.compile(classes));
    }
  }

  private static final List<Area> AREAS =
      List.of(
          new Area("zks_quorum_error", "org.apache.zookeeper.server.quorum.", "QuorumPeer\\w*|QuorumCnxManager\\w*|FastLeaderElection|Leader|LearnerHandler|Learner|Follower|Observer|(?:Follower|Observer|Leader)ZooKeeperServer"),
          new Area("zks_error", "org.apache.zookeeper.server. org.apache.zookeeper.jmx.", "(?:NIO|Netty)ServerCnxn\\w*|ServerCnxn\\w*|ZooKeeperServer\\w*|(?:Prep|Sync|Final|Commit)RequestProcessor|FileTxn(?:Snap)?Log|DataTree|ZooKeeperCriticalThread"),
          new Area("zk_error", "org.apache.zookeeper. kafka.zookeeper. kafka.zk. org.I0Itec.zkclient.", "ClientCnxn\\w*|ZooKeeperClient|KafkaZkClient|ZkClient"),
          new Area("security_error", "kafka.security. org.apache.kafka.metadata.authorizer.", "AclAuthorizer|SimpleAclAuthorizer|StandardAuthorizer"),
          new Area(CLIENT, "org.apache.kafka.clients. org.apache.kafka.connect. org.apache.kafka.streams. org.apache.kafka.common.telemetry.", "NetworkClient|ConsumerCoordinator|AbstractCoordinator|KafkaProducer|KafkaConsumer|KafkaAdminClient|FetchSessionHandler"),
          new Area("controller_error", "kafka.controller.", "Controller|KafkaController|ControllerChannelManager|(?:Zk)?(?:Partition|Replica)StateMachine|RequestSendThread"),
          new Area("kraft_error", "org.apache.kafka.controller. org.apache.kafka.image. org.apache.kafka.metadata. org.apache.kafka.raft. org.apache.kafka.metalog. org.apache.kafka.queue. kafka.raft. kafka.server.metadata. kafka.server.ControllerServer kafka.server.BrokerLifecycleManager org.apache.kafka.server.fault.", "QuorumController|RaftManager|KafkaRaft\\w+|MetadataLoader|BrokerLifecycleManager|ControllerServer|SnapshotGenerator|BrokerMetadata(?:Publisher|Listener|Snapshotter)"),
          new Area("transaction_error", "kafka.coordinator.transaction. org.apache.kafka.coordinator.transaction.", "Transaction(?:Coordinator|StateManager|MarkerChannelManager)"),
          new Area("group_error", "kafka.coordinator. org.apache.kafka.coordinator.", "Group(?:Coordinator|MetadataManager|CoordinatorService)"),
          new Area("remote_log_error", "kafka.log.remote. org.apache.kafka.server.log.remote.", "RemoteLogManager"),
          new Area("replica_error", "kafka.cluster. kafka.server.ReplicaManager kafka.server.ReplicaFetcher kafka.server.AbstractFetcher state.change.logger", "ReplicaManager|ReplicaFetcher\\w*|ReplicaAlterLogDirs\\w*"),
          new Area(BROKER, "kafka.server. kafka.log. kafka.network. kafka.utils. kafka.admin. kafka.api. kafka.common. kafka.Kafka org.apache.kafka.server. org.apache.kafka.storage. org.apache.kafka.network.", "KafkaServer|BrokerServer|KafkaApis?|SocketServer|LogManager|LogCleaner|UnifiedLog|LogDirFailureChannel|kafka-log-cleaner-thread|Kafka Server|Socket Server"));

  /** The name in brackets before a message. */
  private static final Pattern SPEAKER = Pattern.compile("\\[([A-Za-z][\\w-]*(?: Server)?)(?=[ \\]]|-\\d)(?! clientId=)");

  private static final Pattern SOURCE = Pattern.compile("\\.(?:java|scala)$");

  private Trouble() {}

  /** Whether the level is a warning or worse. */
  static boolean isOf(Header header) {
    return header.level != null && LEVELS.contains(header.level);
  }

  /** Kind of an entry by its level, logger, speaker and subject; {@code null} if it reports no trouble of Kafka or ZooKeeper. */
  static String kind(Header header, String message) {
    if (!isOf(header)) {
      return null;
    }
    if (Clients.speaks(header, message)) {
      return CLIENT;
    }
    String logger = header.logger == null ? null : SOURCE.matcher(header.logger).replaceFirst("");
    String kind = logger == null ? null : ofLogger(logger);
    Matcher speaker = kind == null && (logger == null || logger.indexOf('.') < 0) ? SPEAKER.matcher(message) : null;
    kind = speaker != null && speaker.lookingAt() ? ofClass(speaker.group(1)) : kind;
    return kind == null ? Applications.kind(logger, message) : kind;
  }

  /** Whether a class, without its package, is one of Kafka's or ZooKeeper's. */
  static boolean isOfServers(String name) {
    return ofClass(name) != null;
  }

  /** Kind by the full name; a shortened name that several broker areas share means only that a broker printed it. */
  private static String ofLogger(String logger) {
    if (logger.indexOf('.') < 0) {
      return ofClass(logger);
    }
    List<String> whole = kinds(logger, String::startsWith);
    List<String> kinds = whole.isEmpty() ? kinds(logger, Loggers::isIn) : whole;
    if (kinds.isEmpty()) {
      return null;
    }
    boolean isShared = whole.isEmpty() && kinds.size() > 1 && !kinds.get(0).startsWith("zk");
    return isShared ? BROKER : kinds.get(0);
  }

  private static List<String> kinds(String logger, BiPredicate<String, String> isOf) {
    return AREAS.stream().filter(area -> area.packages.stream().anyMatch(own -> isOf.test(logger, own))).map(Area::kind).distinct().toList();
  }

  private static String ofClass(String name) {
    return AREAS.stream().filter(area -> area.classes.matcher(name).matches()).map(Area::kind).findFirst().orElse(null);
  }
}
