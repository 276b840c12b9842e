"""Processes of each broker by its own lines, and sessions of brokers with ZooKeeper."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from casebook.facts.events import LogFile
from casebook.kafka.past import Past
from casebook.kafka.past_rows import Clock, EventRow, Span

PREAMBLE = ("version_line", "settings_printed", "gc_pause")
"""Lines that a process may print before its start line: release and settings; and pauses, in their own log."""
START = 10_000
"""Maximum milliseconds for these."""
_ENDS = ("broker_stopping", "broker_stopped", "truncation_refused", "startup_failed")


def lives(rows: Iterable[EventRow], files: Iterable[LogFile], clocks: Iterable[Clock]) -> Mapping[int, Sequence[Span]]:
    """Return processes of each broker with logs: from a first line to the last before another process starts.

    Only lines of a known kind count, except a log's last line.
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
    """Split a broker's lines by process."""
    begin, last = 0, None  # index of the last line that is no preamble
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
    """Return a process; its name is the last line on its end, ``""`` without one."""
    ends = [row.kind for row in printed if row.kind in (*_ENDS, "broker_started")]
    first, last = printed[0], printed[-1]
    name = ends[-1] if ends and ends[-1] in _ENDS else ""
    return Span("process", name, first.broker, first.at, last.at, first.proof, last.proof)


def sessions(past: Past, rows: Iterable[EventRow]) -> Iterator[Span]:
    """Yield sessions of brokers, with the start of ZooKeeper's silence."""
    silent = {}
    for row in rows:
        if row.kind == "zk_silent" and row.at is not None and row.milliseconds is not None:
            silent[row.fields.get("session", "").removeprefix("0x").lower()] = row.at - row.milliseconds
    for name, span in past.sessions.items():
        if span.broker is not None:
            yield span._replace(silent=silent.get(name.removeprefix("0x")))
