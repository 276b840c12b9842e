"""Clusters that follow one another in the same logs: their ZooKeeper was made anew, and with it all that znodes tell.

A broker prints the id of its cluster at each start (``KafkaServer.scala@0.10.1.1..3.9.0``). Partitions, epochs and registrations
under another id are other ones, though they bear the same names.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from casebook.facts.events import Event
from casebook.kafka.past_rows import EventRow

_START = 60_000
"""Milliseconds in which a start is over, or has failed."""
_ELECTED = ("controller_elected", "controller_epoch")
"""Lines with the epoch in which a broker is controller, or was found to be."""


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


def starts(told: Iterable[tuple[int | None, Event | EventRow]]) -> dict[str, list[Start]]:
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


def _given_as(line: Event | EventRow) -> str:
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
    """A cluster that replaced another: when it began nobody knows, but between two moments.

    Args:
        earliest: Until then all was of the one before: a process had started that served it, or its controller was elected.
        since: From then on all is of this one.
        cluster: Its id; ``""`` where no start tells it.
        proof: What tells of it first.
    """

    earliest: int
    since: int
    cluster: str
    proof: str


def renewals(rows: Sequence[EventRow]) -> list[Renewal]:
    """Where each cluster but the first began, in order; none between two that are there at once.

    Rule: another id, or a controller epoch that falls: only a ZooKeeper that is made anew counts from the beginning
    (``KafkaController.scala@0.9.0.1..3.9.0``).
    """
    found = starts((row.at, row) for row in rows if row.source == "broker")
    ordered = sorted(one for own in found.values() for one in own)
    ids = [one.cluster for one in ordered]
    renewed, falls = [], _falls(rows)
    for place, (earlier, later) in enumerate(pairwise(ordered), start=1):
        within = [fall for fall in falls if earlier.since < fall.since <= later.since]
        falls = [fall for fall in falls if fall not in within]
        if earlier.cluster != later.cluster and set(ids[:place]).isdisjoint(ids[place:]):
            own = [*within[:-1], within[-1]._replace(cluster=later.cluster)] if within else []
            renewed += own or [Renewal(min(earlier.since + _START, later.since), later.since, later.cluster, later.proof)]
    return sorted((*renewed, *falls), key=lambda one: one.since)


def _falls(rows: Iterable[EventRow]) -> list[Renewal]:
    """Where a broker was elected controller in a lower epoch than before, by its own lines: one clock, and their order."""
    found: list[Renewal] = []
    last: dict[int, EventRow] = {}
    for row in rows:
        epoch = row.number("epoch") if row.kind in _ELECTED and row.source == "broker" and row.at is not None else None
        if epoch is None or row.broker is None:
            continue
        before = last.get(row.broker)
        if before is not None and epoch < before.number("epoch") and not _stands_before(row, before):
            found.append(Renewal(before.at, row.at, "", row.proof))
        last[row.broker] = row
    return found


def _stands_before(row: EventRow, other: EventRow) -> bool:
    """Whether a line stands above another that seems to be earlier: its clock was set."""
    return row.file == other.file and (row.line or 0) < (other.line or 0)
