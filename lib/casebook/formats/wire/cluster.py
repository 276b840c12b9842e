"""Build a cluster from the answers of its brokers.

Rules of the source: ``MetadataResponse.json``, ``DescribeConfigsResponse.json``, ``DescribeQuorumResponse.json@3.9.2``.
With KRaft, a metadata answer names any live broker as controller (``KRaftMetadataCache.scala@3.9.2``,
``getRandomAliveBrokerId``); the quorum names the real one.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from casebook.facts.cluster import Broker, Cluster, Controller, Partition, PartitionState, PrintedSettings, Problem, Topic
from casebook.facts.evidence import Evidence
from casebook.facts.observed import Source
from casebook.facts.wire import ANSWERS, BrokerAnswer

_DYNAMIC_BROKER, _DYNAMIC_DEFAULT, _STATIC, _DEFAULT = 2, 3, 4, 5
"""Sources of a setting (``DescribeConfigsResponse.java@3.9.2``)."""
_DESCRIBE_QUORUM = 55
_LEADER_NOT_AVAILABLE, _LISTENER_NOT_FOUND = 5, 72  # Errors.java@3.9.2
_BOOTSTRAP = -1
"""In place of the id of a broker that was asked by a bootstrap address."""
_METADATA_VERSION = "metadata.version"
_PARTS = ("topics", "rest")
"""Parts without which partitions may be unseen."""
_EVERYBODY = "<default>"

Line = tuple[int, BrokerAnswer]
Key = tuple[str, int]


class WireProofs:
    """Proofs by lines of answers; an answer that is not there is named by its part.

    Args:
        lines: Line by request and subject.
    """

    def __init__(self, lines: Mapping[tuple[str, str], int]) -> None:
        self._lines = lines

    def _line(self, api: str, subject: str, part: str = "") -> Evidence:
        line = self._lines.get((api, subject))
        return Evidence(file=f"wire/{part or subject}") if line is None else Evidence(file=ANSWERS, line=line)

    @property
    def whole(self) -> Evidence:
        """All answers."""
        return Evidence(file=ANSWERS)

    @property
    def brokers(self) -> Evidence:
        """The live brokers, as the answering broker knows them."""
        return self._line("METADATA", "cluster", "brokers")

    def broker(self, broker: int) -> Evidence:  # noqa: ARG002  one answer has all
        """The same answer."""
        return self.brokers

    def topic(self, topic: str) -> Evidence:
        """A topic."""
        return self._line("METADATA", f"topics/{topic}")

    def state(self, topic: str, partition: int) -> Evidence:
        """A partition; the answer with its eligible leader replicas, if there is one."""
        subject = f"topics/{topic}/{partition}"
        with_elr = ("DESCRIBE_TOPIC_PARTITIONS", subject) in self._lines
        return self._line("DESCRIBE_TOPIC_PARTITIONS" if with_elr else "METADATA", subject)

    @property
    def controller(self) -> Evidence:
        """The quorum's leader, or the broker that is the controller."""
        return self._line("DESCRIBE_QUORUM", "cluster") if ("DESCRIBE_QUORUM", "cluster") in self._lines else self.brokers

    @property
    def controller_epoch(self) -> Evidence:
        """The quorum's epoch."""
        return self.controller

    def topic_settings(self, topic: str) -> Evidence:
        """Settings of a topic."""
        return self._line("DESCRIBE_CONFIGS", f"topics/{topic}", f"settings/topics/{topic}")

    def broker_settings(self, broker: str) -> Evidence:
        """Settings of a broker; those of all brokers are among the settings of each."""
        return self._line("DESCRIBE_CONFIGS", f"brokers/{broker}", f"settings/brokers/{broker}")

    def deletion(self, topic: str) -> Evidence:  # noqa: ARG002
        """Requests to delete topics: they are not among the answers."""
        return self.deletions

    @property
    def deletions(self) -> Evidence:
        """Requests to delete topics: they are not among the answers."""
        return Evidence(file="wire/deletions")

    @property
    def reassignment(self) -> Evidence:
        """Running reassignments."""
        return self._line("LIST_PARTITION_REASSIGNMENTS", "cluster", "reassignments")


