"""Lines through the reader of logs, as a case's logs go through it."""

import json
import tempfile
from collections.abc import Iterable
from pathlib import Path

from casebook.facts.events import Event, LogFile, Untyped
from casebook.questions.timeline.scans import logs

NAME = "server.log"


def read(*lines: str | bytes, zone: str = "UTC", name: str = NAME, end: bytes = b"\n"):
    """Events, shapes that nobody knows, and what is covered, of a file of these lines."""
    content = b"".join((line if isinstance(line, bytes) else line.encode()) + end for line in lines)
    return read_bytes(content, zone=zone, name=name)


def read_bytes(content: bytes, *, zone: str = "UTC", name: str = NAME):
    """The same of a file of these bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        return _sorted(logs.typed([(path, zone)]), name)


def _sorted(rows: Iterable[dict], name: str) -> tuple[list[Event], list[Untyped], LogFile]:
    events, untyped, file = [], [], None
    for row in rows:
        kind = row.pop("row")
        if kind == "event":
            events.append(logs.event(row | {"file": name}, None))
        elif kind == "untyped":
            example = f"{name}:{row['line']}"
            untyped.append(Untyped(row["logger"], row["level"], row["shape"], row["count"], example, row["text"]))
        else:
            told = {column: row[column] for column in ("first", "last", "lines", "entries", "typed", "strange")}
            speakers = tuple(sorted((int(speaker), count) for speaker, count in json.loads(row["fields"] or "{}").items()))
            laid_out = tuple(json.loads(row["text"] or "{}").items())
            file = LogFile(file=name, broker=None, damage=row["damage"] or "", speakers=speakers, layouts=laid_out, **told)
    return events, untyped, file
