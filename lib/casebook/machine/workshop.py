"""Temporary folders that tell whether their owner lives.

Each holds a file that its owner keeps locked. The system lets go of that lock when the owner ends, however it ends; so the next
start knows what a killed one left, and removes it. What is to get a name is made in such a folder beside its place and renamed:
it is there whole, or not at all, and needs no tidying under its own name.
"""

import atexit
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from casebook.machine import locks, private

_OWNER = ".casebook-owner"
_PREFIX = "casebook-"
_NAME = re.compile(rf"\.?{_PREFIX}[a-z0-9_]{{8}}")


def begin() -> None:
    """What a process of ours does first: it closes what it will write, and removes what killed ones left."""
    private.process()
    sweep(_temporary())


@contextmanager
def folder(beside: Path | None = None) -> Iterator[Path]:
    """A private folder, removed at the end.

    Args:
        beside: Where to make it, hidden; what killed ones left there is removed. ``None`` for the folder of temporary files.

    Raises:
        OSError: It cannot be made.
    """
    if beside is not None:
        sweep(beside)
    path, owner = _made(beside)
    try:
        yield path
    finally:
        _remove(path)
        os.close(owner)


@cache
def of_process() -> Path:
    """The folder of this process, for what lives as long as it does, such as the temporary files of its Java.

    Raises:
        OSError: It cannot be made.
    """
    path, _owner = _made(None)  # never closed: it ends with the process
    maker = os.getpid()
    atexit.register(lambda: _remove(path) if os.getpid() == maker else None)
    return path


def sweep(place: Path) -> None:
    """Remove from a folder what killed ones left: ours alone, never that of a living one, and never by way of a link."""
    with suppress(OSError), os.scandir(place) as found:
        for left in [Path(entry.path) for entry in found if _NAME.fullmatch(entry.name)]:
            with suppress(OSError):
                _remove_if_left(left)


def _temporary() -> Path:
    """The folder of temporary files. Python finds out by a file that it writes to each; one that is killed then leaves it."""
    place = os.environ.get("TMPDIR") or "/tmp"
    if tempfile.tempdir is None and Path(place).is_dir() and os.access(place, os.W_OK | os.X_OK):
        tempfile.tempdir = str(Path(place).absolute())
    return Path(tempfile.gettempdir())


def _made(beside: Path | None) -> tuple[Path, int]:
    """A folder and its lock. One that a sweep met before it was locked is gone; then another is made."""
    while True:
        named = (_PREFIX, _temporary()) if beside is None else (f".{_PREFIX}", beside)
        path = Path(tempfile.mkdtemp(prefix=named[0], dir=named[1]))
        with suppress(FileNotFoundError):
            return path, locks.made(path / _OWNER)


def _remove_if_left(path: Path) -> None:
    there = path.lstat()
    if not stat.S_ISDIR(there.st_mode) or there.st_uid != os.geteuid():
        return
    if not (path / _OWNER).is_file():  # killed, or not yet come, between its two first steps: empty, or none of ours
        path.rmdir()
    elif not locks.is_held(path / _OWNER):
        _remove(path)


def _remove(path: Path) -> None:
    """Remove a folder, what marks it as ours last: what cannot be removed now is known at the next start."""
    with suppress(OSError):
        for inside in path.iterdir():
            if inside.name == _OWNER:
                continue
            if inside.is_dir() and not inside.is_symlink():
                shutil.rmtree(inside, ignore_errors=True)
            else:
                inside.unlink(missing_ok=True)
        if [inside.name for inside in path.iterdir()] == [_OWNER]:
            (path / _OWNER).unlink()
            path.rmdir()