def from_answers(
    lines: Iterable[Line],
    *,
    not_collected: Iterable[Problem] = (),
    server_properties: Mapping[int, Mapping[str, str]] | None = None,
    remarks: tuple[str, ...] = (),
) -> Cluster:
    """Build a cluster; what an answer lacks is unknown.

    Args:
        lines: Answers with their lines.
        not_collected: Parts known to be missing; read after ``lines`` is exhausted.
        server_properties: By broker id, as far as collected.
        remarks: Notes on the collection.
    """
    found = _Decoded()
    for number, answer in lines:
        found.add(number, answer)
    missing = tuple(not_collected)
    return Cluster(
        cluster_id=found.cluster_id,
        brokers=dict(sorted(found.brokers.items())),
        brokers_known=found.brokers_known and not _may_differ(found, missing),
        topics={name: Topic(name=name) for name in sorted(found.topics)},
        partitions=found.whole_partitions(),
        unlisted=tuple(_unlisted(found, missing)),
        controller=found.controller(),
        topic_configs={topic: own for topic, own in sorted(found.topic_configs.items()) if own},
        broker_configs={broker: own for broker, own in sorted(found.dynamic.items()) if own},
        unreadable_configs=frozenset(_unreadable(found)),
        server_properties=server_properties or {},
        printed_settings=found.started_with,
        reassigning={key: tuple(r for r in move.replicas if r not in move.removing) for key, move in found.moves.items()},
        replica_bytes=found.sizes,
        problems=tuple(found.problems),
        missing_parts=missing,
        read_from=found.first,
        read_to=found.last,
        remarks=remarks,
        is_kraft=found.is_kraft,
        features=found.features,
        newest_metadata_version=found.newest_of_brokers(),
        deletions_known=found.is_kraft,  # a topic is removed at once there
        source=Source.WIRE,
        proofs=WireProofs(found.lines),
    )


class _Move(NamedTuple):
    """A running reassignment; ``replicas`` is the union."""

    replicas: tuple[int, ...] = ()
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()


class _Eligible(NamedTuple):
    """Eligible leader replicas, and the last known leader; ``None`` is unknown."""

    elr: tuple[int, ...] | None = None
    last_known_elr: tuple[int, ...] | None = None


