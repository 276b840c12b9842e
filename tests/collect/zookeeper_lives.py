"""Lives of a small Kafka cluster as ZooKeeper would have written them, whole, and with transactions and snapshots left out."""

import json
import random
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

from casebook.collect.zookeeper.data import ZookeeperData
from casebook.facts.cluster import Cluster
from casebook.formats.zookeeper import history_facts
from casebook.formats.zookeeper.changes import CloseSession, Create, CreateSession, Delete, SetData
from casebook.formats.zookeeper.log import Transaction
from casebook.formats.zookeeper.records import OPEN
from casebook.formats.zookeeper.tree import NEW, Tree
from casebook.kafka.past import past
from casebook.kafka.releases import KafkaVersion, VersionInUse, VersionOrigin
from casebook.kafka.settings import Settings
from casebook.questions.durability.analysis.history import isr_alone
from casebook.questions.timeline.analysis import timeline
from tests.collect.zookeeper_files import START, write_log
from tests.formats import zookeeper_bytes as written

BROKERS, PARTITIONS = (1, 2, 3), (0, 1)
VERSION = VersionInUse(version=KafkaVersion.parse("2.8.2"), origin=VersionOrigin.PARAMETER)
_CONFIG = {"version": 1, "config": {"min.insync.replicas": "2"}}


def state_path(topic: str, partition: int) -> str:
    return f"/brokers/topics/{topic}/partitions/{partition}/state"


