"""Copies of a case in which a server's clock was wrong: the dates of its log lines are shifted, and the manifest fits."""

import hashlib
import json
import re
import shutil
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

from casebook.case_folder import MANIFEST
from casebook.events import folder_of

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
    shutil.copytree(case, into)
    manifest = json.loads((into / MANIFEST).read_text())
    for owner, ahead in seconds.items():
        for item in manifest["items"]:
            if item["path"].startswith(f"{folder_of(owner)}/"):
                content = _shift((into / item["path"]).read_bytes(), timedelta(seconds=ahead), since)
                (into / item["path"]).write_bytes(content)
                item |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (into / MANIFEST).write_text(json.dumps(manifest))
    return into


def _shift(content: bytes, ahead: timedelta, since: datetime | None) -> bytes:
    def moved(match: re.Match[bytes]) -> bytes:
        at = datetime.strptime(match[1].decode(), _FORMAT)
        if since is not None and at < since:
            return match[0]
        return f"[{(at + ahead).strftime(_FORMAT)[:-3]}]".encode()

    return _DATE.sub(moved, content)
