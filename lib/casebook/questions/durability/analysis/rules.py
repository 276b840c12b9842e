"""Numbered rules by which acknowledged records can be lost: each with loss, condition and remedy.

Severity: ``critical`` for a loss by one failure, ``warning`` by two or by the application's behaviour, ``info`` when nothing
acknowledged is lost, or only in a disaster.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from casebook.questions.durability.analysis import client_rules as of_clients
from casebook.questions.durability.analysis import cluster_rules as of_cluster
from casebook.questions.durability.analysis import topic_rules as of_topics
from casebook.questions.durability.analysis.scene import JudgedRule

TOPIC, PRODUCER, PAIR, CONSUMER, CLUSTER = "topic", "producer", "topic and producer", "consumer", "cluster"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule.

    Args:
        id: ``D1`` and so on.
        name: Name of its finding: ``durability.<name>``.
        head: Two or three words.
        asks: Question of its finding.
        has: The problem, after ``3 of 7 topics have``.
        says: Condition of the loss, in one sentence.
        source: ``path@tag`` in Kafka, a KIP, or another proof.
        scope: Kind of its subjects.
        judge: Judges a subject in a scene; without a subject for the whole cluster.
    """

    id: str
    name: str
    head: str
    asks: str
    has: str
    says: str
    source: str
    scope: str
    judge: Callable[..., JudgedRule]


_PRODUCER = "clients/src/main/java/org/apache/kafka/clients/producer"
_SERVER = "core/src/main/scala/kafka/server"

