"""Windows in which a coordinator loaded an offsets partition, by its log."""

from collections.abc import Iterator

from casebook.facts.disks import OFFSETS_TOPIC
from casebook.kafka.past_rows import EventRow, Window, WindowKind
from casebook.questions.timeline.analysis.scene import TimelineInputs
from casebook.questions.timeline.analysis.states import ENDED

_LOAD = ("load_scheduled", "loading")
_LOADED = {"loaded": "It was loaded.", "load_failed": "Its load failed.", "unloaded": "The leadership moved away."}


def loading(scene: TimelineInputs) -> Iterator[Window]:
    """Rule: from the line that starts a load, or queues it, to the one that ends it."""
    open_: dict[tuple[int | None, int], EventRow] = {}
    for row in scene.kinds((*_LOAD, *_LOADED, *ENDED)):
        if row.kind in ENDED:
            for place in [place for place in open_ if place[0] == row.broker]:
                yield _load(
                    open_.pop(place),
                    row,
                    "The broker stopped." if row.kind == "broker_stopped" else "The broker was started again.",
                )
        elif row.topic == OFFSETS_TOPIC and row.partition is not None:
            place = row.broker, row.partition
            if row.kind in _LOAD:
                open_.setdefault(place, row)
            elif (begun := open_.pop(place, None)) is not None:
                yield _load(begun, row, _LOADED[row.kind])
            elif row.kind == "loaded":
                yield _begun_before(row)
    for begun in open_.values():
        yield _load(begun, None, "Its log does not record the end.")


def _load(begun: EventRow, ended: EventRow | None, why: str) -> Window:
    words = "It was queued to be loaded." if begun.kind == "load_scheduled" else "Its load began."
    return Window(
        WindowKind.LOADING,
        begun.topic,
        begun.partition,
        begun.at,
        ended and ended.at,
        None,
        begun.broker,
        begun.proof,
        begun.proof if ended is None else ended.proof,
        words,
        why,
    )


def _begun_before(row: EventRow) -> Window:
    took = row.milliseconds
    opened = None if took is None else row.at - took
    return Window(
        WindowKind.LOADING,
        row.topic,
        row.partition,
        opened,
        row.at,
        None,
        row.broker,
        row.proof,
        row.proof,
        "Its end line has the duration." if took is not None else "Its start is unknown.",
        _LOADED["loaded"],
    )
