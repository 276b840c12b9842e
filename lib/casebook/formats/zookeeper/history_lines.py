"""The history of Kafka's znodes as JSON lines: a line per transaction, with the znodes after their change.

    {"zxid": 4294967301, "time": 1570878222293, "session": "0x16dbe1a0c5e0003", "operation": "setData", "znodes": [{...}]}

At the start of a history, the operation is ``begin``, and all znodes follow, one per line (``znode_lines``).
"""

import json
from collections.abc import Iterable, Iterator

from casebook.facts.znodes import ZnodeChange
from casebook.formats.zookeeper import znode_lines

BEGIN = "begin"

_SESSIONS = 1 << 64  # ZooKeeper's sessions are signed, and printed as unsigned


def encode(change: ZnodeChange) -> Iterator[str]:
    """The lines of one change, without line ends."""
    row: dict[str, object] = {"zxid": change.zxid, "time": change.time, "operation": change.operation}
    if change.session is not None:
        row["session"] = f"0x{change.session % _SESSIONS:x}"
    if change.timeout is not None:
        row["timeout"] = change.timeout
    head = json.dumps(row, separators=(",", ":"))
    if change.operation == BEGIN:
        yield head
        yield from map(znode_lines.encode, change.znodes)
    else:
        yield f'{head[:-1]},"znodes":[{",".join(map(znode_lines.encode, change.znodes))}]}}'


def is_row(line: bytes) -> bool:
    """Return whether a line is a JSON object."""
    try:
        return isinstance(znode_lines.taken_apart(line), dict)
    except ValueError:
        return False


def decode(lines: Iterable[str | bytes]) -> Iterator[ZnodeChange]:
    """Yield the changes of a file.

    Raises:
        ValueError: A line is invalid; earlier changes were already yielded.
    """
    begun: ZnodeChange | None = None
    znodes = []
    for line in lines:
        row = znode_lines.taken_apart(line)
        if not isinstance(row, dict):
            raise ValueError("not a JSON object")
        if "path" in row and begun is not None:
            znodes.append(znode_lines.of_row(row))
            continue
        if begun is not None:
            yield begun._replace(znodes=tuple(znodes))
        change = _change(row)
        begun, znodes = (change, []) if change.operation == BEGIN else (None, [])
        if begun is None:
            yield change
    if begun is not None:
        yield begun._replace(znodes=tuple(znodes))


def counted(lines: Iterable[str | bytes]) -> tuple[int, int]:
    """Return the number of transactions and snapshots in a file; an initially empty ZooKeeper is neither."""
    transactions = snapshots = 0
    begins = False
    for line in lines:
        text = line.decode(errors="replace") if isinstance(line, bytes) else line
        if text.startswith('{"zxid":'):
            begins = f'"operation":"{BEGIN}"' in text
            transactions += not begins
        elif begins:
            begins = False
            snapshots += 1
    return transactions, snapshots


def _change(row: dict[str, object]) -> ZnodeChange:
    zxid, time, operation, session, timeout = (row.get(name) for name in ("zxid", "time", "operation", "session", "timeout"))
    if type(zxid) is not int or type(time) is not int or not isinstance(operation, str):
        raise ValueError("no zxid, time or operation")
    znodes = row.get("znodes", [])
    if not isinstance(znodes, list) or not (timeout is None or type(timeout) is int):
        raise ValueError("znodes that are not a list, or a timeout that is not a number")
    return ZnodeChange(zxid, time, _session(session), operation, timeout, tuple(map(znode_lines.of_row, znodes)))


def _session(text: object) -> int | None:
    if text is None:
        return None
    try:
        session = int(str(text), 16)
    except ValueError:
        raise ValueError("a session that is not a number") from None
    return session - _SESSIONS if session >= _SESSIONS // 2 else session
