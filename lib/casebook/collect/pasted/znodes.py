"""Znodes of a pasted case: those in the paste, and, as ``stated``, others according to Kafka's tools."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from casebook.case.writer import CaseWriter
from casebook.collect.redaction import redact_znode
from casebook.facts.cluster import Problem
from casebook.facts.pasted import (
    NOT_PASTED,
    PASTED,
    DescribedPartition,
    DescribedTopic,
    Elected,
    MoveState,
    Pasted,
    PastedAssignment,
    PastedMove,
    PastedZnode,
    ToldConfig,
)
from casebook.facts.proofs import state_path
from casebook.facts.quotes import cut
from casebook.facts.znodes import ReadOutcome, Stat, Znode
from casebook.formats.pasted.tools.zookeeper import kafka_path
from casebook.formats.zookeeper import kafka_tree as tree

_SHOWN = 120
_SAY_NOTHING_WITHOUT_DATA = ("/controller", "/controller_epoch")
_PARTS = (tree.IDS, "/controller", "/controller_epoch", "/config/topics", "/config/brokers", "/admin", tree.TOPICS)


def write(case: CaseWriter, found: Pasted) -> None:
    """Write the pasted and the stated znodes into a case.

    Args:
        case: Receives them, and the open parts of the tree.
        found: Content of the paste.
    """
    stated = _Stated()
    for topic in found.topics:
        stated.topic(topic)
    for row in sorted((*found.partitions, *found.elected), key=lambda row: row.span):
        if isinstance(row, Elected):
            stated.elected(row)
        else:
            stated.partition(row)
    for config in found.configs:
        stated.config(config)
    for assigned in found.assigned:
        stated.assigned(assigned)
    stated.moves(found.moves)
    chroot, theirs = _of_one_chroot(found.znodes)
    for path, znode in theirs:
        stated.read(path, znode)
    rows = list(stated.rows())
    for part in _open_parts({row.path: row for row in rows}) if found.kraft is None else ():
        case.could_not_collect(part.path, part.reason)
    for problem in _not_used(found.znodes, chroot):
        case.could_not_collect(problem.path, problem.reason)
    if rows:
        clean = [redact_znode(row) for row in rows]
        case.znodes(clean, chroot=chroot, servers=())
        if secrets := sum(row.redacted for row in clean):
            case.redacted(f"{secrets} znodes below /config")
    for remark in _remarks(found, theirs):
        case.remark(remark)


def _of_one_chroot(znodes: Sequence[PastedZnode]) -> tuple[str, list[tuple[str, PastedZnode]]]:
    """The chroot of most of them, and those below it or named without any: a connect string may have had the chroot."""
    known = [(*place, znode) for znode in znodes if znode.path is not None and (place := kafka_path(znode.path)) is not None]
    counts = Counter(chroot for chroot, _, _ in known if chroot)
    main = max(counts, key=counts.__getitem__, default="")
    return main, [(path, znode) for chroot, path, znode in known if chroot in (main, "")]


def _not_used(znodes: Sequence[PastedZnode], main: str) -> Iterator[Problem]:
    for znode in znodes:
        place = kafka_path(znode.path) if znode.path else None
        where = f"{PASTED}:{znode.span.first}"
        if znode.path is None:
            yield Problem(path=where, reason=f"is {_what(znode)} whose path was {NOT_PASTED}; write its command above it")
        elif place is None and znode.path != main:
            yield Problem(path=where, reason=f"{znode.path} is not a znode of Kafka")
        elif place is not None and place[0] not in (main, ""):
            yield Problem(path=where, reason=f"{znode.path} is below another chroot than {main or '/'}")


def _what(znode: PastedZnode) -> str:
    """Describe a znode without a path by its content: it may be any of its kind."""
    try:
        row = json.loads(znode.data or "null")
    except ValueError:
        row = None
    if not isinstance(row, dict):
        return "a znode"
    if "endpoints" in row or {"host", "port"} <= row.keys():
        return f"a broker's registration ({cut(', '.join(map(str, row.get('endpoints') or [row.get('host')])), _SHOWN)})"
    if {"leader", "isr"} <= row.keys():
        return cut(f"a partition's state (leader {row['leader']}, ISR {row['isr']})", _SHOWN)
    return "a topic's assignment" if "partitions" in row else "a znode of settings" if "config" in row else "a znode"


def _remarks(found: Pasted, theirs: Sequence[tuple[str, PastedZnode]]) -> Iterator[str]:
    yield (
        f"The evidence was pasted: {found.lines} lines, in {PASTED}. The time of copying is unknown, and the parts may "
        "be of different times."
    )
    if any(znode.stat is not None and (znode.stat.mtime or znode.stat.ctime) for _, znode in theirs):
        yield "zkCli prints the times of znodes in whole seconds."
    if undated := [path for path, znode in theirs if znode.undated]:
        yield f"The time zone of these znodes is ambiguous, such as CST: {', '.join(undated[:3])}."
    altered = [path for path, znode in theirs if _is_altered(znode)]
    if altered:
        yield (
            f"The length differs from the one that ZooKeeper reports, so they were changed on the way: {', '.join(altered[:3])}."
        )


def _is_altered(znode: PastedZnode) -> bool:
    length = znode.stat.dataLength if znode.stat else None
    if znode.data is None or length is None or "[redacted]" in znode.data:
        return False
    return len(znode.data.encode(errors="replace")) != length


class _Stated:
    """Znodes assembled from a whole paste; read ones have precedence over stated ones."""

    def __init__(self) -> None:
        self._told: dict[str, dict[str, object] | None] = {}
        self._read: dict[str, Znode] = {}
        self._stats: dict[str, Stat | None] = {}
        self._absent: set[str] = set()
        self._ids: dict[str, str] = {}

    def topic(self, topic: DescribedTopic) -> None:
        """A topic's line of a description."""
        path = f"{tree.TOPICS}/{topic.topic}"
        self._told.setdefault(path, None)
        if topic.topic_id is not None:
            self._ids[path] = topic.topic_id
        if topic.configs is not None:
            self._told[f"/config/topics/{topic.topic}"] = {"version": 1, "config": topic.configs}
        if topic.deleting:
            self._told[f"/admin/delete_topics/{topic.topic}"] = None

    def partition(self, row: DescribedPartition) -> None:
        """A partition's line of a description."""
        self._assign(row)
        leader = -1 if row.leader is None else row.leader
        self._told[state_path(row.topic, row.partition)] = {"version": 1, "leader": leader, "isr": list(row.isr)}
        if row.deleting:
            self._told[f"/admin/delete_topics/{row.topic}"] = None
        if row.dead_leader:
            self._absent.add(f"{tree.IDS}/{row.leader}")

    def elected(self, row: Elected) -> None:
        """Drop the leader after an election: only later descriptions show it."""
        state = state_path(row.topic, row.partition)
        if state in self._told:
            self._told[state] = None

    def assigned(self, row: PastedAssignment) -> None:
        """Add replicas of a partition with an unknown state."""
        self._assign(row)
        self._told.setdefault(state_path(row.topic, row.partition), None)

    def _assign(self, row: DescribedPartition | PastedAssignment) -> None:
        path = f"{tree.TOPICS}/{row.topic}"
        topic = self._told.get(path) or {"partitions": {}} | ({"topic_id": self._ids[path]} if path in self._ids else {})
        self._told[path] = topic
        for name, brokers in (("partitions", row.replicas), ("adding_replicas", row.adding), ("removing_replicas", row.removing)):
            known = topic.setdefault(name, {}) if brokers is not None else {}
            if brokers is not None and (row.ordered or set(known.get(str(row.partition), ())) != set(brokers)):
                known[str(row.partition)] = list(brokers)

    def config(self, row: ToldConfig) -> None:
        """Add overrides of kafka-configs: a cut list extends known ones. A possibly incomplete znode has no version."""
        path = f"/config/{row.kind}/{row.entity}"
        known = (self._told.get(path) or {}).get("config", {}) if not row.whole else {}
        is_whole = row.whole or "version" in (self._told.get(path) or {})
        self._told[path] = ({"version": 1} if is_whole else {}) | {"config": {**known, **row.settings}}

    def moves(self, rows: Iterable[PastedMove]) -> None:
        """Add running reassignments: the last statement on each partition."""
        last = {(row.topic, row.partition): row for row in rows}
        running = [row for row in last.values() if row.state is MoveState.UNDER_WAY]
        if running:
            partitions = [
                {"topic": row.topic, "partition": row.partition} | ({"replicas": list(row.target)} if row.target else {})
                for row in running
            ]
            self._told["/admin/reassign_partitions"] = {"version": 1, "partitions": partitions}

    def read(self, path: str, znode: PastedZnode) -> None:
        """An answer of ZooKeeper; it counts more than the answers before it."""
        before = self._read.get(path)
        if not znode.there:
            self._read[path] = Znode(path=path, outcome=ReadOutcome.MISSING)
        elif znode.data is not None:
            data = _data(znode.data)
            same = before is not None and before.data == data
            self._read[path] = Znode(path=path, data=data, stat=znode.stat or (before.stat if same else None))
        elif znode.children is not None:
            self._list(path, znode.children)
            self._read[path] = Znode(path=path, stat=(znode.stat or Stat())._replace(numChildren=len(znode.children)))
        elif before is not None and before.data is not None:
            if before.stat is None and znode.stat is not None and znode.stat.dataLength == len(before.data):
                self._read[path] = before._replace(stat=znode.stat)
        else:
            self._told.setdefault(path, None)
            self._stats[path] = znode.stat

    def _list(self, path: str, names: Sequence[str]) -> None:
        """Apply a list of children: absent ones no longer exist."""
        above = path.rstrip("/") + "/"
        children = {above + name for name in names}
        for known in (self._told, self._read, self._stats):
            for gone in [p for p in known if p.startswith(above) and "/" not in p[len(above) :] and p not in children]:
                del known[gone]
        for child in children:
            self._told.setdefault(child, None)
            if child in self._read and self._read[child].outcome is ReadOutcome.MISSING:
                del self._read[child]

    def rows(self) -> Iterator[Znode]:
        """Yield znodes by path; from descriptions only those not read.

        A partition with an unknown state has a row without data.
        """
        for path, znode in self._read.items():
            if tree.is_topic(path):
                for state in tree.assigned_states(path, znode.data):
                    self._told.setdefault(state, None)
        self._name_controller()
        yield from (Znode(path=path, outcome=ReadOutcome.MISSING) for path in sorted(self._absent - {*self._told, *self._read}))
        for path in sorted({*self._told, *self._read}):
            only_there = path not in self._read and self._told[path] is None
            if not tree.is_evidence(path) or (only_there and path in _SAY_NOTHING_WITHOUT_DATA):
                continue
            read, told = self._read.get(path), self._told.get(path)
            if read is not None:
                yield read._replace(data=None) if path in tree.COUNTED else read
            else:
                data = None if told is None else json.dumps(told, separators=(",", ":")).encode()
                yield Znode(path=path, data=data, stat=self._stats.get(path), outcome=ReadOutcome.STATED)

    def _name_controller(self) -> None:
        """Name the controller when only its session is known.

        A broker creates ``/controller`` and its registration in one session.

        Source: ``KafkaServer.scala@0.9.0.1, 2.8.2``, one ZooKeeper client.
        """
        stat = self._stats.get("/controller")
        if stat is None or stat.ephemeralOwner is None or "/controller" in self._read:
            return
        stats = {**self._stats, **{path: znode.stat for path, znode in self._read.items() if znode.outcome is ReadOutcome.READ}}
        owners = [
            path.rpartition("/")[2]
            for path, other in stats.items()
            if path.startswith(tree.IDS + "/") and other is not None and other.ephemeralOwner == stat.ephemeralOwner
        ]
        if len(owners) == 1 and owners[0].isdecimal():
            self._told["/controller"] = {"version": 1, "brokerid": int(owners[0])}


def _data(text: str) -> bytes:
    """Return the data as in ZooKeeper, except removed secrets."""
    return text.replace('"[redacted]"', "[redacted]").replace("[redacted]", '"[redacted]"').encode(errors="replace")


def _open_parts(rows: Mapping[str, Znode]) -> Iterator[Problem]:
    """The parts of the tree that were not pasted, or not as a whole."""
    for path in _PARTS:
        row = rows.get(path)
        single = path in ("/controller", "/controller_epoch")
        known = row is not None and (
            row.outcome is ReadOutcome.MISSING
            or (row.outcome is ReadOutcome.READ and (single or row.stat))
            or (single and row.data is not None)
        )
        if not known:
            yield Problem(path=path, reason=f"was {NOT_PASTED}")
    for path in sorted(rows):
        if tree.is_topic(path) and rows[path].data is None and rows[path].outcome is ReadOutcome.STATED:
            yield Problem(path=path, reason=f"is there; its partitions' brokers were {NOT_PASTED}")
