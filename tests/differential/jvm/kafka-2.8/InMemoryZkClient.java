import java.util.HashMap;
import java.util.Map;
import kafka.controller.LeaderIsrAndControllerEpoch;
import kafka.zk.KafkaZkClient;
import kafka.zookeeper.CreateResponse;
import kafka.zookeeper.GetDataResponse;
import kafka.zookeeper.SetDataResponse;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Time;
import kafka.log.LogConfig;
import scala.Tuple2;
import scala.collection.Seq;
import scala.collection.immutable.Set;
import scala.jdk.javaapi.CollectionConverters;

/** Kafka 2.8's ZooKeeper client with its reads and writes of states answered by one znode. */
final class InMemoryZkClient extends KafkaZkClient {
    private final Znode znode;

    InMemoryZkClient(Znode znode) {
        super(null, false, Time.SYSTEM);
        this.znode = znode;
    }

    @Override
    public Seq<GetDataResponse> getTopicPartitionStatesRaw(Seq<TopicPartition> partitions) {
        return znode.read(partitions);
    }

    @Override
    public Seq<SetDataResponse> setTopicPartitionStatesRaw(
            scala.collection.Map<TopicPartition, LeaderIsrAndControllerEpoch> states, int controllerEpochZkVersion) {
        return znode.set(states);
    }

    @Override
    public Seq<CreateResponse> createTopicPartitionStatesRaw(
            scala.collection.Map<TopicPartition, LeaderIsrAndControllerEpoch> states, int controllerEpochZkVersion) {
        return znode.create(states);
    }

    @Override
    public Tuple2<scala.collection.Map<String, LogConfig>, scala.collection.Map<String, Exception>> getLogConfigs(
            Set<String> topics, Map<String, Object> defaults) {
        Map<String, LogConfig> configs = new HashMap<>();
        CollectionConverters.asJava(topics).forEach(t -> configs.put(t, LogConfig.fromProps(defaults, znode.overrides())));
        return new Tuple2<>(CollectionConverters.asScala(configs), CollectionConverters.asScala(new HashMap<>()));
    }
}
