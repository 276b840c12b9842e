"""State of each partition of the offsets topic: its coordinator, and whether that answers.

The leader of a partition is the coordinator of its groups once it has loaded the partition (``GroupMetadataManager.scala``).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from casebook.facts.cluster import Cluster, Partition
from casebook.facts.disks import OFFSETS_TOPIC, LogDir
from casebook.facts.evidence import Evidence
from casebook.facts.offsets_topic import Segment
from casebook.findings.proof import proof
from casebook.findings.words import count
from casebook.kafka.load_work import Work, works
from casebook.kafka.releases import LOAD_TAKES_ANY_BATCH, KafkaVersion
from casebook.kafka.settings import Setting, Settings
from casebook.questions.coordinators.analysis.lines import Led
from casebook.questions.coordinators.analysis.load_queue import LoadStep, Queue, Said


class CoordinatorState(StrEnum):
    """How a partition of the offsets topic responds to its groups."""

    SERVED = "served"
    LOADING = "loading"
    QUEUED = "queued"
    FAILED = "failed"
    MOVED = "moved"
    LEADERLESS = "leaderless"
    LOADING_FOR_EVER = "loading_for_ever"
    UNKNOWN = "unknown"


WAITING = (CoordinatorState.LOADING, CoordinatorState.QUEUED, CoordinatorState.LOADING_FOR_EVER)
"""The coordinator is known and does not answer yet."""

UNSERVED = (*WAITING, CoordinatorState.LEADERLESS)
"""None of its groups can consume or commit."""

_STATE = {
    LoadStep.QUEUED: CoordinatorState.QUEUED,
    LoadStep.LOADING: CoordinatorState.LOADING,
    LoadStep.SERVED: CoordinatorState.SERVED,
    LoadStep.FAILED: CoordinatorState.FAILED,
    LoadStep.ENDED: CoordinatorState.UNKNOWN,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPartition:
    """A partition, its coordinator and its state.

    Args:
        partition: Partition of ``__consumer_offsets``.
        coordinator: Broker id; ``None`` for none or unknown.
        state: See :class:`CoordinatorState`.
        since: Epoch ms: from a log line by the broker's clock, from a znode by ZooKeeper's.
        why: One sentence.
        proof: Proof; ``None`` without one.
        replicas: As assigned; empty when unknown.
        isr: In sync; ``None`` when unknown.
        work: Work of its load; from the coordinator's own copy, else the largest. ``None`` without a listed copy.
    """

    partition: int
    coordinator: int | None
    state: CoordinatorState
    since: int | None
    why: str
    proof: Evidence | None
    replicas: tuple[int, ...] = ()
    isr: tuple[int, ...] | None = None
    work: Work | None = None


def judge(
    cluster: Cluster,
    version: KafkaVersion,
    log_dirs: Sequence[LogDir],
    queues: Mapping[int, Queue],
    segments: Sequence[Segment] = (),
    led: Mapping[int, Led] | None = None,
    largest: Mapping[int, int] | None = None,
) -> tuple[JudgedPartition, ...]:
    """Return the state of every known partition of the offsets topic, by number.

    Args:
        led: Leaders from log lines, for partitions without a znode.
        largest: Largest batch in bytes by partition, if known; by default from the scan.
    """
    led = led or {}
    assigned = {p.partition: p for p in cluster.partitions if p.topic == OFFSETS_TOPIC}
    copies = works(log_dirs, segments, assigned.values())
    numbers = {*assigned, *copies, *led, *(p for queue in queues.values() for p in queue.said)}
    largest = largest_batches(segments) if largest is None else largest
    settings = Settings(cluster, version)
    return tuple(
        _sized(
            _with_endless(_judged(n, assigned.get(n), cluster, queues, led.get(n)), version, settings, largest), copies.get(n, {})
        )
        for n in sorted(numbers)
    )


def _judged(
    number: int, partition: Partition | None, cluster: Cluster, queues: Mapping[int, Queue], led: Led | None
) -> JudgedPartition:
    if partition is None:
        return _from_logs_alone(number, queues, led)
    znode = cluster.proofs.state(partition.topic, partition.partition)
    state = partition.state
    known = {"partition": number, "replicas": partition.replicas, "isr": state.isr if state else None}
    if state is None:
        return JudgedPartition(
            **known,
            coordinator=None,
            state=CoordinatorState.UNKNOWN,
            since=None,
            why="Its state znode is missing or unreadable.",
            proof=znode,
        )
    written = state.stamp.changed_at if state.stamp else None
    dead = state.leader is not None and cluster.brokers_known and state.leader not in cluster.live
    if state.leader is None or dead:
        why = f"Its leader, broker {state.leader}, is not registered." if dead else "Its state znode names no leader."
        since = None if dead else written  # no state is written when its leader dies
        return JudgedPartition(**known, coordinator=None, state=CoordinatorState.LEADERLESS, since=since, why=why, proof=znode)
    queue = queues.get(state.leader)
    said = queue.said.get(number) if queue and not queue.stopped else None
    if said is not None and said.step is not LoadStep.MOVED:
        return JudgedPartition(**known, coordinator=state.leader, **_of(said))
    return JudgedPartition(**known, coordinator=state.leader, **_unsaid(number, state.leader, queue, queues, written, znode))


def _of(said: Said) -> dict[str, object]:
    """Return the state according to the coordinator's own log."""
    words = {
        LoadStep.QUEUED: "It waits for the loads queued before it.",
        LoadStep.LOADING: "Its load has begun and not ended.",
        LoadStep.SERVED: "It was loaded.",
        LoadStep.FAILED: said.text,
        LoadStep.ENDED: "Its load has ended, as the thread has started another; the result is not in the log.",
    }
    return {"state": _STATE[said.step], "since": said.since, "why": words[said.step], "proof": proof(said.proof)}


