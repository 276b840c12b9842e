"""Detect a column of times with an unusual name by its content."""

import re
from collections.abc import Collection

from casebook.formats.clients.ledger_columns import ABSENT
from casebook.questions.loss.scans.ledger_files import LedgerTable

_ROWS = 100
"""Number of ledger rows to examine."""
_MOST_COLUMNS = 50
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2})?([.,]\d+)?( ?(Z|UTC|GMT|[+-]\d{2}:?\d{2}))?", re.IGNORECASE)
_EPOCH = re.compile(r"\d{10}(\.\d+)?|\d{13}|\d{16}|\d{19}")
_FROM, _TO = 1_262_304_000, 4_102_444_800
"""2010 to 2100, in seconds: Kafka did not exist earlier; other values are no times."""


def column(table: LedgerTable, used: Collection[str]) -> tuple[str, ...]:
    """Return the only unused column with nothing but times; none otherwise.

    Args:
        table: The ledger.
        used: Columns with another use.
    """
    others = [name for name in table.columns if name not in used][:_MOST_COLUMNS]
    if not others:
        return ()
    rows = [row.cells for row in table.rows(others).limit(_ROWS).collect() if row.cells is not None]
    moments = [name for number, name in enumerate(others) if _are_moments([row[number] for row in rows])]
    return tuple(moments) if len(moments) == 1 else ()


def _are_moments(cells: Collection[object]) -> bool:
    told = [str(cell).strip() for cell in cells if cell is not None]
    told = [text for text in told if text.lower() not in ABSENT]
    return bool(told) and all(_is_moment(text) for text in told)


def _is_moment(text: str) -> bool:
    if _ISO.fullmatch(text):
        return True
    if not _EPOCH.fullmatch(text):
        return False
    digits = text.partition(".")[0]
    return _FROM <= int(digits[:10]) < _TO
