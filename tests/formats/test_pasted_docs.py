"""Each row of the table in ``docs/pasted.md`` is true: something of that kind is at hand, and gives what the row says."""

import re
from collections.abc import Callable
from pathlib import Path

from casebook.facts.pasted import MoveState, Pasted
from casebook.formats.pasted import paste

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent / "pasted"
STATE = "/brokers/topics/orders/partitions/2/state"
JSON = '{"controller_epoch":24,"leader":-1,"version":1,"leader_epoch":37,"isr":[3]}'
LOG = "[2019-10-12 11:03:42,671] INFO x (kafka.server.KafkaServer)\nWARN not the correct coordinator\n"


def _says(*tools: str) -> Callable[[Pasted], bool]:
    return lambda found: {told.tool for told in found.told if told.says} >= set(tools)


def _told(path: str) -> Callable[[Pasted], bool]:
    return lambda found: any(znode.path == path for znode in found.znodes)


def _hosts(found: Pasted) -> set[str]:
    return {said.kind for said in found.hosts}


ROWS: dict[str, tuple[str, Callable[[Pasted], bool]]] = {
    "`get`, `get -s`, `stat`, `ls`, `ls2`, `ls -s` of zkCli or zookeeper-shell": (
        "zookeeper_3.5.9",
        lambda found: {"1", "2"} in [set(znode.children or ()) for znode in found.znodes],
    ),
    "`echo ls /brokers/ids | zookeeper-shell.sh HOST:2181`": (
        "=$ echo ls /brokers/ids | zookeeper-shell.sh h:2181\n[1, 2]",
        lambda found: found.znodes[0].children == ("1", "2"),
    ),
    "JSON of a znode without its command": (f"=the state {STATE} is\n\n{JSON}", _told(STATE)),
    "a znode as Ruby's `zk` or Python's `kazoo` prints it": (
        f"=zk.get('{STATE}')\n(b'{JSON}', ZnodeStat(czxid=7, mzxid=9))",
        lambda found: [(znode.path, znode.stat.mzxid) for znode in found.znodes] == [(STATE, 9)],
    ),
    "`kafka-topics --describe` of any release": (
        "topics_3.9.2",
        lambda found: len(found.topics) == 3 and len(found.partitions) == 8,
    ),
    "`kafka-topics --zookeeper ... --describe --unavailable-partitions`": (
        "=kafka-topics.sh --zookeeper z:2181 --describe --unavailable-partitions\n"
        "\tTopic: t\tPartition: 0\tLeader: 3\tReplicas: 3\tIsr: 3",
        lambda found: found.partitions[0].dead_leader,
    ),
    "`kafka-topics --describe --under-replicated-partitions` and the like, with the next prompt right below": (
        "=$ kafka-topics.sh --bootstrap-server h:9092 --describe --under-replicated-partitions\n$",
        _says("kafka-topics"),
    ),
    "`kafka-topics --list`": ("names_2.8.2", _told("/brokers/topics/orders")),
    "`kafka-consumer-groups --describe` of any release, `ConsumerOffsetChecker`": (
        "checker_0.9.0.1",
        lambda found: {row.group for row in found.offsets} == {"billing"},
    ),
    "`kafka-consumer-groups --members`, `--state`, `--list`": (
        "groups_3.9.2_members",
        lambda found: bool(found.members and found.groups) and _says("kafka-consumer-groups --list")(found),
    ),
    "the file that `ExportZkOffsets` writes": (
        "=/consumers/billing/offsets/orders/2:33334",
        lambda found: (
            [(row.group, row.topic, row.partition, row.offset) for row in found.offsets] == [("billing", "orders", 2, 33334)]
        ),
    ),
    "`ls -R` of zkCli": ("=[zk: h:1(CONNECTED) 0] ls -R /brokers/ids\n/brokers/ids\n/brokers/ids/1\n", _told("/brokers/ids/1")),
    "`dump`, as in `echo dump | nc HOST 2181`, or of the AdminServer": ("words_3.8.4", _told("/kafka/brokers/ids/2")),
    "`mntr`, `srvr`, `stat`, `cons`, `conf`, `wchs`, `ruok`, `zkServer.sh status`": (
        "words_3.4.6",
        _says(*(f"ZooKeeper's {word}" for word in ("mntr", "srvr or stat", "cons", "conf", "wchs", "ruok"))),
    ),
    "`kafka-configs --describe`": ("configs_2.8.2", lambda found: {row.kind for row in found.configs} == {"topics", "brokers"}),
    "`kafka-reassign-partitions --list`": ("reassign_3.9.2", lambda found: any(row.adding == (3,) for row in found.assigned)),
    "`kafka-reassign-partitions --generate`, `--execute`, `--verify`, a plan": (
        "reassign_0.9.0.1",
        lambda found: bool(found.assigned) and {row.state for row in found.moves} == {MoveState.COMPLETE, MoveState.UNDER_WAY},
    ),
    "`kafka-log-dirs --describe`": ("log_dirs_2.8.2", lambda found: len(found.used) == 25),
    "`kcat -L`, `kcat -L -J`": ("kcat_2.8.2", lambda found: bool(found.partitions) and _says("kcat -L")(found)),
    "`kafka-metadata-quorum describe`": ("quorum_3.9.2", lambda found: found.kraft is not None),
    "`kafka-broker-api-versions`": ("api_versions_2.8.2", _says("kafka-broker-api-versions")),
    "`kafka-transactions`, `kafka-leader-election`, `GetOffsetShell`": (
        "transactions_3.9.2 elections_3.9.2 offsets_3.9.2",
        _says("kafka-transactions list", "kafka-leader-election", "GetOffsetShell"),
    ),
    "`ls -l` in all its forms, Windows `dir` and PowerShell's `ls`, of partition folders": (
        "listing_ls ../pasted_hosts/dir ../pasted_hosts/listings",
        lambda found: any(file.broker == 1 and file.bytes == 65536 for file in found.files),
    ),
    "`ls` of names alone": ("=broker 1:\n$ ls /data/t-0\n00000000000000000000.log\n", lambda found: found.files[0].bytes is None),
    "`du`, `df`, `df -h`, `df -i` of Linux and macOS": (
        "listing_rounded ../pasted_hosts/df",
        lambda found: bool(found.used) and _hosts(found) >= {"df"},
    ),
    "log lines, with date or without": (f"={LOG}", lambda found: len(found.logs) == 2),
    "lines of `server.properties`": ("../pasted_hosts/properties", lambda found: len(found.settings) == 1),
    "`jstack`, `jcmd Thread.print`, `kill -3` of a broker": ("../pasted_hosts/jstack", lambda found: len(found.dumps) == 1),
    "`dmesg`, journal and syslog on the OOM killer": ("../pasted_hosts/kernel", lambda found: _hosts(found) == {"OOM killer"}),
    "`systemctl status`": ("../pasted_hosts/systemctl", lambda found: _hosts(found) == {"systemctl"}),
    "`kubectl get pods`, `get events`, `describe pod`": (
        "../pasted_hosts/pods ../pasted_hosts/describe",
        lambda found: _hosts(found) == {"kubectl"},
    ),
    "jmxterm, Kafka's JmxTool, Jolokia, Prometheus text of jmx_exporter": (
        "../pasted_hosts/jmxtool_properties ../pasted_hosts/metrics",
        lambda found: _hosts(found) == {"metrics"},
    ),
    "Cruise Control's `kafka_cluster_state`, JSON or text": (
        "../pasted_hosts/cruise_control",
        lambda found: len(found.partitions) == 2,
    ),
    "Cruise Control's `state`": ("../pasted_hosts/cruise_control", lambda found: _hosts(found) == {"Cruise Control"}),
}


def test_the_table():
    """No row without proof, no proof without row."""
    text = (ROOT / "docs" / "pasted.md").read_text()
    rows = [re.split(r"(?<!\\)\|", line)[1].strip().replace("\\|", "|") for line in text.splitlines() if line.startswith("| ")]
    assert rows[0] == "pasted"
    assert rows[1:] == list(ROWS)
    for row, (names, holds) in ROWS.items():
        text = names[1:] if names.startswith("=") else "\n\n".join((FOLDER / f"{name}.txt").read_text() for name in names.split())
        found = paste.read(text.splitlines())
        assert holds(found), row
        assert all(part.span == (1, 1) for part in found.not_understood), row  # somebody's own words
