"""Brokers that are down at the end of the evidence, and the number of leaderless partitions that wait for each."""

from collections import Counter
from collections.abc import Iterable

from casebook.kafka.past_rows import Window, WindowKind
from casebook.questions.timeline.analysis.scene import TimelineInputs


def is_down(scene: TimelineInputs, broker: int) -> bool | None:
    """Return whether a broker is unregistered at the end of the evidence; ``None`` when unknown.

    Rule: the last walked znodes decide; else a history without gaps. A log is valid until it was written, not later.
    """
    if broker in scene.cluster.live:
        return False
    if scene.cluster.partitions:
        return True if scene.cluster.brokers_known else None
    if not scene.past.there or scene.past.breaks or scene.span is None:
        return None
    return scene.is_registered(broker, scene.span[1]) is False


def held(scene: TimelineInputs, windows: Iterable[Window]) -> Counter[int]:
    """Return the number of leaderless partitions that wait for each dead broker.

    Rule: it was the last leader, or in sync; with an emptied ISR the in-sync replicas are unknown, so any replica counts.
    """
    found: Counter[int] = Counter()
    replicas = {(partition.topic, partition.partition): partition.replicas for partition in scene.cluster.partitions}
    for window in windows:
        if window.kind is WindowKind.LEADERLESS and window.closed is None:
            key = window.topic, window.partition
            last = scene.states[key][-1]
            found.update({last.leader, *(replicas.get(key, ()) if last.isr == () else last.isr or ())} - {None})
    return Counter({broker: partitions for broker, partitions in found.items() if is_down(scene, broker)})