class Life:
    """A cluster that is written down transaction by transaction.

    Attributes:
        records: All transactions as a log holds them, the first with zxid 1.
        times: When each was written, by zxid.
    """

    def __init__(self) -> None:
        self.records: list[bytes] = []
        self.times: dict[int, int] = {0: START}
        self.tree = Tree(NEW, zxid=0)
        self._snapshots: dict[int, bytes] = {}
        self._owners: dict[int, int] = {}
        self._states: dict[tuple[str, int], tuple[int, list[int], int]] = {}
        self._sessions = 0x1000

    def write(self, change: object, *, session: int = 1, after: int = 1000) -> int:
        """One transaction, so many milliseconds after the last; its zxid."""
        zxid = len(self.records) + 1
        self.times[zxid] = self.times[zxid - 1] + after
        one = Transaction(0, zxid, session, zxid, self.times[zxid], change, None, False)
        self.records.append(written.transaction(one))
        self.tree.apply(one)
        self._snapshots[zxid] = _snapshot(self.tree)
        return zxid

    def create(self, path: str, row: object = None, *, session: int = 1, ephemeral: bool = False, after: int = 1000) -> int:
        data = b"" if row is None else json.dumps(row).encode()
        return self.write(Create("create", path, data, OPEN, ephemeral, -1, None), session=session, after=after)

    def begin(self, topics: Iterable[str] = ("t",)) -> None:
        """What a first start of all brokers writes."""
        for path in ("/brokers", "/brokers/ids", "/brokers/topics", "/config", "/config/topics"):
            self.create(path)
        for broker in BROKERS:
            self.register(broker)
        for topic in topics:
            self.topic(topic)

    def topic(self, name: str) -> None:
        self.create(f"/config/topics/{name}", _CONFIG)
        self.create(f"/brokers/topics/{name}", {"version": 1, "partitions": {str(n): list(BROKERS) for n in PARTITIONS}})
        self.create(f"/brokers/topics/{name}/partitions")
        for number in PARTITIONS:
            self.create(f"/brokers/topics/{name}/partitions/{number}")
            leader = next((broker for broker in BROKERS if broker in self._owners), -1)
            self.lead(name, number, leader, [b for b in BROKERS if b in self._owners] or list(BROKERS))

    def delete(self, name: str) -> None:
        for number in PARTITIONS:
            self._states.pop((name, number))
            self.write(Delete("delete", state_path(name, number)))
            self.write(Delete("delete", f"/brokers/topics/{name}/partitions/{number}"))
        for path in (f"/brokers/topics/{name}/partitions", f"/brokers/topics/{name}", f"/config/topics/{name}"):
            self.write(Delete("delete", path))

    def register(self, broker: int, after: int = 1000) -> int:
        self._sessions += 1
        self._owners[broker] = self._sessions
        self.write(CreateSession("createSession", 6000), session=self._sessions, after=after)
        row = {"version": 2, "host": "h", "port": 9092, "jmx_port": -1, "timestamp": "1", "endpoints": ["PLAINTEXT://h:9092"]}
        return self.create(f"/brokers/ids/{broker}", row, session=self._sessions, ephemeral=True)

    def lose(self, broker: int, after: int = 1000) -> int:
        return self.write(CloseSession("closeSession", None), session=self._owners.pop(broker), after=after)

    def lead(self, topic: str, partition: int, leader: int, isr: list[int], after: int = 1000) -> int:
        """Write a state; another leader than before raises the epoch."""
        before = self._states.get((topic, partition))
        epoch = 0 if before is None else before[2] + (before[0] != leader)
        self._states[topic, partition] = leader, isr, epoch
        row = {"version": 1, "leader": leader, "isr": isr, "leader_epoch": epoch, "controller_epoch": 1}
        path = state_path(topic, partition)
        if before is None:
            return self.create(path, row, after=after)
        version = self.tree.get(path).stat.version + 1
        return self.write(SetData("setData", path, json.dumps(row).encode(), version), after=after)

    def fail_over(self, chance: random.Random) -> None:
        """The controller's turn: who leads is registered and in sync, else nobody."""
        for key, (leader, isr, _) in list(self._states.items()):
            if chance.random() < 0.3:
                continue
            alive = [broker for broker in isr if broker in self._owners]
            if leader not in self._owners and (alive or leader != -1):
                self.lead(*key, alive[0] if alive else -1, alive or isr, after=chance.randint(1, 9000))

    def breathe(self, chance: random.Random) -> None:
        """Followers fall behind and catch up; leaders are moved."""
        for key, (leader, isr, _) in list(self._states.items()):
            if leader not in self._owners or chance.random() < 0.5:
                continue
            others = [b for b in BROKERS if b != leader and b in self._owners and chance.random() < 0.6]
            now = sorted([leader, *others])
            if chance.random() < 0.3 and set(now) & set(isr):
                leader = chance.choice([b for b in now if b in isr])
            self.lead(*key, leader, now, after=chance.randint(1, 9000))

    def live(self, chance: random.Random, turns: int) -> None:
        """Go on at random."""
        for _ in range(turns):
            broker = chance.choice(BROKERS)
            if broker not in self._owners:
                self.register(broker, chance.randint(1, 30_000))
            elif chance.random() < 0.6:
                self.lose(broker, chance.randint(1, 30_000))
                if chance.random() < 0.2:
                    self.register(broker, chance.randint(1, 9000))
            if chance.random() < 0.8:
                self.fail_over(chance)
            if chance.random() < 0.5:
                self.breathe(chance)
            if chance.random() < 0.1:
                (self.delete if ("u", 0) in self._states else self.topic)("u")

    def keep(self, folder: Path, *, logs: Sequence[tuple[int, int]], snapshots: Iterable[int]) -> Path:
        """Files with the transactions of some ranges, both ends included, and with snapshots behind some transactions."""
        for first, last in logs:
            write_log(folder, self.records[first - 1 : last], first=first)
        folder.mkdir(parents=True, exist_ok=True)
        for zxid in snapshots:
            (folder / f"snapshot.{zxid:x}").write_bytes(self._snapshots[zxid])
        return folder


def _snapshot(tree: Tree) -> bytes:
    """A tree as a server writes it that nothing is changed under."""
    nodes = []
    for znode in tree.znodes():
        stat = znode.stat
        created = (stat.cversion + stat.numChildren) // 2
        numbers = (stat.czxid, stat.mzxid, stat.ctime, stat.mtime, stat.version, created, stat.aversion)
        packed = struct.pack(">qqqqiiiqq", *numbers, stat.ephemeralOwner, stat.pzxid)
        path = "" if znode.path == "/" else znode.path
        nodes.append(written.text(path) + written.buffer(znode.data) + written.long(-1) + packed)
    return written.snapshot(*nodes, sessions=tuple(tree.sessions.items()))


class Told:
    """What is concluded of the files in a folder, and of nothing else."""

    def __init__(self, folder: Path) -> None:
        self.data = ZookeeperData([folder])
        self.happened = list(history_facts.read(list(self.data.changes())))
        self.past = past(self.happened)
        self.timeline = timeline.examine(Cluster(), VERSION, history=self.happened)
        settings = Settings(Cluster(), VERSION.version)
        self.alone = isr_alone(self.past, Cluster(), settings)

    def finding(self, check: str):
        return next(one for one in self.timeline.findings if one.check == f"timeline.{check}")

    def windows(self, kind: str):
        return [window for window in self.timeline.windows if window.kind == kind]
