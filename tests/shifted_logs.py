"""Copies of a case in which a server's clock was wrong: the dates of its log lines are shifted, and the manifest fits."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

from casebook.facts.events import folder_of
from tests.case_copies import CaseCopy

_DATE = re.compile(rb"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\]", re.MULTILINE)
_FORMAT = "%Y-%m-%d %H:%M:%S,%f"


def shifted(case: Path, into: Path, *, seconds: Mapping[int | str, float], since: datetime | None = None) -> Path:
    """Write a copy of a case whose servers' clocks were wrong; undated lines, such as those of stack traces, stay.

    Args:
        case: The case.
        into: New folder.
        seconds: How far the clock of each was ahead; by broker id, or by the name of a ZooKeeper server or client.
        since: The first moment, as printed, of a clock that went wrong then; ``None`` for one that was wrong always.
    """
    copy = CaseCopy(case, into, scans=True, expected=True)
    for owner, ahead in seconds.items():
        for path in copy.paths:
            if path.startswith(f"{folder_of(owner)}/"):
                copy.store(path, shift(copy.read(path), timedelta(seconds=ahead), since))
    return copy.done()


def shift(content: bytes, ahead: timedelta, since: datetime | None = None) -> bytes:
    """The lines of a log, printed by a clock that was ahead, from a printed moment on where one is given."""

    def moved(match: re.Match[bytes]) -> bytes:
        at = datetime.strptime(match[1].decode(), _FORMAT)
        if since is not None and at < since:
            return match[0]
        return f"[{(at + ahead).strftime(_FORMAT)[:-3]}]".encode()

    return _DATE.sub(moved, content)
