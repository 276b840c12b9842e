"""Lessons of the walkthrough: Kafka's terms in the evidence of a shipped case.

Nothing is hard-coded: partitions, transactions and lines are looked up in the case, which :mod:`casebook.rehearsal.samples` may
regenerate at any time.
"""

import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from casebook.case.case import Case
from casebook.errors import UsageError, did_you_mean
from casebook.facts.cluster import Cluster, Partition, PartitionState
from casebook.facts.disks import OFFSETS_TOPIC, Replica
from casebook.facts.proofs import state_path
from casebook.findings.words import agree, clock_ms, count, plural, size
from casebook.formats.zookeeper import znodes
from casebook.kafka import release
from casebook.kafka.group_partition import group_partition, java_hash
from casebook.kafka.settings import Settings
from casebook.machine import places
from casebook.page import citations, proof
from casebook.questions.quiz.incidents import WalkthroughIncident

_HISTORY = "zookeeper/history.jsonl.zst txn "
_SEGMENT = re.compile(r"messages in segment (?P<partition>\S+)/")
_GROUPS = ("fraud", "mailer", "payments")
"""Groups of that case. Any name would do: a group's partition depends only on its name and the number of partitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """A term with an example.

    Args:
        name: Name of its table.
        text: Name of the template with its text, ``lesson_<text>``.
        source: Shipped case of the example.
        takeaway: One sentence with its number.
        reading: How to read the table.
        columns: Headers; the first cell of a row is its header.
        rows: Texts and integers.
        evidence: As read: znodes, lines, transactions.
        answer: Answer to the notebook's question; ``""`` without one.
    """

    name: str
    text: str
    source: str
    takeaway: str
    reading: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int, ...], ...]
    evidence: tuple[Sequence[object], Sequence[proof.ProofLine], Sequence[object]]
    answer: str = ""


def lessons(incident: WalkthroughIncident) -> tuple[Lesson, ...]:
    """Return the lessons of an incident, in order."""
    return tuple(map(lesson, incident.lessons))


def lesson(name: str) -> Lesson:
    """Return one of :data:`LESSONS`.

    Raises:
        UsageError: It does not exist.
    """
    if name not in LESSONS:
        raise UsageError(f"There is no lesson {name}.", try_=did_you_mean(name, LESSONS))
    return LESSONS[name](name)


def _partition(name: str) -> Lesson:
    case, cluster = _opened("acks1_loss")
    topic = "payments"
    copies = _copies(case, topic, 0)
    place = {broker: nth for nth, broker in enumerate(_of(cluster, topic, 0).replicas, start=1)}
    segment = f"{copies[0].segments[0].base_offset:020d}.log"
    return Lesson(
        name=name,
        text=name,
        source="sample:acks1_loss",
        takeaway=f"{topic}-0 is one log, kept by {len(copies)} brokers.",
        reading="Its order in the assignment matters: the first is the preferred leader.",
        columns=("Broker", "In the assignment", "Folder in its log dir", "First segment", "Size"),
        rows=tuple(
            (c.broker, _ordinal(place[c.broker]), f"{topic}-0", segment, size(c.bytes))
            for c in sorted(copies, key=lambda c: place[c.broker])
        ),
        evidence=citations.evidence(case, [f"/brokers/topics/{topic}", state_path(topic, 0)], at=None),
        answer=f"Under “0” in the topic’s znode: {_listed(_of(cluster, topic, 0).replicas)}. Broker "
        f"{_of(cluster, topic, 0).replicas[0]} is the preferred leader.",
    )


def _isr(name: str, sample: str = "acks1_loss", topic: str = "payments") -> Lesson:
    case, _ = _opened(sample)
    path = state_path(topic, 0)
    states = [
        (change, znodes.decode_state(z.data)) for change in case.history() for z in change.znodes if z.path == path and z.data
    ]
    rows = tuple(
        (clock_ms(change.time), state.leader if state.leader is not None else "–1", _listed(state.isr), state.leader_epoch,
         state.controller_epoch)
        for change, state in states
    )  # fmt: skip
    isr_changes = _first(case, "server.log", f"Expanding ISR for partition [{topic},0]")
    leaders = [state.leader for _, state in states]
    changes = sum(one != other for one, other in itertools.pairwise(leaders))
    return Lesson(
        name=name,
        text="isr",
        source=f"sample:{sample}",
        takeaway=f"The state of {topic}-0 was written {len(rows)} times, with {plural(changes, 'change')} of leader.",
        reading="Each row is a transaction of ZooKeeper, in UTC. The controller writes the leader, and the leader "
        "writes the ISR; from 2.7 on, the controller writes it for the leader.",
        columns=("When", "Leader", "ISR", "Leader epoch", "Controller epoch"),
        rows=rows,
        evidence=citations.evidence(case, [*(f"{_HISTORY}{change.zxid:#x}" for change, _ in states), *isr_changes], at=None),
        answer=" ".join(
            _of_write(before, now, clock_ms(change.time)) for (_, before), (change, now) in itertools.pairwise(states)
        ),
    )


def _of_write(before: PartitionState, now: PartitionState, at: str) -> str:
    """Describe the change by a write of a partition's state."""
    what = f"Broker {now.leader} took over" if now.leader != before.leader else f"The ISR became {_listed(now.isr)}"
    if now.leader_epoch == before.leader_epoch:
        return f"{what} at {at}, which left the leader epoch at {now.leader_epoch}."
    return f"{what} at {at}: that write raised the leader epoch from {before.leader_epoch} to {now.leader_epoch}."


