import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import kafka.cluster.Broker;
import kafka.controller.*;
import kafka.server.KafkaConfig;
import kafka.zk.KafkaZkClient;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import scala.Option;
import scala.Some;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.util.Either;

/** Kafka's own partition and replica state machines, without brokers to talk to, over one znode in memory. */
public final class Main implements Answers.Controller {
    private static final TopicPartition PARTITION = new TopicPartition("topic", 0);

    private final Znode znode = new Znode();
    private final KafkaZkClient zk = new InMemoryZkClient(znode);
    private final StateChangeLogger log = new StateChangeLogger(9, true, Option.empty());
    private final KafkaConfig config;

    private ControllerContext context;
    private ZkPartitionStateMachine partitions;
    private ZkReplicaStateMachine replicas;

    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        Answers.run(new Main(), out);
        System.exit(out.checkError() ? 1 : 0);
    }

    private Main() {
        Properties properties = new Properties();
        properties.put("zookeeper.connect", "in-memory");
        config = KafkaConfig.fromProps(properties);
    }

    @Override
    public String answer(Case question) throws Exception {
        prepare(question);
        switch (question.operation) {
            case "offline" -> elect(new OfflinePartitionLeaderElectionStrategy(false));
            case "reassign" -> elect(ReassignPartitionLeaderElectionStrategy$.MODULE$);
            case "preferred" -> elect(PreferredReplicaPartitionLeaderElectionStrategy$.MODULE$);
            case "controlled_shutdown" -> elect(ControlledShutdownPartitionLeaderElectionStrategy$.MODULE$);
            case "deaths" -> deaths(question);
            case "start" -> start(question);
            case "stop" -> stop((Integer) question.brokers.get(0));
            case "failover" -> {
                replicas.startup();
                partitions.startup();
            }
            default -> throw new IllegalArgumentException(question.operation);
        }
        return state();
    }

    @Override
    public String state() {
        return znode.data == null ? null : new String(znode.data, StandardCharsets.UTF_8);
    }

    private void elect(PartitionLeaderElectionStrategy strategy) throws Exception {
        Either<Throwable, ?> result = partitions
            .handleStateChanges(seq(List.of(PARTITION)), OnlinePartition$.MODULE$, new Some<>(strategy))
            .apply(PARTITION);
        if (result.isLeft()) {
            throw (Exception) result.left().toOption().get();
        }
    }

    /** The steps of KafkaController.onReplicasBecomeOffline. */
    private void deaths(Case question) {
        partitions.handleStateChanges(context.partitionsWithOfflineLeader().toSeq(), OfflinePartition$.MODULE$);
        partitions.triggerOnlinePartitionStateChange();
        replicas.handleStateChanges(hosted(question.brokers), OfflineReplica$.MODULE$);
    }

    /** The steps of KafkaController.onBrokerStartup. */
    private void start(Case question) {
        replicas.handleStateChanges(hosted(question.brokers), OnlineReplica$.MODULE$);
        partitions.triggerOnlinePartitionStateChange();
    }

    /** The steps of KafkaController.doControlledShutdown. */
    private void stop(Integer broker) throws Exception {
        context.shuttingDownBrokerIds().add(broker);
        Option<LeaderIsrAndControllerEpoch> known = context.partitionLeadershipInfo(PARTITION);
        if (hosted(List.of(broker)).isEmpty() || context.partitionReplicaAssignment(PARTITION).size() < 2 || known.isEmpty()) {
            return;
        }
        if (known.get().leaderAndIsr().leader() == broker) {
            elect(ControlledShutdownPartitionLeaderElectionStrategy$.MODULE$);
        } else {
            replicas.handleStateChanges(hosted(List.of(broker)), OfflineReplica$.MODULE$);
        }
    }

    private Seq<PartitionAndReplica> hosted(List<Object> brokers) {
        List<PartitionAndReplica> hosted = new ArrayList<>();
        for (Object replica : CollectionConverters.asJava(context.partitionReplicaAssignment(PARTITION))) {
            if (brokers.contains(replica)) {
                hosted.add(new PartitionAndReplica(PARTITION, (Integer) replica));
            }
        }
        return seq(hosted);
    }

    /** Puts one partition into the znode and into the controller's memory, as it was before the event. */
    private void prepare(Case question) {
        znode.data = question.state == null ? null : question.state.getBytes(StandardCharsets.UTF_8);
        znode.unclean = question.unclean;
        context = new ControllerContext();
        context.epoch_$eq(7);
        partitions = new ZkPartitionStateMachine(config, log, context, zk, new Unsent(context));
        replicas = new ZkReplicaStateMachine(config, log, context, zk, new Unsent(context));
        context.allTopics().add(PARTITION.topic());
        context.updatePartitionFullReplicaAssignment(
            PARTITION, new ReplicaAssignment(seq(question.replicas), seq(List.of()), seq(question.removing)));
        if (znode.decoded().isDefined()) {
            context.putPartitionLeadershipInfo(PARTITION, znode.decoded().get());
        }
        remember(question);
        register(question.live);
        if (question.operation.equals("controlled_shutdown")) {
            question.brokers.forEach(context.shuttingDownBrokerIds()::add);
        }
    }

    private void remember(Case question) {
        List<Object> before = new ArrayList<>(question.live);
        if (question.operation.equals("deaths")) {
            before.addAll(question.brokers);
        } else if (question.operation.equals("start")) {
            before.removeAll(question.brokers);
        }
        for (PartitionAndReplica replica : CollectionConverters.asJava(hosted(question.replicas))) {
            context.putReplicaState(
                replica, before.contains(replica.replica()) ? OnlineReplica$.MODULE$ : OfflineReplica$.MODULE$);
        }
        context.putPartitionState(PARTITION, partitionState(question, before));
    }

    private PartitionState partitionState(Case question, List<Object> before) {
        if (question.state == null) {
            return NewPartition$.MODULE$;
        }
        boolean led = before.contains(znode.decoded().get().leaderAndIsr().leader());
        return led ? OnlinePartition$.MODULE$ : OfflinePartition$.MODULE$;
    }

    private void register(List<Object> ids) {
        Map<Broker, Object> brokers = new HashMap<>();
        ListenerName listener = new ListenerName("PLAINTEXT");
        ids.forEach(id -> brokers.put(
            new Broker((Integer) id, "localhost", 9, listener, SecurityProtocol.PLAINTEXT), 1L));
        context.setLiveBrokers(CollectionConverters.asScala(brokers));
    }

    private static <T> Seq<T> seq(List<T> values) {
        return CollectionConverters.asScala(values).toSeq();
    }

    /** Requests that nobody receives. */
    private final class Unsent extends ControllerBrokerRequestBatch {
        Unsent(ControllerContext context) {
            super(config, null, null, context, log);
        }

        @Override
        public void sendRequestsToBrokers(int controllerEpoch) {
            clear();
        }
    }
}
