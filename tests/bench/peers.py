"""What the scans are measured against: Kafka's dump-log, kcat, Spark's own Kafka connector, and plain reading."""

import shutil
import subprocess
from pathlib import Path

import commits
import fetched

from casebook.rehearsal import PlayedCluster
from casebook.rehearsal.servers import installation
from casebook.rehearsal.servers import jars as servers


def broker() -> PlayedCluster:
    """A cluster of one broker, which runs at full speed; rehearsed ones are told to start quickly instead."""
    installation.LIGHT = ("-XX:+UseG1GC",)
    return PlayedCluster(kafka=commits.KAFKA, brokers=1, settings=commits.SETTINGS)


def served(cluster: PlayedCluster, topic: str, log: Path) -> None:
    """Give a broker, as partition 0 of a topic, the segments that another wrote."""
    cluster.create_topic(topic, {0: [1]})
    cluster.stop(1)
    copy = cluster.log_dir(1) / f"{topic}-0"
    shutil.copytree(log, copy, dirs_exist_ok=True, ignore=shutil.ignore_patterns("partition.metadata"))
    cluster.start(1)
    cluster.wait_until(lambda: (topic, 0) in cluster.states(), what="the leader")


def connector_jars() -> tuple[Path, ...]:
    """Those of :data:`fetched.JARS`."""
    return fetched.fetch(fetched.CONNECTOR, "Spark's Kafka connector")


def connector(spark: object, cluster: PlayedCluster, topic: str, **options: object) -> object:
    """The records of a topic by Spark's connector, as a data frame."""
    read = spark.read.format("kafka").option("kafka.bootstrap.servers", cluster.bootstrap).option("subscribe", topic)
    return read.options(**options).load()


def dump_log(*segments: Path) -> None:
    """Decode segments of the offsets topic by Kafka's own tool, to nowhere."""
    path = ":".join(map(str, servers.jars(commits.KAFKA)))
    tool = [
        servers.java(),
        "-Xmx256M",
        "-cp",
        path,
        "kafka.tools.DumpLogSegments",
        "--offsets-decoder",
        "--files",
        ",".join(map(str, segments)),
    ]
    subprocess.run(tool, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def kcat(cluster: PlayedCluster, topic: str) -> None:
    """Read partition 0 of a topic to its end, to nowhere."""
    tool = ["kcat", "-b", cluster.bootstrap, "-C", "-t", topic, "-p", "0", "-o", "beginning", "-e", "-q"]
    subprocess.run(tool, stdout=subprocess.DEVNULL, check=True)


def read(log: Path) -> None:
    """All bytes of a partition's segments once through memory, on one core."""
    buffer = bytearray(1 << 20)
    for segment in log.glob("*.log"):
        with segment.open("rb", buffering=0) as file:
            while file.readinto(buffer):
                pass