def _high_watermark(name: str) -> Lesson:
    case, cluster = _opened("acks1_loss")
    topic = "payments"
    cut = _last(case, "brokers/1/logs/server.log", f"Truncating log {topic}-0 to offset")
    offset = int(case.line(cut[0]).rpartition("offset ")[2].split(".")[0])
    acknowledged = list(_acknowledged(case, topic, 0))
    copies = _copies(case, topic, 0)
    leader = _of(cluster, topic, 0).state.leader
    stored = _log(next(copy for copy in copies if copy.broker == leader))
    there = {each.offset: each.id for each in acknowledged if each.key in stored}
    gone = {each.offset: each for each in acknowledged if each.key not in stored}
    between = sum(offset + 1 < at < max(gone) for at in gone)

    def row(at: int) -> tuple[object, ...]:
        return (at, "kept" if at < offset else "cut off", there.get(at, "–"), gone[at].id if at in gone else "–")

    on_disk = ", ".join(f"{copy.high_watermark} on broker {copy.broker}" for copy in copies)
    return Lesson(
        name=name,
        text=name,
        source="sample:acks1_loss",
        takeaway=f"Broker 1, the previous leader, truncated {topic}-0 to {offset}: "
        f"{plural(len(gone), 'acknowledged record')} {agree(len(gone), 'is', 'are')} lost.",
        reading=f"The ledger of the applications, compared with the log of broker {leader}. From {offset} on, two "
        "records had the same offset: the new leader's is stored. Broker 1 truncated to its own high watermark "
        f"at that time, {offset}. The values in replication-offset-checkpoint were each written later: "
        f"{on_disk}.",
        columns=("Offset", "Log of broker 1", f"In the log of broker {leader} now", "Acknowledged by broker 1, and lost"),
        rows=(
            *(row(at) for at in (offset - 2, offset - 1, offset, offset + 1)),
            (f"{offset + 2} to {max(gone) - 1}", "cut off", "…", f"{count(between)} more"),
            row(max(gone)),
        ),
        evidence=citations.evidence(case, [*cut, gone[offset].proof], at=None),
    )


class _Acknowledged(NamedTuple):
    """A record that was acknowledged to an application.

    Args:
        proof: Its ledger line.
    """

    id: str
    offset: int
    proof: str

    @property
    def key(self) -> bytes:
        """Its key in a 0.9 message, after its length, when uncompressed."""
        return len(self.id).to_bytes(4) + self.id.encode()


