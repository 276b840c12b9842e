"""Whether a ledger tells what was produced or what was processed: by its columns and words, never by its name."""

import csv
import json
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from casebook.formats.clients.ledger_columns import usual

_HEAD = 100
"""Lines that are looked at."""
_SEPARATORS = ",;\t|"
WORDS = frozenset(("processed", "consumed", "handled"))
"""Outcomes that a consumer writes, in lower case."""
_OF_PRODUCERS = ("acks", "producer", "acked")


class LedgerKind(NamedTuple):
    """What a ledger is.

    Args:
        processed: It tells what was processed.
        columns: Of its first lines, in order.
    """

    processed: bool
    columns: tuple[str, ...]


def kind(lines: Iterable[str]) -> LedgerKind:
    """What the first lines of a ledger tell of it.

    It was processed where a column is one that only consumers write, and none tells ``acks``; where one names a group, and none
    is a producer's; or where every outcome is a consumer's word.

    Args:
        lines: From its begin.
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
    """Whether a column may be a consumer's as well: both have a client id."""
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
