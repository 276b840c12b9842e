"""Successive clusters in the same logs: their ZooKeeper was recreated, with all znodes.

A broker prints its cluster id at each start (``KafkaServer.scala@0.10.1.1..3.9.0``). Partitions, epochs and registrations under
another id are unrelated, even with the same names.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from casebook.facts.events import Event
from casebook.kafka.past_rows import EventRow

_START = 60_000
"""Milliseconds in which a start completes, or fails."""
_ELECTED = ("controller_elected", "controller_epoch")
"""Lines with a broker's controller epoch."""


class Start(NamedTuple):
    """A process in service of a cluster.

    Args:
        since: Start time.
        cluster: Printed cluster id.
        proof: Line with that id.
    """

    since: int
    cluster: str
    proof: str


def starts(told: Iterable[tuple[int | None, Event | EventRow]]) -> dict[str, list[Start]]:
    """Return the processes with a printed cluster id, in order; without those that refused to serve it.

    The line names no broker, so logs given together are combined.

    Args:
        told: Lines of brokers with their times.
    """
    found: dict[str, list[Start]] = defaultdict(list)
    begun: dict[str, int] = {}
    for at, line in sorted((pair for pair in told if pair[0] is not None), key=lambda pair: pair[0]):
        place = _given_as(line)
        own = found[place]
        if line.kind == "broker_starting":
            begun[place] = at
        elif line.kind == "cluster_id" and "client_id" not in line.fields:  # a reporter within the broker may serve another
            own.append(Start(begun.get(place, at), line.fields["cluster"], line.proof))
        elif line.kind == "startup_failed" and own and line.fields.get("cluster") == own[-1].cluster:
            own.pop()  # it was connected to a wrong ZooKeeper
    return found


def _given_as(line: Event | EventRow) -> str:
    """Return the folder of logs given for one broker."""
    return line.file.rpartition("/")[0]


class Clusters:
    """Cluster of each broker line."""

    def __init__(self, events: Iterable[Event], current: str | None) -> None:
        """Process brokers' lines.

        Args:
            current: Id in ``/cluster/id``; ``None`` when unknown: that of the last start.
        """
        self._starts = starts((event.time, event) for event in events if event.source == "broker")
        latest = max((own[-1] for own in self._starts.values() if own), default=None)
        self._current = current if current is not None or latest is None else latest.cluster
        self._since = {place: [one.since for one in own] for place, own in self._starts.items()}

    def is_current(self, event: Event) -> bool:
        """Return whether a line belongs to the cluster of the znodes, as far as known."""
        given = _given_as(event)
        own = self._starts.get(given)
        if not own or event.time is None:
            return True
        place = bisect_right(self._since[given], event.time) - 1
        return own[max(place, 0)].cluster == self._current


class Renewal(NamedTuple):
    """A replacement of a cluster, between two moments.

    Args:
        earliest: Last sign of the previous cluster: a start of a process in its service, or its controller's election.
        since: First sign of the new cluster.
        cluster: Its id; ``""`` without a start.
        proof: First proof.
    """

    earliest: int
    since: int
    cluster: str
    proof: str


def renewals(rows: Sequence[EventRow]) -> list[Renewal]:
    """Return the start of each cluster after the first, in order; none between simultaneous ones.

    Rule: another id, or a lower controller epoch: only a recreated ZooKeeper starts again
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
    """Return elections of a broker in a lower epoch than before, by its own lines: one clock, in order."""
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
    """Return whether a line is above another with an earlier time: its clock was set."""
    return row.file == other.file and (row.line or 0) < (other.line or 0)
