package org.apache.kafka.controller;

import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import org.apache.kafka.common.metadata.FeatureLevelRecord;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.image.writer.ImageWriterOptions;
import org.apache.kafka.metadata.KafkaConfigSchema;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.metadata.VersionRange;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.EligibleLeaderReplicasVersion;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.timeline.SnapshotRegistry;

/** What 4.4 builds in its own way. */
final class Release {
    private static final MetadataVersion VERSION = MetadataVersion.latestProduction();
    private static final String ELR = EligibleLeaderReplicasVersion.FEATURE_NAME;

    static PartitionChangeBuilder builder(PartitionRegistration partition, IntPredicate eligible, int minIsr, boolean elr) {
        return new PartitionChangeBuilder(partition, Cluster.TOPIC, 0, eligible, VERSION, minIsr, elr);
    }

    static SnapshotRegistry snapshots() {
        return new SnapshotRegistry(new LogContext());
    }

    static FeatureControlManager features(SnapshotRegistry snapshots, boolean elr) {
        VersionRange versions = VersionRange.of(MetadataVersion.MINIMUM_VERSION.featureLevel(), VERSION.featureLevel());
        Map<String, VersionRange> supported = Map.of(MetadataVersion.FEATURE_NAME, versions, ELR, VersionRange.of(0, 1));
        FeatureControlManager features = new FeatureControlManager.Builder().setSnapshotRegistry(snapshots)
            .setQuorumFeatures(new QuorumFeatures(0, supported, List.of(0))).build();
        features.replay(new FeatureLevelRecord().setName(MetadataVersion.FEATURE_NAME).setFeatureLevel(VERSION.featureLevel()));
        features.replay(new FeatureLevelRecord().setName(ELR).setFeatureLevel((short) (elr ? 1 : 0)));
        return features;
    }

    static ConfigurationControlManager settings(SnapshotRegistry snapshots, FeatureControlManager features, KafkaConfigSchema schema) {
        return new ConfigurationControlManager.Builder().setSnapshotRegistry(snapshots).setKafkaConfigSchema(schema)
            .setFeatureControl(features).build();
    }

    static ClusterControlManager brokers(SnapshotRegistry snapshots, FeatureControlManager features) {
        return new ClusterControlManager.Builder().setSnapshotRegistry(snapshots).setFeatureControlManager(features)
            .setBrokerShutdownHandler((broker, clean, records) -> { }).build();
    }

    static ReplicationControlManager partitions(
        SnapshotRegistry snapshots, FeatureControlManager features, ConfigurationControlManager settings,
        ClusterControlManager brokers, boolean elr
    ) {
        return new ReplicationControlManager.Builder().setSnapshotRegistry(snapshots).setFeatureControl(features)
            .setConfigurationControl(settings).setClusterControl(brokers).build();
    }

    static ImageWriterOptions writing() {
        return new ImageWriterOptions.Builder(VERSION).setEligibleLeaderReplicasEnabled(true).build();
    }

    static void restarted(ReplicationControlManager partitions, int broker, boolean clean, List<ApiMessageAndVersion> records) {
        partitions.handleBrokerShutdown(broker, clean, records);
    }
}
