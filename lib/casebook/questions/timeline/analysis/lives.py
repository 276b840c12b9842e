"""Who was there when: the processes of each broker as its own lines tell them, and the sessions of brokers with ZooKeeper."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from casebook.facts.events import LogFile
from casebook.kafka.past import Past
from casebook.kafka.past_rows import Clock, EventRow, Span

PREAMBLE = ("version_line", "settings_printed", "gc_pause")
"""What a process may print before it says that it starts: release and settings; and pauses, which have a log of their own."""
START = 10_000
"""Milliseconds in which it does."""
_ENDS = ("broker_stopping", "broker_stopped", "truncation_refused", "startup_failed")


def lives(rows: Iterable[EventRow], files: Iterable[LogFile], clocks: Iterable[Clock]) -> Mapping[int, Sequence[Span]]:
    """Processes of each broker with logs: from a first line to the last before another process begins.

    Only lines of a meaning that is known tell of it, but a log's last line whatever it says.
    """
    by_broker: dict[int, list[EventRow]] = defaultdict(list)
    for row in _own(rows):
        by_broker[row.broker].append(row)
    found = {broker: [_process(own) for own in _apart(printed)] for broker, printed in by_broker.items()}
    skews = {clock.broker: clock.skew or 0 for clock in clocks if not clock.steps}
    was_set = {clock.broker for clock in clocks if clock.steps}
    for file in files:
        spans = found.get(file.broker) if file.broker not in was_set else None
        if spans and file.last is not None and (last := file.last - skews.get(file.broker, 0)) > spans[-1].closed:
            spans[-1] = spans[-1]._replace(closed=last, closed_proof=f"{file.file}:{file.lines}")
    return found


def _own(rows: Iterable[EventRow]) -> Iterator[EventRow]:
    return (row for row in rows if row.source == "broker" and row.broker is not None and row.at is not None)


def _apart(printed: Sequence[EventRow]) -> Iterator[Sequence[EventRow]]:
    """A broker's lines by the process that printed them."""
    begin, last = 0, None  # the place of the last line that is no preamble
    for place, row in enumerate(printed):
        if row.kind == "broker_starting":
            after = begin if last is None else last + 1
            start = next(at for at in range(after, place + 1) if printed[at].at >= row.at - START)
            if start > begin:
                yield printed[begin:start]
            begin = start
        if row.kind not in PREAMBLE:
            last = place
    yield printed[begin:]


def _process(printed: Sequence[EventRow]) -> Span:
    """The life of a process; its name is the last word on how it ends, ``""`` when it says none."""
    ends = [row.kind for row in printed if row.kind in (*_ENDS, "broker_started")]
    first, last = printed[0], printed[-1]
    name = ends[-1] if ends and ends[-1] in _ENDS else ""
    return Span("process", name, first.broker, first.at, last.at, first.proof, last.proof)


def sessions(past: Past, rows: Iterable[EventRow]) -> Iterator[Span]:
    """Sessions of brokers, with the moment since which ZooKeeper was silent to them."""
    silent = {}
    for row in rows:
        if row.kind == "zk_silent" and row.at is not None and row.milliseconds is not None:
            silent[row.fields.get("session", "").removeprefix("0x").lower()] = row.at - row.milliseconds
    for name, span in past.sessions.items():
        if span.broker is not None:
            yield span._replace(silent=silent.get(name.removeprefix("0x")))
