"""Redact lines of logs, pastes and ledgers; their number and line ends stay."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator

from casebook.collect.redaction.marks import MARK, REDACTED
from casebook.collect.redaction.names import is_sensitive_column
from casebook.collect.redaction.over_lines import PEM_BEGIN, OverLines
from casebook.collect.redaction.text import is_plain, redact_text

_DELIMITERS = (",", ";", "\t", "|")
_COLUMN_NAME = re.compile(r"[\w .#/-]{1,80}")


def redact_log(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a log without secrets, including multi-line private keys and values on the line after their name."""
    return _redacted(lines, _log_line)


def redact_ledger(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a ledger without secrets; a JSON object stays one, and sensitive columns are removed.

    Columns called a key, such as ``record_key``, belong to a record and identify it; so may random strings.
    """
    return _redacted(_without_columns(lines), _ledger_line)


def _redacted(lines: Iterable[bytes], clean: Callable[[bytes], bytes]) -> Iterator[bytes]:
    over = OverLines()
    for line in lines:
        if over.nothing and is_plain(line):
            yield line
            continue
        body = line.rstrip(b"\r\n")
        kept = over.kept(body)
        if kept is None:
            kept = clean(body)
        over.after(body, kept)
        yield kept + line[len(body) :]


def _log_line(line: bytes) -> bytes:
    return _cleaned(line, redact_text)


def _ledger_line(line: bytes) -> bytes:
    return _cleaned(line, _record_text)


def _record_text(text: bytes) -> bytes:
    return redact_text(text, of_records=True)


def _cleaned(line: bytes, clean: Callable[[bytes], bytes]) -> bytes:
    kept = clean(PEM_BEGIN.sub(MARK, line))
    return line if kept == line else _object(line, clean) or kept


def _object(line: bytes, clean: Callable[[bytes], bytes]) -> bytes | None:
    """Return a JSON object without secrets; ``None`` for anything else."""
    if line.lstrip()[:1] != b"{":
        return None
    try:
        row = json.loads(line, object_pairs_hook=no_duplicates)
        kept = {name: _kept(name, value, clean) for name, value in row.items()}
    except (ValueError, AttributeError, RecursionError):
        return None
    if kept == row:
        return line if clean(line) == line else None  # a name and its value are two fields of it
    text = json.dumps(kept).encode()
    return text if clean(text) == text else None


def _kept(name: str, value: object, clean: Callable[[bytes], bytes]) -> object:
    """Return a field's value without secrets: text is redacted, nested values one by one."""
    if isinstance(value, dict):
        return {within: _kept(within, one, clean) for within, one in value.items()}
    if isinstance(value, list):
        return [_kept(name, one, clean) for one in value]
    if isinstance(value, str):
        raw = value.encode(errors="surrogatepass")
        if PEM_BEGIN.search(raw):
            return REDACTED
        text = b"".join(_redacted(raw.splitlines(keepends=True), clean))
        value = value if text == raw else text.decode(errors="replace")
    told = json.dumps({name: value}).encode()
    return value if clean(told) == told else REDACTED


def no_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Refuse duplicate keys, which could hide a secret behind a harmless value.

    Raises:
        ValueError: A key is duplicate.
    """
    row = dict(pairs)
    if len(row) != len(pairs):
        raise ValueError("a key is given twice")
    return row


def _without_columns(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a table without sensitive columns; a row of another shape is removed completely."""
    names, secret, delimiter = None, frozenset[int](), ","
    for line in lines:
        body = line.decode(errors="surrogateescape").rstrip("\r\n")
        if names is None and body.strip():
            delimiter, names = _header(body)
            secret = frozenset(at for at, name in enumerate(names) if is_sensitive_column(name))
            yield line
        elif not secret or not body.strip():
            yield line
        else:
            yield _without_cells(body, delimiter, len(names), secret) + line[len(line.rstrip(b"\r\n")) :]


def _header(line: str) -> tuple[str, list[str]]:
    """Return the delimiter of a table and its column names; none when it does not start with names."""
    for delimiter in _DELIMITERS:
        cells = [cell.strip() for cell in next(csv.reader([line.lstrip("\ufeff")], delimiter=delimiter), [])]
        if len(cells) > 1 and all(_COLUMN_NAME.fullmatch(cell) for cell in cells):
            return delimiter, cells
    return ",", []


def _without_cells(line: str, delimiter: str, columns: int, secret: frozenset[int]) -> bytes:
    try:
        cells = next(csv.reader([line], delimiter=delimiter, strict=True), [])
    except csv.Error:
        return MARK
    if len(cells) != columns:
        return MARK
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="").writerow(
        [REDACTED if at in secret and cell else cell for at, cell in enumerate(cells)]
    )
    return out.getvalue().encode(errors="surrogateescape")