def _acknowledged(case: Case, topic: str, partition: int) -> Iterator[_Acknowledged]:
    for row, at in _ledger(case):
        if (row["topic"], row["partition"]) == (topic, partition) and row.get("acked"):
            yield _Acknowledged(row["id"], row["offset"], at)


def _ledger(case: Case) -> Iterator[tuple[Mapping, str]]:
    """Yield each line of the applications' ledgers, with its ``path:line``."""
    for path, _ in case.ledgers():
        yield from ((json.loads(line), f"{path}:{at}") for at, line in enumerate(case.text_lines(path), start=1))


def _log(copy: Replica) -> bytes:
    """Return the bytes of its segments in the case."""
    return b"".join(path.read_bytes() for path in sorted(Path(copy.place).glob("*.log")))


def _coordinator(name: str) -> Lesson:
    case, cluster = _opened("restart_all_coordinators")
    offsets = [p for p in cluster.partitions if p.topic == OFFSETS_TOPIC]
    rows = []
    for group in _GROUPS:
        partition = offsets[group_partition(group, len(offsets))]
        leader = partition.state.leader if partition.state and partition.state.leader is not None else "–1"
        rows.append((group, java_hash(group), f"{abs(java_hash(group))} mod {len(offsets)}", partition.name, leader))
    first = offsets[group_partition(_GROUPS[0], len(offsets))]
    broker, number = first.state.leader, f"[{OFFSETS_TOPIC},{first.partition}]"
    load = [
        line
        for said in ("Loading offsets and group metadata from", "Finished loading offsets from")
        for line in _last(case, f"brokers/{broker}/logs/server.log", f"{said} {number}")
    ]
    return Lesson(
        name=name,
        text=name,
        source="sample:restart_all_coordinators",
        takeaway=f"{len(offsets)} partitions, so {len(offsets)} places a group can belong to, each with one coordinator.",
        reading="The leader of the partition is the coordinator. It answers only after it has read the whole partition.",
        columns=("Group", "Hash of its name", "Its place", "Partition", "Coordinator: broker"),
        rows=tuple(rows),
        evidence=citations.evidence(case, [state_path(OFFSETS_TOPIC, first.partition), *load], at=None),
    )


def _cleaner(name: str) -> Lesson:
    case, _ = _opened("offsets_bloat")
    died = _first(case, "log-cleaner.log", "Error due to")
    copies: dict[int, dict[int, Replica]] = {}
    for replica in _replicas(case):
        if replica.topic == OFFSETS_TOPIC:
            copies.setdefault(replica.partition, {})[replica.broker] = replica
    largest = max(copies, key=lambda partition: max(copy.bytes for copy in copies[partition].values()))
    pair = sorted(copies[largest].values(), key=lambda copy: -copy.bytes)
    return Lesson(
        name=name,
        text=name,
        source="sample:offsets_bloat",
        takeaway=f"The same records take {size(pair[0].bytes)} on broker {pair[0].broker} and {size(pair[1].bytes)} on broker "
        f"{pair[1].broker}.",
        reading="Each broker compacts its own copy. Everything below the cleaner checkpoint has been cleaned.",
        columns=("Broker", "Partition", "Segments", "Size", "Cleaner checkpoint"),
        rows=tuple(
            (copy.broker, f"{OFFSETS_TOPIC}-{largest}", len(copy.segments), size(copy.bytes), _known(copy.cleaner_point))
            for copy in pair
        ),
        evidence=citations.evidence(case, died, at=None),
        answer=f"{_killer(case, died[0])}: one segment had more messages than the cleaner's map has room for.",
    )


def _killer(case: Case, died: str) -> str:
    """Return the topic and partition of the segment in the line below the error."""
    path, _, number = died.rpartition(":")
    return _SEGMENT.search(case.line(f"{path}:{int(number) + 1}"))["partition"]


