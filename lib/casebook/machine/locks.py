"""Files that tell whether somebody works behind them: the system lets go of a lock when its holder ends, however it ends."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from casebook.machine import private

_PLAIN = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def made(path: Path, *, mode: int = private.FILE) -> int:
    """Make a file and hold it, as long as its descriptor is open; one that a sweep met before it was held is made again.

    Raises:
        OSError: It cannot be made.
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


def is_held(path: Path) -> bool:
    """Whether somebody holds a file; one that is not there is held by nobody, and another user's is left to that user."""
    try:
        file = os.open(path, _PLAIN)  # a remote disk locks only what may be written
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False
