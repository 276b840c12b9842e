"""Where clients' own logs say that they went on from: a reset skips records, or reads them again."""

from collections.abc import Iterable

from casebook.analysis.timeline_rows import Row
from casebook.analysis.unprocessed_rows import Reset

_KIND = "consumer_reset"


def resets(rows: Iterable[Row]) -> tuple[Reset, ...]:
    """Resets that the logs tell, in the order of time; of one that was announced and done, what was done.

    Args:
        rows: Of the timeline.
    """
    told = [row for row in rows if row.kind == _KIND and row.topic is not None and row.partition is not None]
    found = [Reset(_client(row), row.topic, row.partition, _to(row), row.at, row.proof) for row in told]
    done = {(one.client, one.topic, one.partition) for one in found if one.to is not None}
    return tuple(one for one in found if one.to is not None or (one.client, one.topic, one.partition) not in done)


def _to(row: Row) -> int | None:
    """Where it goes on; a line that says that an offset is out of range tells that one instead."""
    return None if "out of range" in row.text else row.number("offset")


def _client(row: Row) -> str:
    """Whose log it is, by where it lies in the case."""
    parts = row.proof.split("/")
    return parts[1] if parts[0] == "clients" and len(parts) > 2 else ""