def _acks(name: str) -> Lesson:
    case, _ = _opened("isr_shrunk_loss")
    counts: dict[tuple[str, str], Counter[str]] = {}
    for row, _ in _ledger(case):
        counts.setdefault((row["topic"], row["acks"]), Counter())["acked" if row.get("acked") else "failed"] += 1
    refused = sum(count["failed"] for count in counts.values())
    return Lesson(
        name=name,
        text=name,
        source="sample:isr_shrunk_loss",
        takeaway=f"{plural(refused, 'record')} of {plural(sum(count.total() for count in counts.values()), 'record')} "
        f"{agree(refused, 'was', 'were')} refused or not answered in time.",
        reading="As the producers' own ledger has it.",
        columns=("Topic", "Sent with", "Acknowledged", "Refused, or not answered"),
        rows=tuple((topic, f"acks={acks}", n["acked"], n["failed"]) for (topic, acks), n in sorted(counts.items())),
        evidence=citations.evidence(case, [next(at for row, at in _ledger(case) if not row.get("acked"))], at=None),
    )


def _min_isr(name: str) -> Lesson:
    case, cluster = _opened("acks1_loss")
    settings = Settings(cluster, release.release(cluster, logged=case.logged_versions()).version)
    topics = {p.topic: p for p in cluster.partitions if p.topic != OFFSETS_TOPIC}
    found = {
        topic: settings.effective("min.insync.replicas", topic=topic, broker=p.replicas[0]) for topic, p in sorted(topics.items())
    }
    return Lesson(
        name=name,
        text=name,
        source="sample:acks1_loss",
        takeaway=f"{plural(sum(one.value == '1' for one in found.values()), 'topic')} of {len(found)} "
        "accept acks=all with the leader alone.",
        reading="The value that applies to each topic, and where it comes from.",
        columns=("Topic", "min.insync.replicas", "Comes from", "Replicas of partition 0"),
        rows=tuple((topic, one.value, one.origin, _listed(_of(cluster, topic, 0).replicas)) for topic, one in found.items()),
        evidence=citations.evidence(case, [f"/config/topics/{topic}" for topic in found], at=None),
    )


LESSONS: Mapping[str, Callable[[str], Lesson]] = {
    "partition": _partition,
    "isr": _isr,
    "isr_elsewhere": partial(_isr, sample="isr_shrunk_loss", topic="clicks"),
    "high_watermark": _high_watermark,
    "coordinator": _coordinator,
    "cleaner": _cleaner,
    "acks": _acks,
    "min_isr": _min_isr,
}
"""Lessons by name."""


def _opened(sample: str) -> tuple[Case, Cluster]:
    case = Case.open(places.samples_dir() / sample)
    return case, case.cluster()


def _of(cluster: Cluster, topic: str, number: int) -> Partition:
    return next(p for p in cluster.partitions if (p.topic, p.partition) == (topic, number))


def _copies(case: Case, topic: str, partition: int) -> list[Replica]:
    return [replica for replica in _replicas(case) if (replica.topic, replica.partition) == (topic, partition)]


def _replicas(case: Case) -> Iterator[Replica]:
    return (replica for log_dir in case.log_dirs() for replica in log_dir.replicas)


def _places(case: Case, path_ends: str, said: str) -> Iterator[str]:
    """Yield ``path:line`` of each line of brokers' logs with a text."""
    for _, path, lines in case.log_files():
        if path.endswith(path_ends):
            yield from (f"{path}:{at}" for at, line in enumerate(lines, start=1) if said in line)


def _first(case: Case, path_ends: str, said: str) -> list[str]:
    return list(_places(case, path_ends, said))[:1]


def _last(case: Case, path_ends: str, said: str) -> list[str]:
    return list(_places(case, path_ends, said))[-1:]


def _listed(brokers: Iterable[int]) -> str:
    return ", ".join(map(str, brokers)) or "–"


def _known(offset: int | None) -> str | int:
    return "never cleaned" if offset is None else offset


def _ordinal(number: int) -> str:
    return {1: "1st: preferred leader", 2: "2nd", 3: "3rd"}.get(number, f"{number}th")