RULES: Mapping[str, Rule] = {
    rule.id: rule
    for rule in (
        Rule(
            id="D1", asks="Does every producer wait for an answer?",
            has="acks=0: records that a broker did not store are lost without notice",
            name="acks_0", head="acks=0", scope=PRODUCER, judge=of_clients.acks_0,
            says=(
                "A producer with acks=0 waits for no answer: records that a broker did not store are lost without "
                "notice."
            ),
            source=f"{_SERVER}/KafkaApis.scala@0.9.0.1, 2.8.2 (handleProduceRequest, sendResponseCallback)",
        ),
        Rule(
            id="D2", asks="Does every partition have more than one copy?",
            has="partitions with one copy, which is lost with its disk",
            name="single_copy", head="one copy", scope=TOPIC, judge=of_topics.single_copy,
            says="Replication factor 1: the only copy is lost with its disk.",
            source="core/src/main/scala/kafka/controller/Election.scala@2.8.2; rehearsal leader-minus-one",
        ),
        Rule(
            id="D3", asks="Does every producer wait for more than the leader?",
            has="acks=1: records that only the leader has are lost when it dies",
            name="acks_1", head="acks=1", scope=PAIR, judge=of_clients.acks_1,
            says="acks=1: records that no follower had fetched are lost when the leader dies or is cut off.",
            source=f"{_SERVER}/ReplicaManager.scala@0.9.0.1 (makeFollowers), 2.8.2; rehearsal acks1-loss",
        ),
        Rule(
            id="D4", asks="Does acks=all need more than the leader in sync?",
            has="min.insync.replicas=1: acks=all is acks=1 once the ISR is the leader alone",
            name="isr_of_one", head="ISR of one", scope=TOPIC, judge=of_topics.isr_of_one,
            says="min.insync.replicas=1: acks=all is acks=1 as soon as the ISR has shrunk to the leader.",
            source="core/src/main/scala/kafka/cluster/Partition.scala@0.9.0.1, 2.8.2 (checkEnoughReplicasReachOffset); "
            "rehearsal isr-shrunk-loss",
        ),
        Rule(
            id="D5", asks="Is unclean election disabled?",
            has="unclean election allowed: records that an out-of-sync replica lacks are lost",
            name="unclean_election", head="unclean", scope=TOPIC, judge=of_topics.unclean,
            says=(
                "Unclean election is allowed: an out-of-sync replica can become leader, and records that it lacks are "
                "lost."
            ),
            source="core/src/main/scala/kafka/controller/PartitionLeaderSelector.scala@0.9.0.1, Election.scala@2.8.2 (KIP-106); "
            "rehearsal isr-shrunk-loss",
        ),
        Rule(
            id="D6", asks="Do followers use leader epochs to truncate?",
            has=(
                "followers that truncate to their own high watermark: restarts can lose records acknowledged with "
                "acks=all"
            ),
            name="cut_to_high_watermark", head="restart", scope=TOPIC, judge=of_topics.cut_to_high_watermark,
            says=(
                "Before leader epochs (0.11), a follower truncates to its own high watermark. Restarts can then lose "
                "records acknowledged with acks=all."
            ),
            source=f"{_SERVER}/ReplicaManager.scala@0.9.0.1 (makeFollowers), KIP-101; rehearsal full-restart-loss",
        ),
        Rule(
            id="D7", asks="Does every producer retry failed sends?",
            has="no retries, or too few: a failed send is lost unless the application checks its result",
            name="no_retries", head="few retries", scope=PRODUCER, judge=of_clients.no_retries,
            says="With retries=0, or too few to outlast a broker failure, a send fails at a leader change. It is lost "
                 "unless the application checks its result.",
            source=f"{_PRODUCER}/ProducerConfig.java@2.0.1, 2.1.1 (KIP-91), internals/Sender.java@2.8.2 (canRetry); KIP-580",
        ),
        Rule(
            id="D8", asks="Does every producer retry for as long as a broker failure lasts?",
            has="a delivery timeout shorter than the replacement of a dead leader",
            name="delivery_timeout", head="gives up early", scope=PRODUCER, judge=of_clients.delivery_timeout,
            says="delivery.timeout.ms is shorter than a broker failure lasts: sends fail meanwhile, as with D7.",
            source=f"{_PRODUCER}/ProducerConfig.java@2.1.1 (KIP-91)",
        ),
        Rule(
            id="D9", asks="Does every consumer commit exactly what it has processed?",
            has="automatic commit: polled records count as processed",
            name="auto_commit", head="commits first", scope=CONSUMER, judge=of_clients.auto_commit,
            says="Automatic commit: polled records are committed, processed or not.",
            source="clients/src/main/java/org/apache/kafka/clients/consumer/internals/ConsumerCoordinator.java@2.8.2 "
            "(maybeAutoCommitOffsetsAsync); rehearsal commit-before-processing",
        ),
        Rule(
            id="D10", asks="Does every consumer without an offset read the existing records?",
            has="auto.offset.reset=latest: a group without offsets skips existing records",
            name="offset_reset", head="skips", scope=CONSUMER, judge=of_clients.offset_reset,
            says="auto.offset.reset=latest: a group without a committed offset skips existing records.",
            source="clients/src/main/java/org/apache/kafka/clients/consumer/ConsumerConfig.java@0.9.0.1, 3.0.0",
        ),
        Rule(
            id="D11", asks="Do committed offsets outlive a long weekend?",
            has="committed offsets that expire within a long weekend",
            name="offsets_retention", head="offsets expire", scope=CLUSTER, judge=of_cluster.offsets_retention,
            says=(
                "offsets.retention.minutes is shorter than a long weekend: a group that was inactive so long loses its "
                "offsets."
            ),
            source="core/src/main/scala/kafka/coordinator/GroupMetadataManager.scala@0.9.0.1, "
            "group/GroupMetadata.scala@2.1.0 (KIP-186, KIP-211)",
        ),
        Rule(
            id="D12", asks="Does __consumer_offsets have more than one copy?",
            has="one copy of __consumer_offsets, now or when created: one dead disk loses committed offsets",
            name="offsets_copies", head="offsets topic", scope=CLUSTER, judge=of_cluster.offsets_copies,
            says="__consumer_offsets has one copy: groups lose their offsets with one disk, and stop with one broker.",
            source=f"{_SERVER}/KafkaApis.scala@0.9.0.1 (createGroupMetadataTopic: min(3, brokers alive)), KIP-115",
        ),
        Rule(
            id="D13", asks="Does __transaction_state survive a broker failure?",
            has="too few copies of __transaction_state",
            name="transaction_copies", head="transactions", scope=CLUSTER, judge=of_cluster.transaction_copies,
            says=(
                "__transaction_state has one copy, or may have one in sync: the state of open transactions is lost "
                "with it."
            ),
            source="core/src/main/scala/kafka/coordinator/transaction/TransactionLog.scala@1.0.2, 2.8.2 (KIP-98)",
        ),
        Rule(
            id="D14", asks="Do automatically created topics get more than one copy?",
            has="automatic topic creation with one copy",
            name="auto_created", head="by accident", scope=CLUSTER, judge=of_cluster.auto_created,
            says="Topics are created automatically with replication factor 1: the next one is exposed as in D2.",
            source=f"{_SERVER}/KafkaConfig.scala@0.9.0.1, 2.8.2 (auto.create.topics.enable, default.replication.factor)",
        ),
        Rule(
            id="D15", asks="Are the copies of every partition safe from a common power cut?",
            has="all copies of a partition in one rack",
            name="one_rack", head="one rack", scope=TOPIC, judge=of_topics.one_rack,
            says=(
                "All copies of a partition are in one rack, and nothing is flushed: a power cut loses what was only in "
                "memory."
            ),
            source=f"{_SERVER}/KafkaConfig.scala@0.9.0.1, 2.8.2 (log.flush.*); KIP-36",
        ),
        Rule(
            id="D16", asks="Can a broker fail without stopping acks=all writes?",
            has="no spare copy: one dead broker stops acks=all writes",
            name="no_spare", head="no spare", scope=TOPIC, judge=of_topics.no_spare,
            says="Replication factor = min.insync.replicas: one dead broker stops acks=all writes; nothing is lost.",
            source="core/src/main/scala/kafka/cluster/Partition.scala@0.9.0.1, 2.8.2 (appendRecordsToLeader)",
        ),
        Rule(
            id="D17", asks="Does every producer keep the order of records and store each once?",
            has="retries without idempotence: records can be duplicated or out of order",
            name="reorder", head="order", scope=PRODUCER, judge=of_clients.reorder,
            says="Retries with several requests in flight and no idempotence: a retried batch arrives late, or twice.",
            source=f"{_PRODUCER}/ProducerConfig.java@2.8.2 (max.in.flight.requests.per.connection), KIP-98",
        ),
        Rule(
            id="D18", asks="Does every consumer skip aborted records?",
            has="isolation.level=read_uncommitted while transactions are used",
            name="read_uncommitted", head="aborted records", scope=CONSUMER, judge=of_clients.read_uncommitted,
            says=(
                "isolation.level=read_uncommitted while transactions are used: records of aborted transactions are "
                "processed."
            ),
            source="clients/src/main/java/org/apache/kafka/clients/consumer/ConsumerConfig.java@2.0.1 (KIP-98)",
        ),
        Rule(
            id="D19", asks="Does a broker move its leaders away before it stops?",
            has="controlled.shutdown.enable=false: every planned stop is a crash",
            name="uncontrolled_shutdown", head="shutdown", scope=CLUSTER, judge=of_cluster.uncontrolled_shutdown,
            says="controlled.shutdown.enable=false: every planned stop of a broker is a crash to its partitions.",
            source=f"{_SERVER}/KafkaServer.scala@0.9.0.1, 2.8.2 (controlledShutdown)",
        ),
        Rule(
            id="D20", asks="With ZooKeeper: does a broker keep its session during a pause of some seconds?",
            has="short ZooKeeper sessions: a long GC pause looks like a broker failure",
            name="session_timeout", head="session", scope=CLUSTER, judge=of_cluster.session_timeout,
            says=(
                "zookeeper.session.timeout.ms of 6 s or less: a GC pause over 6 s looks like a broker failure, and "
                "leaders move."
            ),
            source=f"{_SERVER}/KafkaConfig.scala@2.4.1, 2.5.1 (KIP-537: 18 s)",
        ),
        Rule(
            id="D21", asks="Do followers leave the ISR neither too early nor too late?",
            has="an unusual replica.lag.time.max.ms",
            name="lag_time", head="ISR patience", scope=CLUSTER, judge=of_cluster.lag_time,
            says="replica.lag.time.max.ms is very short (ISRs shrink at each hiccup, see D4) or very long (a hanging "
                 "follower stops acks=all writes).",
            source=f"{_SERVER}/KafkaConfig.scala@2.4.1, 2.5.1 (KIP-537: 30 s), KIP-16",
        ),
        Rule(
            id="D22", asks="Is the log cleaner on?",
            has="log.cleaner.enable=false: __consumer_offsets only grows",
            name="cleaner_off", head="cleaner off", scope=CLUSTER, judge=of_cluster.cleaner_off,
            says="log.cleaner.enable=false: __consumer_offsets grows without end, and coordinators load it for hours.",
            source=f"{_SERVER}/KafkaConfig.scala@0.9.0.0, 0.9.0.1; rehearsal offsets-bloat",
        ),
        Rule(
            id="D23", asks="Do leaders move only when no records are lost?",
            has="automatic leader moves with producers without acks=all",
            name="rebalance_moves", head="leader moves", scope=CLUSTER, judge=of_cluster.rebalance_moves,
            says="auto.leader.rebalance.enable=true with a producer without acks=all: each move can lose a few records.",
            source="core/src/main/scala/kafka/controller/KafkaController.scala@2.8.2 (checkAndTriggerAutoLeaderRebalance); "
            "rehearsal acks1-loss",
        ),
        Rule(
            id="D24", asks="Are the settings of every producer consistent?",
            has="settings that exclude each other, or that no client accepts",
            name="contradiction", head="contradiction", scope=PRODUCER, judge=of_clients.contradiction,
            says="Settings of a producer exclude each other, or are not accepted: it does not start, or runs without "
                 "the requested guarantee.",
            source=f"{_PRODUCER}/KafkaProducer.java@2.8.2 (configureAcks), ProducerConfig.java@3.0.0, 3.0.1; "
            "librdkafka src/rdkafka_conf.c@v1.9.2",
        ),
    )
}  # fmt: skip
"""All rules, worst first."""
