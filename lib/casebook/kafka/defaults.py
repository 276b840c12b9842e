"""Built-in defaults of brokers and clients by release, and the settings each release knows, as data with sources."""

from casebook.kafka.releases import Changed

_CONFIG = "core/src/main/scala/kafka/server/KafkaConfig.scala"

NOT_SET = ""
"""Default of a setting that is null, or that follows another setting, until it is set."""

NEVER = "9223372036854775807"
"""Default of intervals that never elapse: the maximum of Java's ``long``."""

_PROTOCOL = Changed(
    values=(
        ("0.8.2", "0.8.2.X"), ("0.9.0.0", "0.9.0.X"), ("0.10.0.0", "0.10.0-IV1"), ("0.10.1.0", "0.10.1-IV2"),
        ("0.10.2.0", "0.10.2-IV0"), ("0.11.0.0", "0.11.0-IV2"), ("1.0.0", "1.0-IV0"), ("1.1.0", "1.1-IV0"), ("2.0.0", "2.0-IV1"),
        ("2.1.0", "2.1-IV2"), ("2.2.0", "2.2-IV1"), ("2.3.0", "2.3-IV1"), ("2.4.0", "2.4-IV1"), ("2.5.0", "2.5-IV0"),
        ("2.6.0", "2.6-IV0"), ("2.7.0", "2.7-IV2"), ("2.8.0", "2.8-IV1"), ("3.0.0", "3.0-IV1"), ("3.1.0", "3.1-IV0"),
        ("3.2.0", "3.2-IV0"), ("3.3.0", "3.3-IV3"), ("3.4.0", "3.4-IV0"), ("3.5.0", "3.5-IV2"), ("3.6.0", "3.6-IV2"),
        ("3.7.0", "3.7-IV4"), ("3.8.0", "3.8-IV0"), ("3.9.0", "3.9-IV0"),
    ),
    source="core/src/main/scala/kafka/api/ApiVersion.scala@0.9.0.1..3.2.3, "
    "server-common/src/main/java/org/apache/kafka/server/common/MetadataVersion.java@3.3.2..3.8.0",
)  # fmt: skip

