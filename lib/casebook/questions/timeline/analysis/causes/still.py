"""Who is down to the end of the evidence, and how many of the partitions that have no leader wait for whom."""

from collections import Counter
from collections.abc import Iterable

from casebook.kafka.past_rows import Window, WindowKind
from casebook.questions.timeline.analysis.scene import TimelineInputs


def is_down(scene: TimelineInputs, broker: int) -> bool | None:
    """Whether a broker is not registered at the end of the evidence; ``None`` when nothing tells.

    Rule: the znodes decide, as they were walked last; else the history, where none of it is missing. A log tells what was seen
    while it was written, and not what came later.
    """
    if broker in scene.cluster.live:
        return False
    if scene.cluster.partitions:
        return True if scene.cluster.brokers_known else None
    if not scene.past.there or scene.past.breaks or scene.span is None:
        return None
    return scene.is_registered(broker, scene.span[1]) is False


def held(scene: TimelineInputs, windows: Iterable[Window]) -> Counter[int]:
    """How many partitions without leader each broker that is down holds.

    Rule: it was the last to lead them, or in sync; where the ISR was emptied nobody knows who was, so it is any replica.
    """
    found: Counter[int] = Counter()
    replicas = {(partition.topic, partition.partition): partition.replicas for partition in scene.cluster.partitions}
    for window in windows:
        if window.kind is WindowKind.LEADERLESS and window.closed is None:
            key = window.topic, window.partition
            last = scene.states[key][-1]
            found.update({last.leader, *(replicas.get(key, ()) if last.isr == () else last.isr or ())} - {None})
    return Counter({broker: partitions for broker, partitions in found.items() if is_down(scene, broker)})
