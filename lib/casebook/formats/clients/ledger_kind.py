"""Whether a ledger lists produced or processed records: by its columns and words, never by its name."""

import csv
import json
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from casebook.formats.clients.ledger_columns import usual

_HEAD = 100
"""Number of lines to examine."""
_SEPARATORS = ",;\t|"
WORDS = frozenset(("processed", "consumed", "handled"))
"""Outcomes that a consumer writes, in lower case."""
_OF_PRODUCERS = ("acks", "producer", "acked")


class LedgerKind(NamedTuple):
    """Kind of a ledger.

    Args:
        processed: It lists processed records.
        columns: Columns of its first lines, in order.
    """

    processed: bool
    columns: tuple[str, ...]


def kind(lines: Iterable[str]) -> LedgerKind:
    """Return the kind of a ledger from its first lines.

    Records were processed when a column is one that only consumers write, without ``acks``; when one names a group, without a
    producer column; or when every outcome is a consumer's word.

    Args:
        lines: Lines from its start.
    """
    head = [line for line in islice(lines, _HEAD) if line.strip()]
    rows = _objects(head) or _cells(head)
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    if not rows:
        return LedgerKind(False, columns)
    outcome = usual("outcome", columns)
    words = {str(row[outcome[0]]).strip().lower() for row in rows if row.get(outcome[0])} if outcome else set()
    produced = any(name for role in _OF_PRODUCERS for name in usual(role, columns) if not _is_client(name))
    if usual("work", columns) and not usual("acks", columns):
        return LedgerKind(True, columns)
    of_group = bool(usual("group", columns)) and not produced and not usual("sent", columns) and not words - WORDS
    return LedgerKind(of_group or bool(words and words <= WORDS), columns)


def _is_client(name: str) -> bool:
    """Return whether a column may also be a consumer's: both have a client id."""
    return "client" in name.lower() or name.lower() in ("app", "application", "service")


def _objects(head: Sequence[str]) -> list[dict]:
    try:
        rows = [json.loads(line) for line in head]
    except (ValueError, RecursionError):
        return []
    return rows if all(isinstance(row, dict) for row in rows) else []


def _cells(head: Sequence[str]) -> list[dict]:
    if not head:
        return []
    separator = max(_SEPARATORS, key=head[0].count)
    if not head[0].count(separator):
        return []
    try:
        rows = list(csv.reader(head, delimiter=separator))
    except csv.Error:
        return []
    names = [name.strip() for name in rows[0]]
    return [dict(zip(names, row, strict=False)) for row in rows[1:]] or [dict.fromkeys(names, "")]