DEFAULTS: dict[str, Changed] = {
    "min.insync.replicas": Changed(values=(("0.8.2", "1"),), source=f"{_CONFIG}@0.9.0.1, 3.9.0"),
    "unclean.leader.election.enable": Changed(
        values=(("0.8.2", "true"), ("0.11.0.0", "false")),
        source=f"{_CONFIG}@0.10.2.1, 0.11.0.2",
    ),
    "offsets.load.buffer.size": Changed(values=(("0.8.2", "5242880"),), source=f"{_CONFIG}@0.9.0.1, 3.9.0"),
    "offsets.topic.num.partitions": Changed(values=(("0.8.2", "50"),), source=f"{_CONFIG}@0.9.0.1, 3.9.0"),
    "replica.lag.time.max.ms": Changed(
        values=(("0.8.2", "10000"), ("2.5.0", "30000")),
        source=f"{_CONFIG}@0.9.0.1, 2.4.1, 2.5.1",
    ),
    "zookeeper.session.timeout.ms": Changed(
        values=(("0.8.2", "6000"), ("2.5.0", "18000")),
        source=f"{_CONFIG}@0.9.0.1, 2.4.1, 2.5.1",
    ),
    "log.cleaner.enable": Changed(
        values=(("0.8.2", "false"), ("0.9.0.1", "true")),
        source=f"{_CONFIG}@0.9.0.0, 0.9.0.1",
    ),
    "log.cleaner.threads": Changed(values=(("0.8.2", "1"),), source=f"{_CONFIG}@0.9.0.0, 2.8.2"),
    "log.cleaner.dedupe.buffer.size": Changed(
        values=(("0.8.2", "524288000"), ("0.9.0.1", "134217728")),
        source=f"{_CONFIG}@0.9.0.0, 0.9.0.1, 2.8.2",
    ),
    "log.cleaner.io.buffer.load.factor": Changed(values=(("0.8.2", "0.9"),), source=f"{_CONFIG}@0.9.0.0, 2.8.2"),
    "log.cleaner.min.cleanable.ratio": Changed(values=(("0.8.2", "0.5"),), source=f"{_CONFIG}@0.9.0.0, 2.8.2"),
    "log.cleaner.min.compaction.lag.ms": Changed(values=(("0.8.2", "0"),), source=f"{_CONFIG}@0.10.1.1, 2.8.2"),
    "log.cleaner.max.compaction.lag.ms": Changed(values=(("0.8.2", NEVER),), source=f"{_CONFIG}@2.3.0, 2.8.2"),
    "log.cleaner.delete.retention.ms": Changed(values=(("0.8.2", "86400000"),), source=f"{_CONFIG}@0.9.0.0, 2.8.2"),
    "log.cleanup.policy": Changed(values=(("0.8.2", "delete"),), source=f"{_CONFIG}@0.9.0.0, 2.8.2"),
    "message.max.bytes": Changed(
        values=(("0.8.2", "1000012"), ("2.5.0", "1048588")),
        source=f"{_CONFIG}@0.9.0.0, 2.3.0, 2.8.2",
    ),
    "offsets.retention.minutes": Changed(values=(("0.8.2", "1440"), ("2.0.0", "10080")), source=f"{_CONFIG}@0.9.0.1, 2.0.1"),
    "offsets.topic.compression.codec": Changed(values=(("0.8.2", "0"),), source=f"{_CONFIG}@0.9.0.1, 2.8.2"),
    "offsets.topic.replication.factor": Changed(values=(("0.8.2", "3"),), source=f"{_CONFIG}@0.9.0.1, 2.8.2"),
    "offsets.topic.segment.bytes": Changed(values=(("0.8.2", "104857600"),), source=f"{_CONFIG}@0.9.0.1, 2.8.2"),
    "log.segment.bytes": Changed(values=(("0.8.2", "1073741824"),), source=f"{_CONFIG}@0.9.0.0, 2.8.2"),
    "compression.type": Changed(values=(("0.8.2", "producer"),), source=f"{_CONFIG}@0.9.0.0, 2.8.2"),
    "default.replication.factor": Changed(values=(("0.8.2", "1"),), source=f"{_CONFIG}@0.9.0.1, 2.8.2, 3.4.1"),
    "auto.create.topics.enable": Changed(values=(("0.8.2", "true"),), source=f"{_CONFIG}@0.9.0.1, 2.8.2, 3.4.1"),
    "auto.leader.rebalance.enable": Changed(values=(("0.8.2", "true"),), source=f"{_CONFIG}@0.9.0.1, 2.8.2, 3.4.1"),
    "broker.rack": Changed(values=(("0.8.2", NOT_SET),), source=f"{_CONFIG}@0.10.0.1, 2.8.2"),
    "controlled.shutdown.enable": Changed(values=(("0.8.2", "true"),), source=f"{_CONFIG}@0.9.0.1, 2.8.2, 3.4.1"),
    "log.flush.interval.messages": Changed(values=(("0.8.2", NEVER),), source=f"{_CONFIG}@0.9.0.1, 2.8.2, 3.4.1"),
    "log.flush.interval.ms": Changed(values=(("0.8.2", NOT_SET),), source=f"{_CONFIG}@0.9.0.1, 2.8.2, 3.4.1"),
    "log.flush.scheduler.interval.ms": Changed(values=(("0.8.2", NEVER),), source=f"{_CONFIG}@0.9.0.1, 2.8.2, 3.4.1"),
    "log.retention.hours": Changed(values=(("0.8.2", "168"),), source=f"{_CONFIG}@0.9.0.1, 2.8.2, 3.4.1"),
    "log.retention.minutes": Changed(values=(("0.8.2", NOT_SET),), source=f"{_CONFIG}@0.9.0.1, 2.8.2, 3.4.1"),
    "log.retention.ms": Changed(values=(("0.8.2", NOT_SET),), source=f"{_CONFIG}@0.9.0.1, 2.8.2, 3.4.1"),
    "replica.lag.max.messages": Changed(values=(("0.8.2", "4000"),), source=f"{_CONFIG}@0.8.2.2"),
    "transaction.state.log.min.isr": Changed(values=(("0.11.0.0", "2"),), source=f"{_CONFIG}@1.0.2, 2.8.2, 3.4.1"),
    "transaction.state.log.num.partitions": Changed(values=(("0.11.0.0", "50"),), source=f"{_CONFIG}@1.0.2, 2.8.2, 3.4.1"),
    "transaction.state.log.replication.factor": Changed(values=(("0.11.0.0", "3"),), source=f"{_CONFIG}@1.0.2, 2.8.2, 3.4.1"),
    "inter.broker.protocol.version": _PROTOCOL,
    "log.message.format.version": Changed(
        values=(*(pair for pair in _PROTOCOL.values if pair[0] < "3"), ("3.0.0", "3.0-IV1")),
        source=f"{_CONFIG}@0.10.0.1, 2.8.2, 3.0.2 (up to 2.8 the latest protocol, later a constant)",
    ),
}
"""Built-in defaults of broker settings, by release."""

