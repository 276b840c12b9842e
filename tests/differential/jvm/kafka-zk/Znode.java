import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import kafka.controller.LeaderIsrAndControllerEpoch;
import kafka.zk.TopicPartitionStateZNode$;
import kafka.zookeeper.CreateResponse;
import kafka.zookeeper.GetDataResponse;
import kafka.zookeeper.ResponseMetadata;
import kafka.zookeeper.SetDataResponse;
import org.apache.kafka.common.TopicPartition;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import scala.Option;
import scala.Some;
import scala.collection.Map;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** The one state znode of the case at hand, answering as ZooKeeper would. */
final class Znode {
    private static final ResponseMetadata NO_TIME = new ResponseMetadata(0, 0);

    byte[] data;
    boolean unclean;

    Option<LeaderIsrAndControllerEpoch> decoded() {
        return data == null ? Option.empty() : TopicPartitionStateZNode$.MODULE$.decode(data, new Stat());
    }

    /** The topic's overrides, as its config znode would have them. */
    Properties overrides() {
        Properties overrides = new Properties();
        overrides.put("unclean.leader.election.enable", Boolean.toString(unclean));
        return overrides;
    }

    Seq<GetDataResponse> read(Seq<TopicPartition> partitions) {
        List<GetDataResponse> responses = new ArrayList<>();
        for (TopicPartition partition : CollectionConverters.asJava(partitions)) {
            Code code = data == null ? Code.NONODE : Code.OK;
            responses.add(new GetDataResponse(code, "", new Some<>(partition), data, new Stat(), NO_TIME));
        }
        return CollectionConverters.asScala(responses);
    }

    Seq<SetDataResponse> set(Map<TopicPartition, LeaderIsrAndControllerEpoch> states) {
        List<SetDataResponse> responses = new ArrayList<>();
        CollectionConverters.asJava(states).forEach((partition, state) -> {
            data = TopicPartitionStateZNode$.MODULE$.encode(state);
            responses.add(new SetDataResponse(Code.OK, "", new Some<>(partition), new Stat(), NO_TIME));
        });
        return CollectionConverters.asScala(responses);
    }

    Seq<CreateResponse> create(Map<TopicPartition, LeaderIsrAndControllerEpoch> states) {
        List<CreateResponse> responses = new ArrayList<>();
        CollectionConverters.asJava(states).forEach((partition, state) -> {
            data = TopicPartitionStateZNode$.MODULE$.encode(state);
            responses.add(new CreateResponse(Code.OK, "", new Some<>(partition), "", NO_TIME));
        });
        return CollectionConverters.asScala(responses);
    }
}
