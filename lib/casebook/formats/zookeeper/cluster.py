"""Build a cluster from its znodes: the rows of a walk or dump, in any order, become one :class:`Cluster`."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from casebook.facts.cluster import Broker, Cluster, Controller, GroupOffset, Partition, PartitionState, Problem, Topic
from casebook.facts.history import HOLES
from casebook.facts.znodes import ReadOutcome, Stat, Znode
from casebook.formats.zookeeper import znodes
from casebook.formats.zookeeper.znodes import Assignment, Undecodable

_READ = (ReadOutcome.READ, ReadOutcome.CHANGED)
_GONE = (ReadOutcome.MISSING, ReadOutcome.VANISHED)
_NOT_READ = {
    ReadOutcome.DENIED: "cannot be read: its ACL forbids it",
    ReadOutcome.TOO_LARGE: "is larger than the collector keeps",
    ReadOutcome.FAILED: "could not be read: the server did not answer",
}
_KNOWN_ROOTS = frozenset({"admin", "brokers", "cluster", "config", "controller", "controller_epoch", "consumers",
                          "delegation_token", "feature", "isr_change_notification", "kafka-acl", "kafka-acl-changes",
                          "kafka-acl-extended", "kafka-acl-extended-changes", "latest_producer_id_block",
                          "log_dir_event_notification", "migration"})  # fmt: skip

_UNASSIGNED = Assignment(json_version=None, replicas={}, adding={}, removing={}, undecodable={})

Key = tuple[str, int]


def from_znodes(
    rows: Iterable[Znode],
    *,
    chroot: str = "",
    not_collected: Iterable[Problem] = (),
    server_properties: Mapping[int, Mapping[str, str]] | None = None,
    remarks: tuple[str, ...] = (),
) -> Cluster:
    """Build a cluster; unreliable evidence becomes a problem inside it.

    Args:
        rows: Znodes with paths below the chroot.
        chroot: As given; ``""`` for none.
        not_collected: Parts known to be missing from ``rows``; read after ``rows`` is exhausted.
        server_properties: By broker id, as far as collected.
        remarks: Notes on the collection.
    """
    sorted_out = _SortedOut()
    for row in rows:
        sorted_out.add(row)
    cluster = _put_together(sorted_out, chroot, tuple(not_collected), server_properties or {})
    return replace(cluster, remarks=remarks)


class _SortedOut:
    """Znodes by kind. The many states are decoded at once: their bytes are not kept."""

    def __init__(self) -> None:
        self.by_kind: dict[str, list[tuple[str, Znode]]] = defaultdict(list)
        self.states: dict[str, dict[int, PartitionState | None]] = defaultdict(dict)
        self.state_reads: dict[tuple[str, int | None], str] = {}
        self.unknown: Counter[str] = Counter()
        self.top: dict[str, Znode] = {}
        self.problems: list[Problem] = []
        self.read_from: int | None = None
        self.read_to: int | None = None
        self.changed = 0

    def add(self, znode: Znode) -> None:
        """Add one znode."""
        if znode.read_at is not None:
            self.read_from = znode.read_at if self.read_from is None else min(self.read_from, znode.read_at)
            self.read_to = znode.read_at if self.read_to is None else max(self.read_to, znode.read_at)
        self.changed += znode.outcome is ReadOutcome.CHANGED
        parts = znode.path.split("/")[1:]
        if len(parts) <= 2:
            self.top[znode.path] = znode
        match parts:
            case ["brokers", "topics", topic, "partitions", partition, "state"]:
                self._add_state(topic, znodes.number(partition), znode)
            case ["brokers", "topics", topic]:
                self.by_kind["topic"].append((topic, znode))
            case ["brokers", "ids", broker] if znodes.number(broker) is not None:
                self.by_kind["broker"].append((broker, znode))
            case ["brokers", "ids", _]:
                self.problems.append(Problem(path=znode.path, reason="is not a broker id"))
            case ["controller"] | ["controller_epoch"]:
                self.by_kind[znode.path].append(("", znode))
            case ["config", ("topics" | "brokers") as kind, entity]:
                self.by_kind["config/" + kind].append((entity, znode))
            case ["admin", "delete_topics", topic]:
                self.by_kind["delete"].append((topic, znode))
            case ["admin", "reassign_partitions"] | ["admin", "preferred_replica_election"] | ["cluster", "id"]:
                self.by_kind[znode.path].append(("", znode))
            case ["log_dir_event_notification", event]:
                self.by_kind["log_dir_event"].append((event, znode))
            case ["consumers", _, "offsets", _, partition] if znodes.number(partition) is not None:
                self.by_kind["group_offset"].append((znode.path, znode))
            case [root, *_] if znode.path != "/":
                self._add_other(root, znode)

    def read(self, kind: str, decode: Callable[[Znode, str], None]) -> None:
        """Decode the existing znodes of a kind; an error becomes a problem."""
        for name, znode in self.by_kind[kind]:
            if znode.outcome in _GONE:
                continue
            reason = _NOT_READ.get(znode.outcome)
            told_of = znode.outcome is ReadOutcome.STATED and znode.data is None
            if reason is None and not told_of:
                try:
                    decode(znode, name)
                except Undecodable as error:
                    reason = str(error)
            if reason is not None:
                self.problems.append(Problem(path=znode.path, reason=reason))

    def _add_state(self, topic: str, partition: int | None, znode: Znode) -> None:
        stated = znode.outcome is ReadOutcome.STATED
        if znode.outcome in _GONE:
            return
        if stated and znode.data is None and partition is not None:
            self.states[topic][partition] = None
            self.state_reads[topic, partition] = "does not contain its state"
            return
        state = None
        try:
            if partition is None:
                raise Undecodable("is the state of no partition number")
            if znode.outcome not in _READ and not stated:
                raise Undecodable(_NOT_READ[znode.outcome])
            state = znodes.decode_state(znode.data, znode.stat, stated=stated)
        except Undecodable as error:
            self.state_reads[topic, partition] = str(error)
            self.problems.append(Problem(path=znode.path, reason=str(error)))
        if partition is not None:
            self.states[topic][partition] = state

    def _add_other(self, root: str, znode: Znode) -> None:
        if root not in _KNOWN_ROOTS:
            self.unknown["/" + root] += 1
        if znode.outcome in _NOT_READ:
            self.problems.append(Problem(path=znode.path, reason=_NOT_READ[znode.outcome]))


def _put_together(
    found: _SortedOut, chroot: str, not_collected: tuple[Problem, ...], server_properties: Mapping[int, Mapping[str, str]]
) -> Cluster:
    brokers = _brokers(found)
    deleting = {topic: znode.stat for topic, znode in found.by_kind["delete"] if znode.outcome not in _GONE}
    topics, assignments = _topics(found, deleting)
    configs: dict[str, dict[str, dict[str, str]]] = {kind: _configs(found, kind) for kind in ("topics", "brokers")}
    partition_lists: dict[str, dict[Key, tuple[int, ...]]] = defaultdict(dict)
    for path in ("/admin/reassign_partitions", "/admin/preferred_replica_election"):
        found.read(path, lambda znode, _: partition_lists[znode.path].update(znodes.decode_partitions(znode.data)))
    failures: set[int] = set()
    found.read("log_dir_event", lambda znode, _: failures.add(znodes.decode_log_dir_event(znode.data)))
    ids: list[str] = []
    found.read("/cluster/id", lambda znode, _: ids.append(znodes.decode_cluster_id(znode.data)))
    controller = _controller(found)
    offsets: list[GroupOffset] = []
    found.read("group_offset", lambda znode, path: offsets.append(znodes.decode_group_offset(path, znode.data, znode.stat)))
    return Cluster(
        chroot=chroot,
        cluster_id=ids[0] if ids else None,
        brokers=brokers,
        brokers_known=_children_known(found, "/brokers/ids", "broker", not_collected),
        unregistered=frozenset(int(name) for name, znode in found.by_kind["broker"] if znode.outcome is ReadOutcome.MISSING),
        topics=topics,
        partitions=tuple(_partitions(found, assignments)),
        unlisted=tuple(_unlisted(found, not_collected)),
        controller=controller,
        topic_configs=configs["topics"],
        broker_configs=configs["brokers"],
        unreadable_configs=frozenset(_unreadable_configs(found, not_collected)),
        server_properties=server_properties,
        reassigning=partition_lists["/admin/reassign_partitions"],
        preferred_election=frozenset(partition_lists["/admin/preferred_replica_election"]),
        log_dir_failures=frozenset(failures),
        group_offsets=tuple(sorted(offsets)),
        problems=tuple(sorted(found.problems, key=lambda problem: (problem.path, problem.reason))),
        unknown_znodes=dict(sorted(found.unknown.items())),
        there=frozenset(path for path, znode in found.top.items() if znode.outcome not in _GONE),
        not_there=frozenset(path for path, znode in found.top.items() if znode.outcome in _GONE),
        missing_parts=not_collected,
        read_from=found.read_from,
        read_to=found.read_to,
        changed=found.changed,
    )


def _brokers(found: _SortedOut) -> dict[int, Broker]:
    """Return registered brokers. An unreadable registration still proves that the broker is alive."""
    brokers = {
        int(name): Broker(id=int(name), stamp=znodes.stamp(znode.stat))
        for name, znode in found.by_kind["broker"]
        if znode.outcome not in _GONE
    }

    def decode(znode: Znode, name: str) -> None:
        brokers[int(name)] = znodes.decode_broker(int(name), znode.data, znode.stat)

    found.read("broker", decode)
    return dict(sorted(brokers.items()))


def _children_known(found: _SortedOut, parent: str, kind: str, not_collected: tuple[Problem, ...]) -> bool:
    """Return whether all children of a znode are here: it was read, counts no more, and none is known to be missing."""
    if any(part.path != "/" and (parent == part.path or parent.startswith(part.path + "/")) for part in not_collected):
        return False
    children = found.by_kind[kind]
    znode = found.top.get(parent)
    if znode is not None and znode.outcome not in _READ:
        return False
    if znode is None or znode.stat is None or znode.stat.numChildren is None:
        torn = any(part.path == "/" or _is_file_of_znodes(part.path) for part in not_collected)
        return not torn and (znode is not None or any(child.outcome in _READ for _, child in children))
    return znode.stat.numChildren <= len(children)


def _is_file_of_znodes(part: str) -> bool:
    """Return whether a part is the file of znodes: not a znode itself, a broker's or client's file, or the history."""
    return part != HOLES and not part.startswith(("/", "brokers/", "clients/"))


def _unlisted(found: _SortedOut, not_collected: tuple[Problem, ...]) -> Iterable[Problem]:
    """Return why partitions may be unseen."""
    if not _children_known(found, "/brokers/topics", "topic", not_collected):
        yield Problem(path="/brokers/topics", reason="the list of topics is not whole")
    yield from (p for p in not_collected if _is_file_of_znodes(p.path))
    yield from (p for p in found.problems if p.path.startswith("/brokers/topics/") and p.path.count("/") == 3)


def _unreadable_configs(found: _SortedOut, not_collected: tuple[Problem, ...]) -> Iterable[str]:
    """Return entities with unreadable settings; a kind alone (``topics``) when its entities cannot be listed."""
    yield from (p.path.removeprefix("/config/") for p in found.problems if p.path.startswith("/config/"))
    for kind in ("topics", "brokers"):
        parent = f"/config/{kind}"
        top = found.top.get(parent, found.top.get("/config"))
        nothing_there = top is not None and (top.outcome in _GONE or (top.path == "/config" and top.outcome in _READ))
        yield from (
            f"{kind}/{name}"
            for name, znode in found.by_kind[parent[1:]]
            if znode.outcome is ReadOutcome.STATED and (znode.data is None or _is_partly(znode))
        )
        if nothing_there or _children_known(found, parent, parent[1:], not_collected):
            continue
        told = {name for name, znode in found.by_kind[parent[1:]] if znode.outcome is ReadOutcome.STATED and znode.data}
        if told and kind == "topics":  # kafka-topics printed those of some topics: these are known
            yield from (f"{kind}/{topic}" for topic in sorted({*found.states, *dict(found.by_kind["topic"])} - told))
        else:
            yield kind


def _is_partly(znode: Znode) -> bool:
    """Return whether it may have only some of its settings: such a znode is stated without a version."""
    return not (znode.data or b"").startswith(b'{"version"')


def _topics(found: _SortedOut, deleting: Mapping[str, Stat | None]) -> tuple[dict[str, Topic], dict[str, Assignment]]:
    """Return every existing topic, also with an unreadable znode; and the readable assignments."""
    assignments: dict[str, Assignment] = {}
    topics = {
        name: Topic(
            name=name,
            deleting=name in deleting,
            deleting_since=mark.ctime if mark else None,
            stamp=znodes.stamp(znode.stat),
        )
        for name, znode in found.by_kind["topic"]
        if znode.outcome not in _GONE
        for mark in (deleting.get(name),)
    }

    def decode(znode: Znode, name: str) -> None:
        assignments[name] = assignment = znodes.decode_topic(znode.data)
        topics[name] = replace(topics[name], json_version=assignment.json_version)

    found.read("topic", decode)
    return dict(sorted(topics.items())), assignments


def _partitions(found: _SortedOut, assignments: Mapping[str, Assignment]) -> Iterable[Partition]:
    """Yield every partition in an assignment or a state, by topic and partition."""
    for topic in sorted(assignments.keys() | found.states.keys()):
        assignment = assignments.get(topic, _UNASSIGNED)
        states = found.states.get(topic, {})
        for partition in sorted(assignment.replicas.keys() | states.keys()):
            problem = found.state_reads.get((topic, partition)) if found.state_reads else None
            if partition not in assignment.replicas:
                problem = problem or "has a state and no assignment"
            elif partition in assignment.undecodable:
                problem = f"the topic znode {assignment.undecodable[partition]}"
            yield Partition(
                topic=topic,
                partition=partition,
                replicas=assignment.replicas.get(partition, ()),
                adding=assignment.adding.get(partition, ()),
                removing=assignment.removing.get(partition, ()),
                state=states.get(partition),
                missing=partition not in states,
                problem=problem,
            )


def _configs(found: _SortedOut, kind: str) -> dict[str, dict[str, str]]:
    configs: dict[str, dict[str, str]] = {}

    def decode(znode: Znode, entity: str) -> None:
        if settings := znodes.decode_config(znode.data):
            configs[entity] = settings

    found.read("config/" + kind, decode)
    return dict(sorted(configs.items()))


def _controller(found: _SortedOut) -> Controller:
    fields: dict[str, object] = {}

    def decode_controller(znode: Znode, _: str) -> None:
        fields["broker"], fields["json_version"] = znodes.decode_controller(znode.data)
        if znode.stat is not None:
            fields["elected_at"], fields["session"] = znode.stat.ctime, znode.stat.ephemeralOwner

    def decode_epoch(znode: Znode, _: str) -> None:
        fields["epoch"], fields["epoch_stamp"] = znodes.decode_controller_epoch(znode.data), znodes.stamp(znode.stat)

    found.read("/controller", decode_controller)
    found.read("/controller_epoch", decode_epoch)
    readable = bool(found.by_kind["/controller"]) and not any(
        p.path in ("/controller", "/controller_epoch") for p in found.problems
    )
    return Controller(readable=readable, **fields)
