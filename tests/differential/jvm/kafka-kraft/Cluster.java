package org.apache.kafka.controller;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.metadata.BrokerRegistrationChangeRecord;
import org.apache.kafka.common.metadata.ConfigRecord;
import org.apache.kafka.common.metadata.PartitionChangeRecord;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.RegisterBrokerRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.metadata.UnregisterBrokerRecord;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.metadata.KafkaConfigSchema;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.timeline.SnapshotRegistry;

/** Kafka's own managers of brokers, settings and partitions over one partition; their records are replayed as the log would. */
final class Cluster {
    static final Uuid TOPIC = new Uuid(1, 1);
    private static final ConfigDef SETTINGS = new ConfigDef()
        .define("min.insync.replicas", ConfigDef.Type.INT, 1, ConfigDef.Importance.LOW, "")
        .define("unclean.leader.election.enable", ConfigDef.Type.BOOLEAN, false, ConfigDef.Importance.LOW, "");
    private static final KafkaConfigSchema SCHEMA = new KafkaConfigSchema(
        Map.of(ConfigResource.Type.BROKER, SETTINGS, ConfigResource.Type.TOPIC, SETTINGS), Map.of());

    private final ClusterControlManager brokers;
    private final ReplicationControlManager partitions;
    private final boolean elr;
    private boolean written;

    static List<String> answers(Question question) {
        Cluster cluster = new Cluster(question);
        List<String> answers = new ArrayList<>();
        for (String event : question.events) {
            cluster.written = false;
            cluster.happens(event.substring(0, 1), Integer.parseInt(event.substring(1)));
            answers.add(Main.shown(cluster.partitions.getPartition(TOPIC, 0), cluster.written));
        }
        return answers;
    }

    private Cluster(Question question) {
        elr = question.elrEnabled;
        SnapshotRegistry snapshots = Release.snapshots();
        FeatureControlManager features = Release.features(snapshots, elr);
        ConfigurationControlManager settings = Release.settings(snapshots, features, SCHEMA);
        brokers = Release.brokers(snapshots, features);
        partitions = Release.partitions(snapshots, features, settings, brokers, elr);
        set(settings, "min.insync.replicas", String.valueOf(question.minIsr));
        set(settings, "unclean.leader.election.enable", String.valueOf(question.unclean));
        for (int broker = 1; broker <= 20; broker++) {
            register(broker, !question.active.contains(broker));
        }
        partitions.replay(new TopicRecord().setName("topic").setTopicId(TOPIC));
        partitions.replay((PartitionRecord) question.partition().toRecord(TOPIC, 0, Release.writing()).message());
    }

    private static void set(ConfigurationControlManager settings, String name, String value) {
        settings.replay(new ConfigRecord()
            .setResourceType(ConfigResource.Type.TOPIC.id()).setResourceName("topic").setName(name).setValue(value));
    }

    private void register(int broker, boolean fenced) {
        brokers.replay(new RegisterBrokerRecord()
            .setBrokerId(broker).setBrokerEpoch(broker).setIncarnationId(Uuid.randomUuid()).setFenced(fenced), broker);
    }

    private void happens(String event, int broker) {
        List<ApiMessageAndVersion> records = new ArrayList<>();
        switch (event) {
            case "F" -> partitions.handleBrokerFenced(broker, records);
            case "U" -> partitions.handleBrokerUnfenced(broker, broker, records);
            case "C" -> partitions.handleBrokerInControlledShutdown(broker, broker, records);
            case "N" -> partitions.handleBrokerUnregistered(broker, broker, records);
            case "R" -> Release.restarted(partitions, broker, false, records);
            case "S" -> Release.restarted(partitions, broker, true, records);
            default -> throw new IllegalArgumentException(event);
        }
        records.forEach(record -> replay(record.message()));
        if (event.equals("R") || event.equals("S")) {
            register(broker, true);
        }
    }

    private void replay(ApiMessage record) {
        if (record instanceof PartitionChangeRecord) {
            written = true;
            partitions.replay((PartitionChangeRecord) record);
        } else if (record instanceof BrokerRegistrationChangeRecord) {
            brokers.replay((BrokerRegistrationChangeRecord) record);
        } else {
            brokers.replay((UnregisterBrokerRecord) record);
        }
    }
}
