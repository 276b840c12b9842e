import java.io.PrintStream;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicBoolean;
import kafka.cluster.Broker;
import kafka.common.TopicAndPartition;
import kafka.controller.*;
import kafka.server.BrokerState;
import kafka.server.KafkaConfig;
import kafka.utils.ReplicationUtils;
import kafka.utils.ZKStringSerializer$;
import kafka.utils.ZkUtils;
import org.I0Itec.zkclient.InMemoryConnection;
import org.I0Itec.zkclient.ZkClient;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.protocol.SecurityProtocol;
import org.apache.kafka.common.utils.SystemTime;
import scala.Option;
import scala.collection.JavaConverters;
import scala.collection.Seq;
import scala.collection.Set;
import scala.collection.mutable.Map;

/** Kafka 0.9's own KafkaController, without brokers to talk to, over zkclient's own in-memory ZooKeeper. */
public final class Main implements Answers.Controller {
    private final ZkUtils zk;
    private final KafkaController controller;
    private final ControllerContext context;
    private final ControllerBrokerRequestBatch unsent;
    private final Map<Object, Object> partitionStates;
    private final Map<Object, Object> replicaStates;
    private final int partition = 0;
    private String topic = "clean";

    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        Answers.run(new Main(), out);
        System.exit(out.checkError() ? 1 : 0);
    }

    private Main() throws Exception {
        zk = new ZkUtils(new ZkClient(new InMemoryConnection(), 1000, ZKStringSerializer$.MODULE$), null, false);
        create("/config/topics/clean", "{\"version\":1,\"config\":{\"unclean.leader.election.enable\":\"false\"}}");
        create("/config/topics/unclean", "{\"version\":1,\"config\":{\"unclean.leader.election.enable\":\"true\"}}");
        Properties properties = new Properties();
        properties.put("zookeeper.connect", "in-memory");
        properties.put("delete.topic.enable", "true");
        KafkaConfig config = KafkaConfig.fromProps(properties);
        Metrics metrics = new Metrics();
        controller = new KafkaController(config, zk, new BrokerState(), new SystemTime(), metrics, Option.empty());
        context = controller.controllerContext();
        context.epoch_$eq(7);
        context.controllerChannelManager_$eq(
            new ControllerChannelManager(context, config, new SystemTime(), metrics, Option.empty()));
        controller.deleteTopicManager_$eq(new TopicDeletionManager(controller, set(List.of()), set(List.of())));
        unsent = field(controller.partitionStateMachine(), "brokerRequestBatch");
        partitionStates = field(controller.partitionStateMachine(), "partitionState");
        replicaStates = field(controller.replicaStateMachine(), "replicaState");
        Main.<AtomicBoolean>field(controller.partitionStateMachine(), "hasStarted").set(true);
        Main.<AtomicBoolean>field(controller.replicaStateMachine(), "hasStarted").set(true);
    }

    @Override
    public String answer(Case question) {
        prepare(question);
        switch (question.operation) {
            case "offline" -> elect(controller.offlinePartitionSelector());
            case "reassign" -> elect(new ReassignedPartitionLeaderSelector(context));
            case "preferred" -> elect(new PreferredReplicaPartitionLeaderSelector(context));
            case "controlled_shutdown" -> elect(new ControlledShutdownLeaderSelector(context));
            case "deaths" -> controller.onBrokerFailure(seq(question.brokers));
            case "start" -> controller.onBrokerStartup(seq(question.brokers));
            case "stop" -> controller.shutdownBroker((Integer) question.brokers.get(0));
            case "failover" -> {
                controller.replicaStateMachine().startup();
                controller.partitionStateMachine().startup();
            }
            default -> throw new IllegalArgumentException(question.operation);
        }
        return state();
    }

    @Override
    public String state() {
        return (String) zk.zkClient().readData(path(), true);
    }

    private void elect(PartitionLeaderSelector selector) {
        try {
            controller.partitionStateMachine().electLeaderForPartition(topic, partition, selector);
        } finally {
            unsent.clear();
        }
    }

    /** Puts one partition into ZooKeeper and into the controller's memory, as it was before the event. */
    private void prepare(Case question) {
        zk.zkClient().delete(path());
        topic = question.topic();
        if (question.state != null) {
            create(path(), question.state);
        }
        TopicAndPartition key = new TopicAndPartition(topic, partition);
        context.partitionReplicaAssignment().clear();
        context.partitionReplicaAssignment().put(key, seq(question.replicas));
        context.partitionLeadershipInfo().clear();
        Option<LeaderIsrAndControllerEpoch> known = ReplicationUtils.getLeaderIsrAndEpochForPartition(zk, topic, partition);
        if (known.isDefined()) {
            context.partitionLeadershipInfo().put(key, known.get());
        }
        List<Object> targets = new ArrayList<>(question.replicas);
        targets.removeAll(question.removing);
        context.partitionsBeingReassigned().clear();
        if (question.operation.equals("reassign")) {
            context.partitionsBeingReassigned().put(key, new ReassignedPartitionsContext(seq(targets), null));
        }
        context.shuttingDownBrokerIds().clear();
        if (question.operation.equals("controlled_shutdown")) {
            question.brokers.forEach(context.shuttingDownBrokerIds()::add);
        }
        List<Broker> registered = new ArrayList<>();
        question.live.forEach(id -> registered.add(new Broker((Integer) id, "localhost", 9, SecurityProtocol.PLAINTEXT)));
        context.liveBrokers_$eq(JavaConverters.asScalaBufferConverter(registered).asScala().toSet());
        remember(key, question, known);
    }

    private void remember(TopicAndPartition key, Case question, Option<LeaderIsrAndControllerEpoch> known) {
        List<Object> before = new ArrayList<>(question.live);
        if (question.operation.equals("deaths")) {
            before.addAll(question.brokers);
        } else if (question.operation.equals("start")) {
            before.removeAll(question.brokers);
        }
        partitionStates.clear();
        replicaStates.clear();
        for (Object replica : question.replicas) {
            replicaStates.put(new PartitionAndReplica(topic, partition, (Integer) replica),
                before.contains(replica) ? OnlineReplica$.MODULE$ : OfflineReplica$.MODULE$);
        }
        if (known.isEmpty()) {
            partitionStates.put(key, NewPartition$.MODULE$);
        } else {
            boolean led = before.contains(known.get().leaderAndIsr().leader());
            partitionStates.put(key, led ? OnlinePartition$.MODULE$ : OfflinePartition$.MODULE$);
        }
    }

    private String path() {
        return "/brokers/topics/" + topic + "/partitions/" + partition + "/state";
    }

    private void create(String path, String data) {
        zk.zkClient().createPersistent(path.substring(0, path.lastIndexOf('/')), true);
        zk.zkClient().createPersistent(path, data);
    }

    private static Seq<Object> seq(List<Object> values) {
        return JavaConverters.asScalaBufferConverter(values).asScala().toList();
    }

    private static <T> Set<T> set(List<T> values) {
        return JavaConverters.asScalaBufferConverter(values).asScala().toSet();
    }

    /** A private field, which the Scala compiler may have given its class's name as a prefix. */
    @SuppressWarnings("unchecked")
    private static <T> T field(Object owner, String name) throws Exception {
        for (Field field : owner.getClass().getDeclaredFields()) {
            if (field.getName().equals(name) || field.getName().endsWith("$$" + name)) {
                field.setAccessible(true);
                return (T) field.get(owner);
            }
        }
        throw new NoSuchFieldException(name);
    }
}
