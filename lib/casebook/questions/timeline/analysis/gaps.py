"""Silences of a surviving process: it may have been paused, unless its log is often silent.

Only lines of a known kind count.
"""

from casebook.kafka.past_rows import EventRow
from casebook.questions.timeline.analysis.scene import TimelineInputs

OFTEN = 3
"""A log with so many equal silences proves nothing by another one."""


def gap_at(scene: TimelineInputs, broker: int, at: int, least: int) -> tuple[EventRow, EventRow] | None:
    """Return a broker's two own lines around a moment, from one process and at least so many milliseconds apart."""
    own, life = scene.of_broker(broker), scene.life(broker, at)
    before, after = own.before(at), own.after(at)
    if life is None or before is None or after is None or not life.opened <= before.at <= after.at <= life.closed:
        return None
    return (before, after) if after.at - before.at >= least else None


def other_gaps(scene: TimelineInputs, broker: int, gap: tuple[EventRow, EventRow]) -> int:
    """Return the number of other equally long silences in its log."""
    before, after = gap
    return scene.of_broker(broker).pauses(after.at - before.at) - 1
