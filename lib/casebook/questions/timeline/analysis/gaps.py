"""Times in which a process that lived on printed nothing: it may have stood still, where its log is not often so silent.

Only lines of a meaning that is known tell of it.
"""

from casebook.kafka.past_rows import EventRow
from casebook.questions.timeline.analysis.scene import TimelineInputs

OFTEN = 3
"""A log that was silent so long so often says nothing by being silent once more."""


def gap_at(scene: TimelineInputs, broker: int, at: int, least: int) -> tuple[EventRow, EventRow] | None:
    """The two lines of a broker's own around a moment, when one process printed both, at least so many milliseconds apart."""
    own, life = scene.of_broker(broker), scene.life(broker, at)
    before, after = own.before(at), own.after(at)
    if life is None or before is None or after is None or not life.opened <= before.at <= after.at <= life.closed:
        return None
    return (before, after) if after.at - before.at >= least else None


def other_gaps(scene: TimelineInputs, broker: int, gap: tuple[EventRow, EventRow]) -> int:
    """How often else its log was silent as long."""
    before, after = gap
    return scene.of_broker(broker).pauses(after.at - before.at) - 1
