"""One znode as one JSON line, in a case and in a dump.

A line is an object with ``path``, ``data`` (text or null) or ``data_b64``, and ``stat`` with ZooKeeper's field names; a case adds
``outcome``, ``read_at`` and ``redacted`` unless default.
"""

import base64
import binascii
import json
import re

from casebook.facts.znodes import ReadOutcome, Stat, Znode

_INT64 = range(-(2**63), 2**63)
_HEAD = b'{"path":"'


def encode(znode: Znode) -> str:
    """Return the line of one znode, without the line end; equal znodes give equal lines."""
    row: dict[str, object] = {"path": znode.path}
    row |= _encode_data(znode.data)
    if znode.stat is not None:
        row["stat"] = {name: value for name in Stat._fields if (value := getattr(znode.stat, name)) is not None}
    if znode.outcome is not ReadOutcome.READ:
        row["outcome"] = znode.outcome.value
    if znode.read_at is not None:
        row["read_at"] = znode.read_at
    if znode.redacted:
        row["redacted"] = True
    return json.dumps(row, separators=(",", ":"), ensure_ascii=False)


def _encode_data(data: bytes | None) -> dict[str, object]:
    if data is None:
        return {"data": None}
    try:
        return {"data": data.decode()}
    except UnicodeDecodeError:
        return {"data_b64": base64.b64encode(data).decode()}


def decode(line: str | bytes) -> Znode:
    """Parse one line; a stat field that is no 64-bit integer becomes unknown.

    Raises:
        ValueError: The line is no such object; the message has the reason and never quotes the data.
    """
    return of_row(taken_apart(line))


def taken_apart(line: str | bytes) -> object:
    """Parse a line of JSON.

    Raises:
        ValueError: It is not JSON.
    """
    try:
        is_plain = isinstance(line, bytes) and line.startswith(b'{"')  # else json guesses the encoding, slowly
        return json.loads(line.decode(errors="surrogatepass") if is_plain else line)
    except (ValueError, RecursionError):
        raise ValueError("not a JSON object") from None


def plain_path(line: bytes) -> str | None:
    """Return the path of a line that begins with it, as :func:`encode` writes it; ``None`` when :func:`decode` must find it."""
    if not line.startswith(_HEAD):
        return None
    path = line[len(_HEAD) : line.find(b'"', len(_HEAD))]
    return None if b"\\" in path else path.decode(errors="replace")


def of_row(row: object) -> Znode:
    """Return the znode of a parsed line.

    Raises:
        ValueError: As in :func:`decode`.
    """
    if not isinstance(row, dict):
        raise ValueError("not a JSON object")
    path = row.get("path")
    if not isinstance(path, str) or not path.startswith("/"):
        raise ValueError("no path that begins with /")
    if not path.isascii() and re.search("[\ud800-\udfff]", path):
        raise ValueError("a path that is not text")
    return Znode(
        path=path,
        data=_decode_data(row),
        stat=_decode_stat(row.get("stat")),
        outcome=_decode_outcome(row.get("outcome")),
        read_at=_int_or_none(row.get("read_at")),
        redacted=row.get("redacted") is True,
    )


def _decode_data(row: dict[str, object]) -> bytes | None:
    data, encoded = row.get("data"), row.get("data_b64")
    if isinstance(data, str):
        return data.encode(errors="surrogatepass")
    if encoded is None and data is None:
        return None
    if data is not None or not isinstance(encoded, str):
        raise ValueError("data is neither text nor null, nor data_b64 a text")
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("data_b64 is not base64") from None


def _decode_stat(stat: object) -> Stat | None:
    if not isinstance(stat, dict):
        return None
    return Stat(*[value if type(value := stat.get(name)) is int and value in _INT64 else None for name in Stat._fields])


def _decode_outcome(outcome: object) -> ReadOutcome:
    if outcome is None:
        return ReadOutcome.READ
    try:
        return ReadOutcome(outcome)
    except ValueError:
        raise ValueError("an outcome this version does not know") from None


def _int_or_none(value: object) -> int | None:
    return value if type(value) is int and value in _INT64 else None
