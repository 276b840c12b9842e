"""Temporary folders that reveal whether their owner lives.

Each contains a file locked by its owner. The system releases the lock when the owner ends, even when killed; so the next start
recognises and removes abandoned folders. Results are created in such a folder next to their target and renamed: they exist
completely or not at all, and need no cleanup under their final name.
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
    """Start a casebook process: make its files private, and remove leftovers of killed ones."""
    private.process()
    sweep(_temporary())


@contextmanager
def folder(beside: Path | None = None) -> Iterator[Path]:
    """Yield a private folder, removed at the end.

    Args:
        beside: Parent folder, in which it is hidden, and leftovers of killed processes are removed. ``None`` for the temporary
            folder.

    Raises:
        OSError: It cannot be created.
    """
    if beside is not None:
        sweep(beside)
    path, owner = _made(beside)
    try:
        yield path
    finally:
        _remove(path)
        os.close(owner)


@contextmanager
def result(target: Path) -> Iterator[Path]:
    """Create a folder for a result; it is renamed to the target on success, and removed on failure."""
    private.folder(target.parent)
    with folder(beside=target.parent) as room:
        partial = room / target.name
        private.folder(partial)
        yield partial
        private.seal(partial)
        try:
            partial.replace(target)
        except OSError:
            if not target.exists():  # otherwise another process stored the same result first
                raise


@cache
def of_process() -> Path:
    """Return the folder of this process, for files with the same lifetime, such as the temporary files of its Java.

    Raises:
        OSError: It cannot be created.
    """
    path, _owner = _made(None)  # never closed: it ends with the process
    maker = os.getpid()
    atexit.register(lambda: _remove(path) if os.getpid() == maker else None)
    return path


def sweep(place: Path) -> None:
    """Remove leftovers of killed processes: only ours, never of a living one, and never through a link."""
    with suppress(OSError), os.scandir(place) as found:
        for left in [Path(entry.path) for entry in found if _NAME.fullmatch(entry.name)]:
            with suppress(OSError):
                _remove_if_left(left)


def _temporary() -> Path:
    """Return the temporary folder. Python tests each candidate with a file, which a killed process leaves."""
    place = os.environ.get("TMPDIR") or "/tmp"
    if tempfile.tempdir is None and Path(place).is_dir() and os.access(place, os.W_OK | os.X_OK):
        tempfile.tempdir = str(Path(place).absolute())
    return Path(tempfile.gettempdir())


def _made(beside: Path | None) -> tuple[Path, int]:
    """Create a folder and its lock; repeated when a sweep removed it before the lock."""
    while True:
        named = (_PREFIX, _temporary()) if beside is None else (f".{_PREFIX}", beside)
        path = Path(tempfile.mkdtemp(prefix=named[0], dir=named[1]))
        with suppress(FileNotFoundError):
            return path, locks.made(path / _OWNER)


def _remove_if_left(path: Path) -> None:
    there = path.lstat()
    if not stat.S_ISDIR(there.st_mode) or there.st_uid != os.geteuid():
        return
    if not (path / _OWNER).is_file():  # killed or still between its two first steps: empty, or not ours
        path.rmdir()
    elif not locks.is_held(path / _OWNER):
        _remove(path)


def _remove(path: Path) -> None:
    """Remove a folder, its marker last: a failed removal is recognised at the next start."""
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