READ_ONLY_BROKER_SETTINGS = frozenset(
    (  # noqa: SIM905  easier to read than a column of 23 texts
        "auto.create.topics.enable auto.leader.rebalance.enable broker.rack controlled.shutdown.enable "
        "default.replication.factor inter.broker.protocol.version log.cleaner.enable log.flush.scheduler.interval.ms "
        "log.message.format.version log.retention.hours log.retention.minutes offsets.load.buffer.size offsets.retention.minutes "
        "offsets.topic.compression.codec offsets.topic.num.partitions offsets.topic.replication.factor "
        "offsets.topic.segment.bytes replica.lag.max.messages replica.lag.time.max.ms transaction.state.log.min.isr "
        "transaction.state.log.num.partitions transaction.state.log.replication.factor zookeeper.session.timeout.ms"
    ).split()
)
"""Settings that a broker reads from its file only: it ignores them under ``/config/brokers``
(``core/src/main/scala/kafka/server/DynamicBrokerConfig.scala@1.1.1, 2.8.2, 3.8.0``, ``nonDynamicConfigs``)."""

SETTING_SINCE = {
    "broker.rack": "0.10.0.0",
    "log.message.format.version": "0.10.0.0",
    "transaction.state.log.min.isr": "0.11.0.0",
    "transaction.state.log.num.partitions": "0.11.0.0",
    "transaction.state.log.replication.factor": "0.11.0.0",
}
"""First release with a setting (``KafkaConfig.scala@0.9.0.1, 0.10.0.1, 0.11.0.2``)."""

SETTING_BEFORE = {"replica.lag.max.messages": "0.9.0.0"}
"""First release without a setting (``KafkaConfig.scala@0.8.2.2, 0.9.0.0``; KIP-16)."""

_PRODUCER = "clients/src/main/java/org/apache/kafka/clients/producer/ProducerConfig.java"
_CONSUMER = "clients/src/main/java/org/apache/kafka/clients/consumer/ConsumerConfig.java"
_LARGEST_INT = "2147483647"

_JAVA_CLIENT: dict[str, Changed] = {
    "acks": Changed(values=(("0.8.2", "1"), ("3.0.0", "all")), source=f"{_PRODUCER}@0.8.2.2, 2.8.2, 3.0.0 (KIP-679)"),
    "retries": Changed(values=(("0.8.2", "0"), ("2.1.0", _LARGEST_INT)), source=f"{_PRODUCER}@2.0.1, 2.1.1 (KIP-91)"),
    "delivery.timeout.ms": Changed(values=(("0.8.2", NOT_SET), ("2.1.0", "120000")), source=f"{_PRODUCER}@2.0.1, 2.1.1 (KIP-91)"),
    "enable.idempotence": Changed(
        values=(("0.8.2", "false"), ("3.0.1", "true"), ("3.1.0", "false"), ("3.1.1", "true")),
        source=f"{_PRODUCER}@0.11.0.2, 3.0.0, 3.0.1, 3.1.2 (KIP-679; 3.0.0 and 3.1.0 do not apply it: KAFKA-13598)",
    ),
    "max.in.flight.requests.per.connection": Changed(values=(("0.8.2", "5"),), source=f"{_PRODUCER}@0.8.2.2, 3.0.2"),
    "linger.ms": Changed(values=(("0.8.2", "0"),), source=f"{_PRODUCER}@0.8.2.2, 3.0.2"),
    "transactional.id": Changed(values=(("0.8.2", NOT_SET),), source=f"{_PRODUCER}@0.11.0.2, 3.0.2"),
    "enable.auto.commit": Changed(values=(("0.8.2", "true"),), source=f"{_CONSUMER}@0.9.0.1, 3.0.0"),
    "auto.offset.reset": Changed(values=(("0.8.2", "latest"),), source=f"{_CONSUMER}@0.9.0.1, 3.0.0"),
    "isolation.level": Changed(values=(("0.8.2", "read_uncommitted"),), source=f"{_CONSUMER}@0.11.0.2, 3.0.0"),
    "session.timeout.ms": Changed(
        values=(("0.8.2", "30000"), ("0.10.1.0", "10000"), ("3.0.0", "45000")), source=f"{_CONSUMER}@0.10.0.1, 0.10.1.1, 3.0.0"
    ),
}
_RDKAFKA = "CONFIGURATION.md"

