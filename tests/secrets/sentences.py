"""Innocent sentences: what brokers, ZooKeeper and clients print, with ids of every kind that they make."""

import base64
import random
import re
import string
import uuid
from functools import cache

from casebook.machine import places

_WORD = re.compile(rb"[^\s,;()\[\]{}\"'=]{4,}")
_LOWER = string.ascii_lowercase + string.digits

SENTENCES = {
    "topic": (
        "[Partition {}-0 broker=1] Log loaded for partition {}-0 with initial high watermark 17 (kafka.cluster.Partition)",
        "Created log for partition {}-3 in /var/lib/kafka/{}-3 with properties {{cleanup.policy=delete}} (kafka.log.LogManager)",
        "Error while fetching metadata with correlation id 7 : {{{}=LEADER_NOT_AVAILABLE}} (org.apache.kafka.clients.NetworkClient)",
    ),
    "22 letters": (
        "Cluster ID = {} (kafka.server.KafkaServer)",
        "[Producer clientId=producer-1] Cluster ID: {} (org.apache.kafka.clients.Metadata)",
        "Resetting the last seen epoch of partition orders-0 to 0 since the associated topicId changed from null to {}",
        "meta.properties: MetaProperties(cluster.id={}, directory.id={}, node.id=1)",
        "Log directory with uuid {} is online",
        "Creating topic orders with configuration {{}} and initial partition assignment, topicId={}",
        "[BrokerLifecycleManager id=1] Incarnation {} of broker 1 in cluster {} is now STARTING.",
        "Token expired for tokenId {}",
        "Getting Token for tokenId : {}",
    ),
    "long id": (
        "Initiating transaction with transactionalId={} and producerId=17 (kafka.coordinator.transaction.TransactionCoordinator)",
        "[GroupCoordinator 1]: Preparing to rebalance group {} in state PreparingRebalance with old generation 17",
        "client-id: {} disconnected (kafka.network.Processor)",
        "member id {} in group orders has left",
    ),
    "member": (
        "[GroupCoordinator 1]: Member {} in group orders has failed, removing it from the group",
        "Successfully joined group with generation Generation{{generationId=5, memberId='{}', protocol='range'}}",
        "[Consumer clientId={}, groupId=orders] Discovered group coordinator broker-1:9092",
        "Dynamic member with unknown member id joins group orders. Created a new member id {} for this member",
    ),
    "session": (
        "Session establishment complete on server zk-1/10.0.0.1:2181, session id = {}, negotiated timeout = 18000",
        "Expiring session {}, timeout of 6000ms exceeded (org.apache.zookeeper.server.ZooKeeperServer)",
        "Processed session termination for sessionid: {}",
        "Established session {} with negotiated timeout 6000 for client /10.0.0.7:41234",
        "Revalidating client: {}",
    ),
    "host": (
        "Connection to node 1 ({}/10.0.0.1:9092) could not be established. Broker may not be available.",
        "Registered broker 1 at path /brokers/ids/1 with addresses: PLAINTEXT://{}:9092, czxid (broker epoch): 4294967391",
        "Opening socket connection to server {}/10.0.0.2:2181.",
        "bootstrap.servers = [{}:9092]",
        "{} kafka[123]: INFO started (kafka.server.KafkaServer)",
    ),
    "path": (
        "[Log partition=orders-0, dir={}] Rolled new log segment at offset 17 in 3 ms. (kafka.log.Log)",
        "Deleted log {}/00000000000000000017.log.deleted. (kafka.log.LogSegment)",
        "java.io.IOException: No space left on device: {}",
        "log.dirs = {}",
        "Loading producer state from snapshot file '{}/00000000000000000017.snapshot'",
    ),
    "class": (
        "\tat {}.run({}.java:117)",
        "Caused by: {}: something went wrong",
        "[2026-11-22 10:00:00,001] INFO started ({})",
        "Uncaught exception in thread '{}-1': ({})",
        "partition.assignment.strategy = [class {}]",
        "{}$$Lambda$123/0x0000000840123456@1b2c3d4e",
    ),
    "version": (
        "Kafka version: {} (org.apache.kafka.common.utils.AppInfoParser)",
        "Kafka commitId: {} (org.apache.kafka.common.utils.AppInfoParser)",
        "sha256 of the image is {}",
    ),
    "number": ("Truncating to offset {}", "{} [main] INFO done", "pid={} fd=7"),
}
"""Sentences by the kind of id that stands in them."""


