"""Rows on coordinators: partitions with expected ends, groups, blast radius, lookup of one group."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from casebook.facts.cluster import Cluster, instant
from casebook.facts.disks import OFFSETS_TOPIC
from casebook.facts.evidence import Evidence
from casebook.kafka.defaults import DEFAULTS
from casebook.kafka.group_partition import group_partition, java_hash
from casebook.kafka.load_rate import TimeRange
from casebook.kafka.releases import LOADING_ANSWER, NO_COORDINATOR_ANSWER, KafkaVersion
from casebook.questions.coordinators.analysis.load_ends import BrokerQueue, ends
from casebook.questions.coordinators.analysis.states import WAITING, CoordinatorState, JudgedPartition


class Partitions(NamedTuple):
    """Number of partitions of the offsets topic.

    Args:
        count: The number; ``None`` when unknown.
        assumed: It is from a setting or a default, not from the topic's assignment.
        origin: Origin, in words.
    """

    count: int | None
    assumed: bool
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A partition and when it is served.

    Args:
        judged: Coordinator and state.
        eta: Epoch ms at which it will be served; ``None`` when it does not wait, or without an estimate.
        rests_on: Basis of ``eta``, or why there is none.
        groups: Known groups.
        at_least: There may be more groups: these are from log lines, not from segments.
    """

    judged: JudgedPartition
    eta: TimeRange | None
    rests_on: str
    groups: tuple[str, ...]
    at_least: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorRow:
    """A row of ``tables/coordinators``; times are ISO-8601 UTC.

    Columns:
        group: Group id; null for an offsets partition of which no group is known.
        partition: Partition of __consumer_offsets.
        coordinator: Broker id; null if there is none, or unknown.
        state: served, loading, queued, failed, moved, leaderless, loading_for_ever or unknown.
        since: From when on, ISO-8601 UTC: by the broker's clock, or ZooKeeper's where its znode says.
        eta_low: Served at the earliest, ISO-8601 UTC by the broker's clock; nine times of ten within the bounds.
        eta: Served at, best guess.
        eta_high: Served at the latest; null without bound.
        bytes: Of the partition's log, in the coordinator's copy, else the largest.
        client_sees: Answer to the group's clients.
        rests_on: Basis of the estimate, or why there is none.
        why: The state in one sentence.
        proof: Line of a log, or znode.
        group_proof: Line of a log that names the group, if no segment does.
    """

    group: str | None
    partition: int
    coordinator: int | None
    state: str
    since: str | None
    eta_low: str | None
    eta: str | None
    eta_high: str | None
    bytes: int | None
    client_sees: str
    rests_on: str
    why: str
    proof: str | None
    group_proof: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BlastRadius:
    """A row of ``tables/blast_radius``: impact of the loss of one broker.

    Columns:
        broker: Broker that coordinates.
        partitions: Offsets partitions it coordinates.
        groups: Known groups among them.
        bytes: Bytes that other brokers must load before they serve them; null if a size is unknown.
        alone: Partitions without another in-sync replica.
    """

    broker: int
    partitions: int
    groups: int
    bytes: int | None
    alone: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LookUp:
    """Lookup of a group's coordinator.

    Args:
        group: Group name.
        known: It is in the evidence.
        hash: ``String.hashCode``.
        topic: Number of partitions of the offsets topic.
        partition: Its partition; ``None`` when their number is unknown.
        waiting: State of the partition and expected end; ``None`` when unknown.
        client_sees: Response to its clients.
    """

    group: str
    known: bool
    hash: int
    topic: Partitions
    partition: int | None
    waiting: Waiting | None
    client_sees: str


def partitions_of_topic(cluster: Cluster, version: KafkaVersion, judged: Sequence[JudgedPartition]) -> Partitions:
    """Return the topic's own number of partitions, else the brokers' setting for its creation."""
    assigned = sum(p.topic == OFFSETS_TOPIC for p in cluster.partitions)
    if assigned:
        return Partitions(assigned, False, "the topic's assignment")
    seen = 1 + max((one.partition for one in judged), default=-1)
    key = "offsets.topic.num.partitions"
    configured = {p[key] for p in cluster.started_with.values() if p.get(key, "").isdecimal()}
    if len(configured) == 1 and (count := int(configured.pop())) >= max(seen, 1):
        return Partitions(count, True, f"{key} logged at the start of brokers")
    if 0 < seen <= (default := int(DEFAULTS[key].at(version))):
        return Partitions(default, True, f"the default of {key}")
    return Partitions(None, True, "not in the evidence")