class _Decoded:
    """Decoded answers. One that lacks a field, or has another type in its place, becomes a problem and changes nothing."""

    def __init__(self) -> None:
        self.lines: dict[tuple[str, str], int] = {}
        self.cluster_id: str | None = None
        self.brokers: dict[int, Broker] = {}
        self.brokers_known = False
        self.has_hidden_brokers = False
        self.topics: set[str] = set()
        self.topic_configs: dict[str, dict[str, str]] = {}
        self.dynamic: dict[str, dict[str, str]] = defaultdict(dict)
        self.started_with: dict[int, PrintedSettings] = {}
        self.moves: dict[Key, _Move] = {}
        self.features: dict[str, int] = {}
        self.newest: dict[int, int] = {}
        self.sizes: dict[tuple[int, str, int], int] = {}
        self.problems: list[Problem] = []
        self.first: int | None = None
        self.last: int | None = None
        self.is_kraft = False
        self._partitions: dict[Key, Partition] = {}
        self._without_isr: set[Key] = set()
        self._eligible: dict[Key, _Eligible] = {}
        self._controller = -1
        self._quorum: tuple[int, int] | None = None

    def add(self, line: int, answer: BrokerAnswer) -> None:
        """Add one answer."""
        self.first = answer.at if self.first is None else min(self.first, answer.at)
        self.last = answer.at if self.last is None else max(self.last, answer.at)
        try:
            self._decode(answer, f"{ANSWERS}:{line}")
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            self.problems.append(Problem(path=f"{ANSWERS}:{line}", reason="lacks a field that such an answer has"))
            return
        self.lines[answer.api, answer.subject] = line

    def whole_partitions(self) -> tuple[Partition, ...]:
        """Return the partitions with their reassignments and eligible leader replicas, by topic and partition.

        Without a leader, brokers up to 2.3 answer an empty ISR (``MetadataCache.scala@0.11.0.3, 1.1.1``).
        """
        return tuple(self._whole(key, partition) for key, partition in sorted(self._partitions.items()))

    def _whole(self, key: Key, partition: Partition) -> Partition:
        move, eligible = self.moves.get(key, _Move()), self._eligible.get(key, _Eligible())
        isr_known = self.is_kraft or key not in self._without_isr
        state = partition.state
        if state is not None:
            state = state._replace(elr=eligible.elr, last_known_elr=eligible.last_known_elr, isr_known=isr_known)
        return partition._replace(state=state, adding=move.adding, removing=move.removing)

    def assigned(self) -> set[int]:
        """Return the brokers with a replica of any partition."""
        return {broker for partition in self._partitions.values() for broker in partition.replicas}

    def controller(self) -> Controller:
        """Return the leader of the quorum, or the broker that is the controller."""
        if self.is_kraft:
            leader, epoch = self._quorum or (-1, None)
            return Controller(broker=leader if leader >= 0 else None, epoch=epoch, readable=self._quorum is not None)
        return Controller(broker=self._controller if self._controller >= 0 else None, readable=self.brokers_known)

    def newest_of_brokers(self) -> dict[int, int]:
        """Return the newest ``metadata.version`` by broker; of the broker asked first only where no other answered."""
        known = {broker: level for broker, level in self.newest.items() if broker != _BOOTSTRAP}
        return known or self.newest

    def _decode(self, answer: BrokerAnswer, place: str) -> None:
        kind, _, name = answer.subject.partition("/")
        fields = answer.fields
        match answer.api, kind:
            case "METADATA", "cluster":
                found = [_broker(row) for row in fields["brokers"]]
                controller = _int(fields.get("controllerId", -1))
                self.cluster_id, self._controller, self.brokers_known = fields.get("clusterId"), controller, True
                self.brokers |= {broker.id: broker for broker in found}
            case "METADATA", "topics" if "/" not in name:
                self.topics.add(name)
                if code := _int(fields["errorCode"]):
                    self.problems.append(Problem(path=place, reason=f"lists topic {name} with error {code}"))
            case "METADATA", "topics":
                self._decode_partition(name.rpartition("/")[0], fields)
            case "DESCRIBE_TOPIC_PARTITIONS", "topics" if "/" in name:
                key = name.rpartition("/")[0], _int(fields["partitionIndex"])
                self._eligible[key] = _Eligible(
                    *(_maybe_ids(fields.get(of)) for of in ("eligibleLeaderReplicas", "lastKnownElr"))
                )
            case "DESCRIBE_CONFIGS", "topics":
                self.topic_configs[name] = {row["name"]: _text(row["value"]) for row in fields["configs"]}
            case "DESCRIBE_CONFIGS", "brokers":
                self._decode_settings(int(name), [layer for row in fields["configs"] for layer in _layers(row)], place)
            case "API_VERSIONS", _:
                self._decode_versions(int(name) if name else _BOOTSTRAP, fields)
            case "DESCRIBE_LOG_DIRS", "brokers":
                self.sizes |= {
                    (int(name), topic["name"], _int(row["partitionIndex"])): _int(row["partitionSize"])
                    for topic in fields["topics"]
                    for row in topic["partitions"]
                    if not row["isFutureKey"]
                }
            case "DESCRIBE_QUORUM", _:
                row = fields["topics"][0]["partitions"][0]
                if row["errorCode"]:
                    raise ValueError(row["errorCode"])
                self._quorum = _int(row["leaderId"]), _int(row["leaderEpoch"])
            case "LIST_PARTITION_REASSIGNMENTS", _:
                self.moves |= {
                    (topic["name"], _int(row["partitionIndex"])): _Move(
                        _ids(row["replicas"]), _ids(row["addingReplicas"]), _ids(row["removingReplicas"])
                    )
                    for topic in fields["topics"]
                    for row in topic["partitions"]
                }

    def _decode_partition(self, topic: str, row: Mapping[str, object]) -> None:
        leader, epoch, isr = _int(row["leaderId"]), _int(row.get("leaderEpoch", -1)), _ids(row["isrNodes"])
        key = topic, _int(row["partitionIndex"])
        partition = Partition(
            topic=topic,
            partition=key[1],
            replicas=_ids(row["replicaNodes"]),
            state=PartitionState(leader if leader >= 0 else None, isr, epoch if epoch >= 0 else None, None),
            offline=_maybe_ids(row.get("offlineReplicas")),
        )
        if row["errorCode"] == _LISTENER_NOT_FOUND:
            self.has_hidden_brokers = True
            partition = partition._replace(state=None, problem="has a leader that does not have the listener that was asked")
        if not isr and row["errorCode"] == _LEADER_NOT_AVAILABLE:
            self._without_isr.add(key)
        self._partitions[key] = partition

    def _decode_settings(self, broker: int, layers: Iterable[tuple[str, str, int]], place: str) -> None:
        """Separate the dynamic settings from those with which the broker started, and these from their defaults."""
        settings: dict[str, str] = {}
        defaults: set[str] = set()
        for name, value, source in layers:
            if source in (_DYNAMIC_BROKER, _DYNAMIC_DEFAULT):
                self.dynamic[str(broker) if source == _DYNAMIC_BROKER else _EVERYBODY][name] = value
            elif source == _STATIC:
                settings[name] = value
                defaults.discard(name)
            elif source == _DEFAULT and name not in settings:
                settings[name] = value
                defaults.add(name)
        self.started_with[broker] = PrintedSettings(settings, place, frozenset(defaults), is_answer=True)

    def _decode_versions(self, broker: int, fields: Mapping[str, object]) -> None:
        """Only brokers of KRaft offer to describe a quorum (``ApiKeys.java@3.9.2``)."""
        apis = {_int(api["apiKey"]) for api in fields["apiKeys"]}
        finalized = {row["name"]: _int(row["maxVersionLevel"]) for row in fields.get("finalizedFeatures", ())}
        newest = {row["name"]: _int(row["maxVersion"]) for row in fields.get("supportedFeatures", ())}
        self.is_kraft = self.is_kraft or _DESCRIBE_QUORUM in apis
        self.features |= finalized
        if _METADATA_VERSION in newest:
            self.newest[broker] = newest[_METADATA_VERSION]