def _unsaid(
    number: int, leader: int, queue: Queue | None, queues: Mapping[int, Queue], written: int | None, znode: Evidence
) -> dict[str, object]:
    """Return the state when the leader's log has nothing on the partition."""
    if queue is None or queue.ends is None:
        left = [q.said[number] for q in queues.values() if number in q.said and q.said[number].step is LoadStep.MOVED]
        if left:
            last = max(left, key=lambda said: said.since)
            why = f"Its former coordinator resigned; there is no log of broker {leader} alone."
            return {"state": CoordinatorState.MOVED, "since": last.since, "why": why, "proof": proof(last.proof)}
        return _unknown(f"There is no log of broker {leader} alone.", written, znode)
    if queue.stopped:
        return _unknown(f"The log of broker {leader} ends with its shutdown.", written, znode)
    if queue.born is None:
        return _unknown(f"The log of broker {leader} begins after its start and does not name the partition.", written, znode)
    if queue.loading is None:
        return _unknown(f"Broker {leader} has not named the partition since its start, and loads nothing.", written, znode)
    why = f"Broker {leader} loads partition {queue.loading.partition} first and has not started this one."
    return {"state": CoordinatorState.QUEUED, "since": queue.born, "why": why, "proof": znode}


def _unknown(why: str, since: int | None, proof: Evidence) -> dict[str, object]:
    return {"state": CoordinatorState.UNKNOWN, "since": since, "why": why, "proof": proof}


def _from_logs_alone(number: int, queues: Mapping[int, Queue], led: Led | None) -> JudgedPartition:
    """Without znodes, the broker that loaded it last is its coordinator."""
    words = [(q.said[number], q) for q in queues.values() if number in q.said and not q.stopped]
    if led is not None and not any(_is_of(led, said, queue) for said, queue in words):
        return _led(number, led, queues)
    if not words:
        return JudgedPartition(
            partition=number,
            coordinator=None,
            state=CoordinatorState.UNKNOWN,
            since=None,
            why="Its leader is not in the evidence.",
            proof=None,
        )
    held = [word for word in words if word[0].step is not LoadStep.MOVED]
    said, queue = max(held or words, key=lambda word: word[0].since)
    if said.step is LoadStep.MOVED:
        why = f"Broker {queue.broker} resigned; the next coordinator is not in the logs."
        return JudgedPartition(
            partition=number, coordinator=None, state=CoordinatorState.MOVED, since=said.since, why=why, proof=proof(said.proof)
        )
    return JudgedPartition(partition=number, coordinator=queue.broker, **_of(said))


def _is_of(led: Led, said: Said, queue: Queue) -> bool:
    """Return whether a broker's line on a partition is of the leader in another line, or later than that line."""
    return (queue.broker == led.leader and said.step is not LoadStep.MOVED) or said.since > led.time


def _led(number: int, led: Led, queues: Mapping[int, Queue]) -> JudgedPartition:
    """Return the state for a line with its leader: its coordinator at that time, and no more."""
    if led.leader is None:
        return JudgedPartition(
            partition=number, coordinator=None, state=CoordinatorState.UNKNOWN, since=led.time, why=led.why, proof=led.proof
        )
    left = _unsaid(number, led.leader, queues.get(led.leader), queues, led.time, led.proof)
    if left["state"] is not CoordinatorState.UNKNOWN:
        return JudgedPartition(partition=number, coordinator=led.leader, **left)
    return JudgedPartition(
        partition=number, coordinator=led.leader, **left | {"why": f"{led.why} {left['why']}", "proof": led.proof}
    )


def _with_endless(
    judged: JudgedPartition, version: KafkaVersion, settings: Settings, largest: Mapping[int, int]
) -> JudgedPartition:
    """Before 0.10.1 a load makes no progress at a batch larger than its buffer."""
    if judged.state is not CoordinatorState.LOADING or LOAD_TAKES_ANY_BATCH.at(version):
        return judged
    found = load_buffer(settings, judged.coordinator)
    batch, buffer = largest.get(judged.partition), found.number
    if batch is None or buffer is None or batch <= buffer or found.assumed:
        return judged
    why = f"Its largest batch has {count(batch)} bytes, the load buffer {count(buffer)}: the batch is read again and again."
    return replace(judged, state=CoordinatorState.LOADING_FOR_EVER, why=why)


def load_buffer(settings: Settings, broker: int | None) -> Setting:
    """Return the effective ``offsets.load.buffer.size``, bytes."""
    return settings.effective("offsets.load.buffer.size", topic="", broker=broker)


def largest_batches(segments: Iterable[Segment]) -> dict[int, int]:
    """Return the largest batch in bytes by partition, in any copy."""
    largest: dict[int, int] = {}
    for segment in segments:
        if segment.largest_batch is not None:
            largest[segment.partition] = max(segment.largest_batch, largest.get(segment.partition, 0))
    return largest


def _sized(judged: JudgedPartition, copies: Mapping[int, Work]) -> JudgedPartition:
    """Use the coordinator's own copy, which it loads; another's is a substitute."""
    own = copies.get(judged.coordinator)
    return replace(judged, work=own or max(copies.values(), key=lambda work: (work.bytes, -work.broker), default=None))
