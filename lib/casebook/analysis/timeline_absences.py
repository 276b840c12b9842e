"""When a broker's znode was not there: for how long at least, and for how long at most where transactions are missing."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from casebook.analysis.timeline_history import Break, Past
from casebook.analysis.timeline_rows import Span


class Absence(NamedTuple):
    """Time in which a broker was not registered.

    Args:
        since: From here on it is known not to have been; ``None``: before the evidence begins.
        back: It was there again by then; ``None``: not before the evidence ends.
        proof: Where it is told that the znode went.
        back_proof: Where it is told that it came.
        since_earliest: It may have been gone since then; ``None`` where ``since`` is when it went.
        back_earliest: It may have been there since then; ``None`` where ``back`` is when it came.
    """

    since: int | None
    back: int | None
    proof: str
    back_proof: str
    since_earliest: int | None = None
    back_earliest: int | None = None


class Absences:
    """Those of a broker, in order."""

    def __init__(self, found: Sequence[Absence]) -> None:
        self._found = found
        self._ends = [one.back for one in found if one.back is not None]

    def within(self, since: int, until: int | None) -> Iterator[Absence]:
        """Those that reach into a stretch of time."""
        for one in self._found[bisect_left(self._ends, since) :]:
            begin = one.since if one.since_earliest is None else one.since_earliest
            if until is not None and begin is not None and begin >= until:
                break
            yield one


def absences(past: Past, spans: Sequence[Span], *, whole: bool, end: str) -> Absences:
    """What a broker's registrations leave.

    Args:
        past: Tells of what time nothing is known.
        spans: Its registrations, in order.
        whole: Who is in no registration was not registered: they are those of ZooKeeper's own files.
        end: Where the end of the evidence is told.
    """
    return Absences([part for one in _between(spans, whole, end) for part in _apart(one, past.breaks if whole else ())])


def _between(spans: Sequence[Span], whole: bool, end: str) -> Iterator[Absence]:
    since, earliest, proof, gone = None, None, "", whole
    for span in spans:
        if gone and span.opened is not None and (since != span.opened or earliest is not None):
            yield Absence(since, span.opened, proof, span.opened_proof, earliest)
        since, earliest, proof = span.closed, span.closed_earliest, span.closed_proof
        gone = since is not None
    if gone:
        yield Absence(since, None, proof, end, earliest)


def _apart(one: Absence, breaks: Sequence[Break]) -> Iterator[Absence]:
    """An absence, cut where nobody knows whether the broker was back meanwhile."""
    for gap in breaks:
        known = one.since is None or one.since <= gap.since
        if gap.registered or not known or (one.back is not None and one.back <= gap.since):
            continue
        if one.back is not None and one.back <= gap.until:
            one = one._replace(back_earliest=gap.since)
            continue
        yield one._replace(back=gap.until, back_proof="", back_earliest=gap.since)
        one = one._replace(since=gap.until, since_earliest=gap.since)
    yield one