def _broker(row: Mapping[str, object]) -> Broker:
    return Broker(id=_int(row["nodeId"]), host=_text(row["host"]), port=_int(row["port"]), rack=row.get("rack"))


def _layers(row: Mapping[str, object]) -> list[tuple[str, str, int]]:
    """Return name, value and source of each layer of a setting, the effective one first; of releases before 1.1, the value.

    The source of the row is that of its first synonym, which may have another name; the synonyms have all layers.
    """
    source = _int(row.get("configSource", -1))
    if source < 0:
        return [(_text(row["name"]), _text(row["value"]), _DEFAULT if row["isDefault"] else _STATIC)]
    more = [(_text(one["name"]), _text(one["value"]), _int(one["source"])) for one in row["synonyms"]]
    return more or [(_text(row["name"]), _text(row["value"]), source)]


def _int(value: object) -> int:
    if type(value) is not int:
        raise TypeError(value)
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _ids(values: Iterable[object]) -> tuple[int, ...]:
    return tuple(map(_int, values))


def _maybe_ids(values: Iterable[object] | None) -> tuple[int, ...] | None:
    return None if values is None else _ids(values)


def _may_differ(found: _Decoded, missing: Iterable[Problem]) -> bool:
    """Whether other brokers may be alive: brokers disagree, or some do not have the listener that was asked."""
    return found.has_hidden_brokers or any(problem.path == "wire/brokers" for problem in missing)


def _unlisted(found: _Decoded, missing: Iterable[Problem]) -> Iterable[Problem]:
    if not found.brokers_known:
        yield Problem(path="wire/topics", reason="no broker listed the topics")
    parts = {f"wire/{part}" for part in _PARTS} | {ANSWERS}
    yield from (problem for problem in missing if problem.path in parts or problem.path.startswith(f"{ANSWERS}:"))
    yield from found.problems


def _unreadable(found: _Decoded) -> Iterable[str]:
    """Return entities with unknown settings; a kind alone when none of it is known."""
    if lacking := sorted(found.topics - found.topic_configs.keys()):
        yield from (f"topics/{topic}" for topic in lacking) if found.topic_configs else ("topics",)
    if not found.started_with:
        yield "brokers"
        return
    yield from (f"brokers/{broker}" for broker in sorted((found.assigned() | found.brokers.keys()) - found.started_with.keys()))