CLIENT_DEFAULTS: dict[str, dict[str, Changed]] = {
    "java": _JAVA_CLIENT,
    "spring": _JAVA_CLIENT
    | {
        "enable.auto.commit": Changed(
            values=(("0.8.2", "true"), ("2.3.0", "false")),
            source="spring-kafka GH-945: KafkaMessageListenerContainer sets it to false where it is not set, from 2.3 on",
        )
    },
    "librdkafka": {
        "acks": Changed(values=(("0.8.2", "1"), ("1.0.0", "all")), source=f"{_RDKAFKA}@v0.9.5, v0.11.6, v1.0.0"),
        "retries": Changed(values=(("0.8.2", "2"), ("1.6.0", _LARGEST_INT)), source=f"{_RDKAFKA}@v1.5.0, v1.6.0"),
        "delivery.timeout.ms": Changed(values=(("0.8.2", "300000"),), source=f"{_RDKAFKA}@v0.9.5, v2.11.0 (message.timeout.ms)"),
        "enable.idempotence": Changed(values=(("0.8.2", "false"),), source=f"{_RDKAFKA}@v1.0.0, v2.11.0"),
        "max.in.flight.requests.per.connection": Changed(values=(("0.8.2", "1000000"),), source=f"{_RDKAFKA}@v0.9.5, v2.11.0"),
        "linger.ms": Changed(
            values=(("0.8.2", "1000"), ("0.11.0.0", "0"), ("1.2.0", "0.5"), ("1.5.0", "5")),
            source=f"{_RDKAFKA}@v0.9.5, v0.11.0, v1.2.0, v1.5.0",
        ),
        "transactional.id": Changed(values=(("0.8.2", NOT_SET),), source=f"{_RDKAFKA}@v1.4.0, v2.11.0"),
        "enable.auto.commit": Changed(values=(("0.8.2", "true"),), source=f"{_RDKAFKA}@v0.9.5, v2.11.0"),
        "auto.offset.reset": Changed(values=(("0.8.2", "latest"),), source=f"{_RDKAFKA}@v0.9.5, v2.11.0 (largest)"),
        "isolation.level": Changed(
            values=(("0.8.2", "read_uncommitted"), ("1.2.0", "read_committed")), source=f"{_RDKAFKA}@v1.1.0, v1.2.0"
        ),
        "session.timeout.ms": Changed(
            values=(("0.8.2", "30000"), ("1.0.0", "10000"), ("1.7.0", "45000")), source=f"{_RDKAFKA}@v0.11.6, v1.0.0, v1.7.0"
        ),
    },
    "scala": _JAVA_CLIENT
    | {
        "acks": Changed(values=(("0.8.2", "0"),), source="core/src/main/scala/kafka/producer/SyncProducerConfig.scala@0.9.0.1"),
        "retries": Changed(values=(("0.8.2", "3"),), source="core/src/main/scala/kafka/producer/ProducerConfig.scala@0.9.0.1"),
    },
}
"""Built-in defaults of clients by library and release. Before a setting existed, its value is the client's fixed behaviour."""

CLIENT_RELEASES: dict[str, tuple[str, ...]] = {
    "java": ("0.8.2", "0.9.0.0", "0.10.1.0", "0.11.0.0", "2.1.0", "3.0.0", "3.0.1", "3.1.0", "3.1.1"),
    "spring": ("0.10.1.0", "0.11.0.0", "2.1.0", "2.3.0", "3.0.0", "3.0.1", "3.1.0", "3.1.1"),
    "librdkafka": ("0.8.2", "0.11.0.0", "1.0.0", "1.2.0", "1.5.0", "1.6.0", "1.7.0"),
    "scala": ("0.8.2",),
}
"""Releases of a library between which none of these defaults changed: an unknown release is any of them."""

CLIENT_BACKOFF_GROWS = {"java": "3.7.0", "spring": "3.7.0", "librdkafka": "2.3.0"}
"""First release of a library whose producer increases the wait before each retry, up to ``retry.backoff.max.ms`` (KIP-580;
``ProducerConfig.java@3.6.0, 3.7.0``, ``CONFIGURATION.md@v2.2.0, v2.3.0``)."""

IDEMPOTENCE_SINCE = "0.11.0.0"
"""First Java client with ``enable.idempotence`` (``ProducerConfig.java@0.10.2.2, 0.11.0.2``)."""

CONTRADICTION_OF_DEFAULT = Changed(
    values=(("0.8.2", "none"), ("3.0.1", "off")),
    source=f"{_PRODUCER}@3.0.0, 3.0.1, 3.2.0 (postProcessAndValidateIdempotenceConfigs)",
)
"""Java producer's reaction to acks, retries or requests in flight that contradict default idempotence.

It switches idempotence ``off`` and logs that. With idempotence set explicitly, it fails to start, in every release.
"""
