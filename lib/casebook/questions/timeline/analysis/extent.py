"""Coverage of partition states: evidence of changes outside a source's interval contradicts it.

A history, or else the logs of controllers and leaders, covers only its own interval. Silence outside it proves nothing.
"""

from collections.abc import Iterator
from itertools import islice

from casebook.facts.cluster import Cluster, instant
from casebook.facts.stamp import Stamp
from casebook.findings import coverage
from casebook.findings.coverage import COLLECT_LOGS, OTHER_LOGS, Gaps
from casebook.findings.finding import Gap
from casebook.kafka.past import Past
from casebook.kafka.past_rows import EventRow
from casebook.questions.timeline.analysis.scene import SLACK, TimelineInputs

_CHANGES = (
    "partition_changed", "leader_elected", "leader_selected", "isr_shrunk", "isr_expanded", "isr_updated", "broker_change",
)  # fmt: skip
"""Lines printed only on a change of a partition's or a broker's znode."""


def untold(scene: TimelineInputs) -> Gaps:
    """Return why some partition states are unknown, the widest gap first."""
    gaps = coverage.state_changes(scene.files, scene.cluster, scene.past, scene.brokers)
    return (*gaps, *outside(scene))


def outside(scene: TimelineInputs) -> Gaps:
    """Return changes outside the time of a history, or of logs without one."""
    return tuple(_outside_history(scene) if scene.past.there else _outside_logs(scene))


def _elected_before(past: Past) -> Gaps:
    """Return that a history starts with a later state of a partition: earlier elections are unknown.

    Rule: a partition's first leader has epoch 0, and each election increments it (``PartitionStateMachine.scala@2.8.2``).
    """
    first = (rows[0] for rows in past.states.values() if rows and past.first is not None)
    led = (row for row in first if row.time < past.first and row.leader_epoch)
    why = "ZooKeeper's history begins at {}; a leader of {}-{} had been elected before, with epoch {}."
    return tuple(
        Gap(why=why.format(instant(past.first), row.topic, row.partition, row.leader_epoch), settle=OTHER_LOGS)
        for row in islice(led, 1)
    )


def _outside_history(scene: TimelineInputs) -> Iterator[Gap]:
    first, (last, _) = scene.past.first, scene.past.last
    rows = [row for row in scene.kinds(_CHANGES) if row.source == "broker"]
    seen = scene.kinds((*_CHANGES, "broker_registered"))
    if before := next((row for row in seen if row.source == "broker" and row.at < first - _doubt(scene, row)), None):
        why = f"ZooKeeper's history begins at {instant(first)}; {before.proof} shows an earlier change."
        yield Gap(why=why, settle=OTHER_LOGS)
    yield from _elected_before(scene.past)
    later = behind_its_end(scene.past, scene.cluster)
    yield from later
    if not later and (line := next((row for row in rows if row.at > last + _doubt(scene, row)), None)):
        why = f"ZooKeeper's history ends at {instant(last)}; {line.proof} shows a later change."
        yield Gap(why=why, settle=OTHER_LOGS)


def _outside_logs(scene: TimelineInputs) -> Iterator[Gap]:
    for clock in scene.clocks:
        if clock.broker is not None and any(step.skew is None for step in clock.steps):
            why = f"The clock of broker {clock.broker} was set: lines from {clock.steps[0].after} on cannot be ordered."
            yield Gap(why=why, settle=COLLECT_LOGS)
    if late := [broker for broker in sorted(scene.lives) if scene.begins_with_start(broker) is False]:
        why = f"The log of broker {late[0]} begins in the middle: earlier events are unknown."
        yield Gap(why=why, settle=COLLECT_LOGS)
    for broker in sorted(scene.lives.keys() & set(scene.cluster.live)):
        last = scene.of_broker(broker).rows[-1]
        if path := _written_after(scene, broker, last.at + _doubt(scene, last)):
            why = f"The log of broker {broker} ends at {instant(last.at)}; {path} was written later."
            yield Gap(why=why, settle=COLLECT_LOGS)


def _written_after(scene: TimelineInputs, broker: int, at: int) -> str | None:
    """Return a znode that a broker wrote as leader or controller, or that the controller read, later than a moment."""
    cluster = scene.cluster
    if cluster.controller is not None and cluster.controller.broker == broker:
        return next((path for path, stamp in _written(cluster) if (stamp.changed_at or 0) > at), None)
    own = (p for p in cluster.partitions if p.state is not None and p.state.leader == broker and p.state.stamp is not None)
    return next((cluster.proofs.state(p.topic, p.partition).label for p in own if (p.state.stamp.changed_at or 0) > at), None)


def behind_its_end(past: Past, cluster: Cluster) -> Gaps:
    """Return changes in znodes after the end of a history."""
    if past.last is None:
        return ()
    last, zxid = past.last
    later = (path for path, stamp in _written(cluster) if (stamp.changed_in or 0) > zxid)
    why = "ZooKeeper's history ends at {}; {} shows a later change."
    return tuple(Gap(why=why.format(instant(last), path), settle=OTHER_LOGS) for path in islice(later, 1))


def _written(cluster: Cluster) -> Iterator[tuple[str, Stamp]]:
    """Yield walked states and registrations."""
    for partition in cluster.partitions:
        if partition.state is not None and partition.state.stamp is not None:
            yield cluster.proofs.state(partition.topic, partition.partition).label, partition.state.stamp
    for broker in cluster.brokers.values():
        if broker.stamp is not None:
            yield cluster.proofs.broker(broker.id).label, broker.stamp


def _doubt(scene: TimelineInputs, row: EventRow) -> int:
    """Return the milliseconds by which a line may be apart from its event, including its clock's error."""
    return SLACK + (scene.uncertainty(row.broker) or 0)
