"""Absences of a broker's znode: minimum, and maximum when transactions are missing."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from casebook.kafka.past import Break, Past
from casebook.kafka.past_rows import Span


class Absence(NamedTuple):
    """A period in which a broker was not registered.

    Args:
        since: Certainly absent from here on; ``None``: before the evidence begins.
        back: Present again by then; ``None``: not before the evidence ends.
        proof: Proof of the deletion.
        back_proof: Proof of the return.
        since_earliest: Earliest deletion; ``None`` when ``since`` is exact.
        back_earliest: Earliest return; ``None`` when ``back`` is exact.
    """

    since: int | None
    back: int | None
    proof: str
    back_proof: str
    since_earliest: int | None = None
    back_earliest: int | None = None


class Absences:
    """Absences of a broker, in order."""

    def __init__(self, found: Sequence[Absence]) -> None:
        self._found = found
        self._ends = [one.back for one in found if one.back is not None]

    def within(self, since: int, until: int | None) -> Iterator[Absence]:
        """Yield absences that overlap a period."""
        for one in self._found[bisect_left(self._ends, since) :]:
            begin = one.since if one.since_earliest is None else one.since_earliest
            if until is not None and begin is not None and begin >= until:
                break
            yield one


def absences(past: Past, spans: Sequence[Span], *, whole: bool, end: str) -> Absences:
    """Return the gaps between a broker's registrations.

    Args:
        past: Periods without information.
        spans: Registrations, in order.
        whole: Outside of these it was not registered: they are from ZooKeeper's own files.
        end: Proof of the end of the evidence.
    """
    found = _between(spans, whole, end)
    return Absences([_bounded(one, (*past.breaks, *_behind(past, one)) if whole else ()) for one in found])


def _behind(past: Past, one: Absence) -> Iterator[Break]:
    """Yield the time after the last transaction, when a log shows a broker's return in it."""
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
    """Bound an absence across periods without information: there was one in any case.

    The last one when the broker is absent at the end, else the first one.
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
