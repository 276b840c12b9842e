"""Common inputs and phrases of the checks on coordinators."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from casebook.facts.cluster import Cluster
from casebook.facts.events import Event, LogFile
from casebook.facts.evidence import Evidence
from casebook.facts.offsets_topic import Segment
from casebook.findings.proof import SHOWN
from casebook.findings.words import plural
from casebook.kafka.releases import VersionInUse
from casebook.questions.coordinators.analysis.load_ends import BrokerQueue
from casebook.questions.coordinators.analysis.rows import BlastRadius, Partitions, Waiting
from casebook.questions.coordinators.analysis.states import CoordinatorState

COLLECT_LOGS = "Add the coordinators' server.log: casebook collect --logs BROKER=GLOB."
COLLECT_SIZES = "Add the coordinators' log dirs: casebook collect --log-dirs BROKER=DIR."
_TABLE = Evidence(file="tables/coordinators")


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorInputs:
    """Inputs of the checks.

    Args:
        at: End of the evidence, epoch ms; ``None`` without any time.
        topic: Number of partitions of the offsets topic.
        groups: Known group names, in order.
        named: Groups of unread partitions from log lines, with the line; there may be more.
        partitions: One per partition, by number.
        queues: One per broker that coordinates or has logs, by id.
        radius: Impact of each broker's loss, largest first.
        segments: Scanned segments, if any.
        largest: Largest batch in bytes by partition, if known.
        events: Events of all brokers' logs.
        files: Coverage of those logs.
    """

    cluster: Cluster
    version: VersionInUse
    at: int | None
    topic: Partitions
    groups: tuple[str, ...]
    named: Mapping[str, Evidence]
    partitions: tuple[Waiting, ...]
    queues: tuple[BrokerQueue, ...]
    radius: tuple[BlastRadius, ...]
    segments: Sequence[Segment]
    largest: Mapping[int, int]
    events: Sequence[Event]
    files: Sequence[LogFile]


def within(partitions: Iterable[Waiting], *states: CoordinatorState) -> list[Waiting]:
    """Return the partitions in one of these states."""
    return [one for one in partitions if one.judged.state in states]


def whom(hit: Sequence[Waiting]) -> str:
    """``9 groups of 2 partitions``, or only the partitions without known groups; groups from logs may be gone."""
    groups, of = sum(len(one.groups) for one in hit), plural(len(hit), "offsets partition")
    if groups and any(one.at_least for one in hit):
        return f"{of} with {known_groups(hit)}"
    return f"{known_groups(hit)} of {of}" if groups else of


def known_groups(hit: Sequence[Waiting]) -> str:
    """``9 groups``, or ``9 groups named in logs``: there may be others, and some may be gone."""
    groups = plural(sum(len(one.groups) for one in hit), "group")
    return f"{groups} named in logs" if any(one.at_least for one in hit) else groups


def proofs(hit: Sequence[Waiting]) -> tuple[Evidence, ...]:
    """Return the first proofs, and the table with all rows."""
    return (*[one.judged.proof for one in hit if one.judged.proof is not None][:SHOWN], _TABLE)


def facts_of(hit: Sequence[Waiting]) -> dict[str, object]:
    """Return partitions and the number of their known groups."""
    return {"partitions": [one.judged.partition for one in hit], "groups": sum(len(one.groups) for one in hit)}