def ids(seed: int, each: int) -> dict[str, list[str]]:
    """Ids of every kind, made as Kafka, ZooKeeper, clients, Kubernetes and clouds make them.

    Args:
        each: Of each kind.
    """
    chance = random.Random(seed)

    def some(*makes):
        return [make() for _ in range(each) for make in makes]

    def letters(alphabet, size):
        return "".join(chance.choices(alphabet, k=size))

    def word():
        return chance.choice(
            ("orders", "billing", "shipping", "payments", "audit", "clicks", "invoices", "returns", "stock", "prices")
        )

    def named():
        return "".join(chance.choice(_NAMES) for _ in range(chance.randrange(1, 3)))

    def universal():
        return str(uuid.UUID(int=chance.getrandbits(128), version=4))

    kafkas = base64.urlsafe_b64encode
    return {
        "topic": some(
            lambda: f"{word()}.{word()}-v{chance.randrange(9)}", lambda: f"__{word()}_state",
            lambda: f"app-{named()}-KSTREAM-AGGREGATE-STATE-STORE-00000000{chance.randrange(99):02}-changelog",
            lambda: f"{word()}_{chance.randrange(20200101, 20261231)}", lambda: f"dbserver{chance.randrange(9)}.{word()}.{named()}",
            lambda: f"mirror.{word()}.{universal()}", lambda: f"svc_{word()}-enriched-{chance.randrange(2020, 2027)}",
            lambda: f"{word()}_{letters('0123456789abcdef', 32)}", lambda: f"tmp_{letters('0123456789abcdef', 40)}",
        ),
        "22 letters": some(
            lambda: kafkas(chance.randbytes(16)).rstrip(b"=").decode(),
            lambda: f"lkc-{kafkas(chance.randbytes(16)).rstrip(b'=').decode()}",
        ),
        "long id": some(
            lambda: letters(string.ascii_letters + string.digits, 28), lambda: f"connect-cluster-{word()}-{chance.randrange(99)}",
            lambda: f"{word()}-{universal()}-{chance.randrange(9)}_{chance.randrange(9)}",
        ),
        "member": some(
            lambda: f"consumer-{chance.randrange(9)}-{universal()}", lambda: f"{word()}-consumer-{universal()}",
            lambda: f"rdkafka-{universal()}", lambda: f"{word()}-{universal()}-StreamThread-{chance.randrange(9)}-consumer-{universal()}",
            lambda: f"sarama-{universal()}", lambda: f"connector-consumer-{word()}-sink-{chance.randrange(9)}-{universal()}",
        ),
        "session": some(lambda: hex(chance.getrandbits(57)), lambda: f"0x{chance.getrandbits(64):016x}"),
        "host": some(
            lambda: f"ip-10-{chance.randrange(255)}-{chance.randrange(255)}-{chance.randrange(255)}.eu-west-1.compute.internal",
            lambda: f"ec2-52-{chance.randrange(255)}-17-{chance.randrange(255)}.compute-1.amazonaws.com",
            lambda: f"kafka-{chance.randrange(9)}.kafka-headless.{word()}.svc.cluster.local",
            lambda: f"{word()}-{letters(_LOWER, 10)}-{letters(_LOWER, 5)}", lambda: f"b-{chance.randrange(9)}.{word()}.{letters(_LOWER, 6)}.c2.kafka.eu-west-1.amazonaws.com",
            lambda: f"pkc-{letters(_LOWER, 5)}.us-east-2.aws.confluent.cloud", lambda: letters("0123456789abcdef", 12), lambda: f"i-0{letters('0123456789abcdef', 16)}",
        ),
        "path": some(
            lambda: f"/var/lib/kafka/data-{chance.randrange(9)}/kafka-log{chance.randrange(9)}/{word()}-{chance.randrange(99)}",
            lambda: f"/data/{word()}-{chance.randrange(9)}.{universal().replace('-', '')}-delete",
            lambda: f"C:\\Kafka\\Data{chance.randrange(9)}\\{named()}-{chance.randrange(9)}",
            lambda: f"/var/lib/kubelet/pods/{universal()}/volumes/kubernetes.io~csi/pvc-{universal()}/mount",
            lambda: f"/opt/{named()}/{word()}/{named()}-{chance.randrange(99)}", lambda: f"/brokers/topics/{word()}/partitions/{chance.randrange(999)}/state",
        ),
        "class": some(
            lambda: f"org.apache.kafka.common.{named()}", lambda: f"com.example.{word()}.{named()}{chance.randrange(9)}", named,
            lambda: f"kafka.server.{named()}$anonfun$doWork${chance.randrange(9)}", lambda: f"{named()}To{named()}V{chance.randrange(9)}",
        ),
        "version": some(
            lambda: f"{chance.randrange(4)}.{chance.randrange(9)}.{chance.randrange(3)}", lambda: letters("0123456789abcdef", 16),
            lambda: letters("0123456789abcdef", 40), lambda: letters("0123456789abcdef", 64), lambda: f"{chance.randrange(9)}.{chance.randrange(9)}-ccs-SNAPSHOT",
        ),
        "number": some(lambda: str(chance.randrange(10**15)), lambda: f"{chance.randrange(10**10):020}"),
    }  # fmt: skip


_NAMES = (
    "AddPartitionsToTxnManager", "ReplicaFetcherThread", "GroupCoordinator", "ZkReplicaStateMachine", "LogCleaner", "KafkaServer",
    "validateOneIsIpv4AndOtherIpv6", "kafkaLog4jRootLogLevelProp", "addAvgAndMinAndMaxToSensor", "setResultsByTopicV3AndBelow",
    "moveActiveAndTryToWarmUp", "isZKSessionIdDiffFromCurrentZKSessionId", "KTableKTableJoinNodeBuilder", "SslTransportLayer",
    "getToolsLog4jConfigsFromEnv", "CooperativeStickyAssignor", "NotLeaderOrFollowerException", "DelayedOperationPurgatory",
)  # fmt: skip
"""Names of Kafka's source (4.1), those among them that look most like random letters: held against all 8,383 of 24 letters and more."""


@cache
def real() -> list[str]:
    """Every line of the logs of the shipped samples."""
    found = []
    for log in sorted(places.samples_dir().rglob("logs/**/*")):
        if log.suffix in (".log", ".out"):
            found += log.read_text(errors="replace").splitlines()
    return found


@cache
def made() -> list[tuple[str, str]]:
    """Each id, and a sentence with it."""
    chance = random.Random(11)
    return [
        (one, chance.choice(SENTENCES[kind]).replace("{}", one).replace("{{", "{").replace("}}", "}"))
        for kind, found in ids(7, 300).items()
        for one in found
    ]


def tokens(line: str) -> set[str]:
    """What stands between blanks, quotes and brackets."""
    return {word.decode() for word in _WORD.findall(line.encode())}