def waiting(
    judged: Sequence[JudgedPartition],
    queues: Sequence[BrokerQueue],
    groups: Iterable[str],
    topic: Partitions,
    *,
    at_least: Collection[int] = (),
) -> tuple[Waiting, ...]:
    """Return every partition with its expected end.

    Args:
        at_least: Partitions with groups from log lines only: there may be more.
    """
    foretold = {partition: end for queue in queues for partition, end in ends(queue).items()}
    of: dict[int, list[str]] = {}
    if topic.count:
        for group in groups:
            of.setdefault(group_partition(group, topic.count), []).append(group)
    return tuple(
        Waiting(
            judged=one,
            eta=foretold[one.partition][0] if one.partition in foretold else None,
            rests_on=foretold[one.partition][1] if one.partition in foretold else "",
            groups=tuple(of.get(one.partition, ())),
            at_least=one.partition in at_least,
        )
        for one in judged
    )


def rows(
    partitions: Sequence[Waiting], version: KafkaVersion, named: Mapping[str, Evidence] | None = None
) -> tuple[CoordinatorRow, ...]:
    """Return rows with longest waits first, endless ones before all; then by partition and name.

    Args:
        named: Lines with groups that no segment has.
    """
    lines = {group: proof.label for group, proof in (named or {}).items()}
    found = [_row(one, group, version, lines.get(group)) for one in partitions for group in one.groups or (None,)]
    rank = {
        CoordinatorState.LOADING_FOR_EVER: 0,
        CoordinatorState.LEADERLESS: 1,
        CoordinatorState.FAILED: 2,
        CoordinatorState.LOADING: 3,
        CoordinatorState.QUEUED: 3,
        CoordinatorState.MOVED: 4,
    }
    ordered = sorted(found, key=lambda r: (r.partition, r.group is None, r.group or ""))
    ordered.sort(key=lambda r: r.eta or r.eta_low or "~", reverse=True)
    return tuple(sorted(ordered, key=lambda r: rank.get(r.state, 5 if r.state == CoordinatorState.UNKNOWN else 6)))


def _row(one: Waiting, group: str | None, version: KafkaVersion, line: str | None) -> CoordinatorRow:
    judged, eta = one.judged, one.eta
    return CoordinatorRow(
        group=group,
        partition=judged.partition,
        coordinator=judged.coordinator,
        state=judged.state,
        since=instant(judged.since),
        eta_low=instant(whole_ms(eta.low)) if eta else None,
        eta=instant(whole_ms(eta.mid)) if eta else None,
        eta_high=instant(whole_ms(eta.high)) if eta else None,
        bytes=judged.work.bytes if judged.work else None,
        client_sees=client_sees(judged, version),
        rests_on=one.rests_on,
        why=judged.why,
        proof=judged.proof.label if judged.proof else None,
        group_proof=line,
    )


def whole_ms(value: float | None) -> int | None:
    """Of a moment or a time that was worked out."""
    return None if value is None else round(value)


def client_sees(judged: JudgedPartition | None, version: KafkaVersion) -> str:
    """Return the response to the group's clients."""
    if judged is None or judged.state is CoordinatorState.UNKNOWN:
        return "unknown"
    if judged.state in WAITING:
        return str(LOADING_ANSWER.at(version))
    if judged.state is CoordinatorState.LEADERLESS:
        return str(NO_COORDINATOR_ANSWER.at(version))
    if judged.state is CoordinatorState.FAILED:
        return "no error; commits that were not loaded read as -1"
    if judged.state is CoordinatorState.MOVED:
        return f"{LOADING_ANSWER.at(version)} until the new coordinator has loaded it"
    return "its offsets"


def is_alone(one: Waiting, cluster: Cluster) -> bool:
    """Return whether the coordinator is the only live in-sync replica; with unknown registrations, the only one at all."""
    others = set(one.judged.isr or ()) - {one.judged.coordinator}
    return one.judged.isr is not None and not (others & cluster.live if cluster.brokers_known else others)


def blast_radius(partitions: Sequence[Waiting], cluster: Cluster) -> tuple[BlastRadius, ...]:
    """Return the impact of each coordinator's loss, largest first."""
    brokers = sorted({one.judged.coordinator for one in partitions if one.judged.coordinator is not None})
    found = [_radius(b, [one for one in partitions if one.judged.coordinator == b], cluster) for b in brokers]
    return tuple(sorted(found, key=lambda r: (-r.groups, -r.partitions, r.broker)))


def _radius(broker: int, own: Sequence[Waiting], cluster: Cluster) -> BlastRadius:
    sizes = [one.judged.work.bytes if one.judged.work else None for one in own]
    return BlastRadius(
        broker=broker,
        partitions=len(own),
        groups=sum(len(one.groups) for one in own),
        bytes=None if None in sizes else sum(sizes),
        alone=tuple(one.judged.partition for one in own if is_alone(one, cluster)),
    )


def look_up(group: str, topic: Partitions, partitions: Sequence[Waiting], version: KafkaVersion, *, known: bool) -> LookUp:
    """Return a group's partition and when it is served."""
    partition = group_partition(group, topic.count) if topic.count else None
    found = next((one for one in partitions if one.judged.partition == partition), None)
    return LookUp(
        group=group,
        known=known,
        hash=java_hash(group),
        topic=topic,
        partition=partition,
        waiting=found,
        client_sees=client_sees(found.judged if found else None, version),
    )
