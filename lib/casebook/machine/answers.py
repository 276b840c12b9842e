"""Answers that took long, kept in the user's cache by what they rest on: asked again, they are read.

They are not kept in the case, which may go to others: an answer can have keys and ids of records. Each is whole or absent, is of
this code alone, and is removed a week after it was last used.
"""

import hashlib
import json
import os
import shutil
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

from casebook.machine import private, workshop
from casebook.machine.places import cache_dir, checkout

_WEEK = 7 * 24 * 3600
_CODE = (".py", ".tsv", ".java", ".json")


def place(kind: str, inputs: object) -> Path:
    """Return the folder of an answer, which exists if it is kept; without a writable cache it ends with this process.

    Args:
        kind: Name of the question.
        inputs: All that the answer rests on, as JSON.
    """
    key = hashlib.sha256(json.dumps([_code(), inputs]).encode()).hexdigest()[:32]
    folder = cache_dir() / "answers" / kind
    try:
        private.folder(folder)
    except OSError:
        folder = workshop.of_process() / kind
    _forget_old(folder)
    with suppress(OSError):
        os.utime(folder / key)
    return folder / key if os.access(folder, os.W_OK) else workshop.of_process() / kind / key


def _forget_old(folder: Path) -> None:
    """Remove answers that were not used for a week."""
    with suppress(OSError):
        for kept in folder.iterdir():
            if not kept.name.startswith(".") and kept.stat().st_mtime < time.time() - _WEEK:
                shutil.rmtree(kept, ignore_errors=True)


@cache
def _code() -> str:
    """Hash our own files, of Python and of Java: another version concludes otherwise."""
    known = hashlib.sha256()
    for part in (Path(__file__).parents[1], checkout() / "lib" / "jvm"):
        for path in sorted(part.rglob("*")):
            if path.suffix in _CODE and path.is_file():
                known.update(f"{path.relative_to(part)}\0".encode() + path.read_bytes())
    return known.hexdigest()
