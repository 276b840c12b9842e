"""The system's own locks on files (flock): it lets go of one when its holder ends, however it ends.

A locked file means that its holder is active; a folder is locked by a file in it, which stays.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

from casebook.machine import private

_PLAIN = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def made(path: Path, *, mode: int = private.FILE) -> int:
    """Create a file and lock it until its descriptor is closed; repeated when a sweep removed it before the lock.

    Raises:
        OSError: It cannot be created.
    """
    while True:
        file = os.open(path, _PLAIN | os.O_CREAT, mode)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file), path.lstat()):
                    return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)


def at_once(file: int) -> bool:
    """Lock an open file until its descriptor is closed, without waiting; return whether it was free."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def one_at_a_time(folder: Path, *, for_others: bool = False) -> Iterator[None]:
    """Lock a folder against other processes; later ones wait.

    Args:
        for_others: The folder is meant for others, which must be able to lock it as well.

    Raises:
        OSError: There is no such folder, or nothing can be written to it.
    """
    with private.for_others() if for_others else nullcontext():
        lock = (folder / ".lock").open("w")
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def is_held(path: Path) -> bool:
    """Return whether a file is locked; a missing one is not, and another user's counts as locked."""
    try:
        file = os.open(path, _PLAIN)  # a remote disk locks only writable files
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        return not at_once(file)
    finally:
        os.close(file)
