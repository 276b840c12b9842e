"""Clusters that follow one another in the same logs: their ZooKeeper was made anew, and with it all that znodes tell.

A broker prints the id of its cluster at each start (``KafkaServer.scala@0.10.1.1..3.9.0``). Partitions, epochs and registrations
under another id are other ones, though they bear the same names.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from casebook.analysis.timeline_rows import Row
from casebook.events import Event

_START = 60_000
"""Milliseconds in which a start is over, or has failed."""


class Start(NamedTuple):
    """A process that serves a cluster.

    Args:
        since: When it started.
        cluster: The id that it printed.
        proof: The line that it printed it in.
    """

    since: int
    cluster: str
    proof: str


def starts(told: Iterable[tuple[int | None, Event | Row]]) -> dict[str, list[Start]]:
    """The processes that say which cluster they serve, in order; without those that refused to serve it.

    The line names no broker, so those of logs that were given together are told together.

    Args:
        told: Lines of brokers, each with its time.
    """
    found: dict[str, list[Start]] = defaultdict(list)
    begun: dict[str, int] = {}
    for at, line in sorted((pair for pair in told if pair[0] is not None), key=lambda pair: pair[0]):
        place = _given_as(line)
        own = found[place]
        if line.kind == "broker_starting":
            begun[place] = at
        elif line.kind == "cluster_id":
            own.append(Start(begun.get(place, at), line.fields["cluster"], line.proof))
        elif line.kind == "startup_failed" and own and line.fields.get("cluster") == own[-1].cluster:
            own.pop()  # it was led to a ZooKeeper of strangers
    return found


def _given_as(line: Event | Row) -> str:
    """The folder of what was given as one broker's logs."""
    return line.file.rpartition("/")[0]


class Clusters:
    """Of which cluster each line of a broker is."""

    def __init__(self, events: Iterable[Event], current: str | None) -> None:
        """Take in what brokers print.

        Args:
            current: The id in ``/cluster/id``; ``None`` where it is not known: that of the last start.
        """
        self._starts = starts((event.time, event) for event in events if event.source == "broker")
        latest = max((own[-1] for own in self._starts.values() if own), default=None)
        self._current = current if current is not None or latest is None else latest.cluster
        self._since = {place: [one.since for one in own] for place, own in self._starts.items()}

    def is_current(self, event: Event) -> bool:
        """Whether a line is of the cluster that the znodes are of, as far as is known."""
        given = _given_as(event)
        own = self._starts.get(given)
        if not own or event.time is None:
            return True
        place = bisect_right(self._since[given], event.time) - 1
        return own[max(place, 0)].cluster == self._current


class Renewal(NamedTuple):
    """A cluster that replaced another: when it began nobody knows, but between two starts.

    Args:
        earliest: Until then all was of the one before: the last process that served it had started.
        start: The first process that served it.
    """

    earliest: int
    start: Start


def former_until(rows: Sequence[Row]) -> int | None:
    """Up to when all that logs tell is surely of clusters that another has replaced; ``None`` where there is one cluster."""
    renewed = renewals(rows)
    return renewed[-1].earliest if renewed else None


def renewals(rows: Sequence[Row]) -> list[Renewal]:
    """Where each cluster but the first began, in order; none where two are there at once."""
    found = starts((row.at, row) for row in rows if row.source == "broker")
    ordered = sorted(one for own in found.values() for one in own)
    ids = [one.cluster for one in ordered]
    return [
        Renewal(min(earlier.since + _START, later.since), later)
        for place, (earlier, later) in enumerate(pairwise(ordered), start=1)
        if earlier.cluster != later.cluster and set(ids[:place]).isdisjoint(ids[place:])
    ]
