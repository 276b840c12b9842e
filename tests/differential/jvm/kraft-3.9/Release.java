package org.apache.kafka.controller;

import java.util.List;
import java.util.function.IntPredicate;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.image.writer.ImageWriterOptions;
import org.apache.kafka.metadata.KafkaConfigSchema;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.timeline.SnapshotRegistry;

/** What 3.9 builds in its own way; it has eligible leader replicas only with a metadata version that is not for production. */
final class Release {
    private static final MetadataVersion WITH_ELR = MetadataVersion.IBP_4_0_IV0;

    static PartitionChangeBuilder builder(PartitionRegistration partition, IntPredicate eligible, int minIsr, boolean elr) {
        return new PartitionChangeBuilder(partition, Cluster.TOPIC, 0, eligible, version(elr), minIsr)
            .setEligibleLeaderReplicasEnabled(elr);
    }

    static SnapshotRegistry snapshots() {
        return new SnapshotRegistry(new LogContext());
    }

    static FeatureControlManager features(SnapshotRegistry snapshots, boolean elr) {
        return new FeatureControlManager.Builder().setSnapshotRegistry(snapshots).setMetadataVersion(version(elr)).build();
    }

    static ConfigurationControlManager settings(SnapshotRegistry snapshots, FeatureControlManager features, KafkaConfigSchema schema) {
        return new ConfigurationControlManager.Builder().setSnapshotRegistry(snapshots).setKafkaConfigSchema(schema).build();
    }

    static ClusterControlManager brokers(SnapshotRegistry snapshots, FeatureControlManager features) {
        return new ClusterControlManager.Builder().setSnapshotRegistry(snapshots).setFeatureControlManager(features)
            .setBrokerUncleanShutdownHandler((broker, records) -> { }).build();
    }

    static ReplicationControlManager partitions(
        SnapshotRegistry snapshots, FeatureControlManager features, ConfigurationControlManager settings,
        ClusterControlManager brokers, boolean elr
    ) {
        return new ReplicationControlManager.Builder().setSnapshotRegistry(snapshots).setFeatureControl(features)
            .setConfigurationControl(settings).setClusterControl(brokers).setEligibleLeaderReplicasEnabled(elr).build();
    }

    static ImageWriterOptions writing() {
        return new ImageWriterOptions.Builder().setMetadataVersion(WITH_ELR).build();
    }

    static void restarted(ReplicationControlManager partitions, int broker, boolean clean, List<ApiMessageAndVersion> records) {
        partitions.handleBrokerUncleanShutdown(broker, records);
    }

    private static MetadataVersion version(boolean elr) {
        return elr ? WITH_ELR : MetadataVersion.IBP_3_9_IV0;
    }
}
