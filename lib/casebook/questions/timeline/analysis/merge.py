"""Merge logs and history into ordered rows."""

from collections.abc import Iterable, Iterator

from casebook.facts.events import Event, owner_of
from casebook.kafka.past import Past
from casebook.kafka.past_rows import Clock, EventRow


def merged(past: Past, clocks: Iterable[Clock], events: Iterable[Event]) -> tuple[EventRow, ...]:
    """Return all rows by the reference clock; undated ones last, a transaction before lines of the same millisecond."""
    by_owner = {clock.owner: clock for clock in clocks}
    known: dict[tuple[int | None, str], Clock | None] = {}
    rows = list(past.rows)
    for event in _once_each(events):
        whose = event.broker, event.file
        if whose not in known:
            known[whose] = by_owner.get(owner_of(*whose))
        rows.append(row_of(event, _ahead(known[whose], event)))
    return tuple(sorted(rows, key=in_order))


def _once_each(events: Iterable[Event]) -> Iterator[Event]:
    """Yield events without lines of an unknown broker that a log of a known one also has.

    The output of a process and its ``server.log`` have the same lines.
    """
    events = list(events)
    strange = [event for event in events if event.broker is None and event.source == "broker"]
    known = {_line(event) for event in events if event.broker is not None} if strange else set()
    return (event for event in events if event.broker is not None or event.source != "broker" or _line(event) not in known)


def _line(event: Event) -> tuple[int | None, str, str]:
    return event.time, event.kind, event.text


def _ahead(clock: Clock | None, event: Event) -> int | None:
    """Return the skew of a line's clock; ``None`` after a step of unknown size: such a line cannot be ordered.

    A clock without comparison is used as printed.
    """
    if clock is None or not clock.steps:
        return 0 if clock is None or clock.skew is None else clock.skew
    ahead = clock.ahead(event.file, event.line)
    return 0 if ahead is None and not clock.is_behind_a_step(event.file, event.line) else ahead


def row_of(event: Event, skew: int | None) -> EventRow:
    """Return the row of an event in a log with this skew in milliseconds; ``None``: it cannot be ordered.

    Lines that only a ZooKeeper server prints belong to it, even in a broker's ``server.log``: Kafka's scripts start both with the
    same log4j.properties.
    """
    at = None if event.time is None or skew is None else event.time - skew
    source, broker = ("zookeeper", None) if event.kind.startswith("zks_") else (event.source, event.broker)
    return EventRow(
        event.time, at, source, broker, event.file, event.line, event.kind, event.topic, event.partition,
        event.group, event.fields, event.text, event.level,
    )  # fmt: skip


def in_order(row: EventRow) -> tuple:
    """Sort key of rows."""
    return (row.at is None, row.at or 0, row.line is not None, row.zxid or 0, row.file, row.line or 0)
