"""When a broker's znode was not there: for how long at least, and for how long at most where transactions are missing."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from casebook.kafka.past import Break, Past
from casebook.kafka.past_rows import Span


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
    found = _between(spans, whole, end)
    return Absences([_bounded(one, (*past.breaks, *_behind(past, one)) if whole else ()) for one in found])


def _behind(past: Past, one: Absence) -> Iterator[Break]:
    """The time behind the last transaction, where a log tells of a broker that came back in it."""
    if past.last is not None and one.back is not None and one.back > past.last[0]:
        yield Break(past.last[0], one.back)


def _between(spans: Sequence[Span], whole: bool, end: str) -> Iterator[Absence]:
    since, earliest, proof, gone = None, None, "", whole
    for span in spans:
        if gone and span.opened is not None and (since != span.opened or earliest is not None):
            yield Absence(since, span.opened, proof, span.opened_proof, earliest, span.opened_earliest)
        since, earliest, proof = span.closed, span.closed_earliest, span.closed_proof
        gone = since is not None
    if gone:
        yield Absence(since, None, proof, end, earliest)


def _bounded(one: Absence, breaks: Sequence[Break]) -> Absence:
    """An absence through time of which nobody knows whether the broker was back: bounds of one that there was in any case.

    It is the last one where the broker is not back at the end, else the first one.
    """
    unseen = [
        gap
        for gap in breaks
        if not gap.registered and (one.since is None or gap.until > one.since) and (one.back is None or gap.since < one.back)
    ]
    if not unseen:
        return one
    if one.back is not None:
        return one._replace(back_earliest=unseen[0].since)
    earliest = one.since if one.since_earliest is None else one.since_earliest
    return one._replace(since=unseen[-1].until, since_earliest=earliest or 0)
