"""What Kafka's own command line tools of a release print of a rehearsed cluster: the text that people paste."""

import socket
import subprocess
from pathlib import Path

from casebook.errors import RehearsalError
from casebook.kafka.releases import KafkaVersion
from casebook.machine import jars
from casebook.machine.places import cache_dir
from casebook.rehearsal import PlayedCluster
from casebook.rehearsal.servers import jars as servers

_TOOLS = {"org.apache.kafka:kafka-tools:3.9.2": "3e6844711c3f5c9148f76ac96dfbf1de0aeeba11249e142e084b6de68e0ed05e"}
"""Since 3.7 and 3.8 the tools are in a jar that no server needs (``bin/kafka-topics.sh@3.7.0, bin/kafka-consumer-groups.sh@3.8.0``)."""


def describe_topics(cluster: PlayedCluster) -> str:
    """``kafka-topics --describe``: of ZooKeeper in 0.9, of the brokers that run in later releases."""
    if _is_old(cluster):
        return _printed(cluster, "kafka.admin.TopicCommand", "--zookeeper", cluster.zookeeper, "--describe")
    main = "kafka.admin.TopicCommand" if not _is_apart(cluster) else "org.apache.kafka.tools.TopicCommand"
    return _printed(cluster, main, "--bootstrap-server", cluster.bootstrap, "--describe")


def describe_group(cluster: PlayedCluster, group: str) -> str:
    """``kafka-consumer-groups --describe`` of a group that commits to Kafka."""
    main = (
        "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand" if _is_apart(cluster) else "kafka.admin.ConsumerGroupCommand"
    )
    which = ("--new-consumer",) if _is_old(cluster) else ()
    return _printed(cluster, main, *which, "--bootstrap-server", cluster.bootstrap, "--describe", "--group", group)


def describe_configs(cluster: PlayedCluster) -> str:
    """``kafka-configs --describe`` of all topics: of ZooKeeper in 0.9, of the brokers that run in later releases."""
    where = ("--zookeeper", cluster.zookeeper) if _is_old(cluster) else ("--bootstrap-server", cluster.bootstrap)
    return _printed(cluster, "kafka.admin.ConfigCommand", *where, "--describe", "--entity-type", "topics")


def describe_log_dirs(cluster: PlayedCluster) -> str:
    """``kafka-log-dirs --describe``, which is there from 1.0 on; ``""`` before."""
    if _is_old(cluster):
        return ""
    main = "org.apache.kafka.tools.LogDirsCommand" if _is_apart(cluster) else "kafka.admin.LogDirsCommand"
    return _printed(cluster, main, "--bootstrap-server", cluster.bootstrap, "--describe")


def four_letter_word(cluster: PlayedCluster, word: str) -> str:
    """What ZooKeeper's server answers to such a word."""
    host, _, port = cluster.zookeeper_address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=30) as asked:
        asked.sendall(word.encode())
        with asked.makefile(encoding="utf-8") as answer:
            return answer.read()


def reassign(cluster: PlayedCluster, file: Path) -> str:
    """``kafka-reassign-partitions --execute`` of 0.9 to 2.8, which all know the way through ZooKeeper."""
    given = ("--zookeeper", cluster.zookeeper, "--reassignment-json-file", str(file), "--execute")
    return _printed(cluster, "kafka.admin.ReassignPartitionsCommand", *given)


def _is_old(cluster: PlayedCluster) -> bool:
    return KafkaVersion.parse(cluster.kafka) < KafkaVersion.parse("0.10.0")


def _is_apart(cluster: PlayedCluster) -> bool:
    return KafkaVersion.parse(cluster.kafka) >= KafkaVersion.parse("3.8.0")


def _printed(cluster: PlayedCluster, main: str, *arguments: str) -> str:
    """What a tool prints; what it logs on the way, on the other stream, is no part of it."""
    classes = servers.jars(cluster.kafka)
    if _is_apart(cluster):
        classes += jars.fetched(_TOOLS, cache_dir() / "tools" / cluster.kafka, what="Kafka's tools", error=RehearsalError)
    command = [servers.java(), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xshare:auto"]
    command += ["-cp", ":".join(map(str, classes)), main, *arguments]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout
