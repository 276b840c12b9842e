"""Consumers' own logs: position resets, which skip or repeat records, and assignments."""

import re
from collections.abc import Iterable, Iterator

from casebook.kafka.past_rows import EventRow
from casebook.questions.loss.analysis.unprocessed_rows import AssignmentLine, ConsumerLogs, Reset

_RESET, _REBALANCING = "consumer_reset", "consumer_rebalancing"
_PARTITION = re.compile(r"([\w.-]+)-(\d+)(?=[\s,\]]|$)", re.ASCII)


def told(rows: Iterable[EventRow]) -> ConsumerLogs:
    """Return all of it, in order of time.

    Args:
        rows: Timeline events.
    """
    own = [row for row in rows if row.kind in (_RESET, _REBALANCING)]
    return ConsumerLogs(tuple(_resets(own)), tuple(one for row in own for one in _assigned(row)))


def _resets(rows: Iterable[EventRow]) -> Iterator[Reset]:
    """Yield resets; for one announced and done, the completed one."""
    named = [row for row in rows if row.kind == _RESET and row.topic is not None and row.partition is not None]
    found = [Reset(_client(row), row.topic, row.partition, _to(row), row.at, row.proof) for row in named]
    done = {(one.client, one.topic, one.partition) for one in found if one.to is not None}
    return (one for one in found if one.to is not None or (one.client, one.topic, one.partition) not in done)


def _assigned(row: EventRow) -> Iterator[AssignmentLine]:
    """Rule: ``Setting newly assigned partitions`` up to 2.3, ``Adding ...`` since (``ConsumerCoordinator.java@2.0.1, 2.8.2``)."""
    if row.kind == _REBALANCING and "newly assigned" in row.text:
        for topic, partition in _PARTITION.findall(row.fields.get("partitions", "")):
            yield AssignmentLine(_client(row), topic, int(partition), row.at, row.proof)


def _to(row: EventRow) -> int | None:
    """Return the new position; for an out-of-range line, that offset instead."""
    return None if "out of range" in row.text else row.number("offset")


def _client(row: EventRow) -> str:
    """Return the client, by the path in the case."""
    parts = row.proof.split("/")
    return parts[1] if parts[0] == "clients" and len(parts) > 2 else ""
