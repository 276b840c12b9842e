"""What casebook writes is its user's alone: folders 0700, files 0600, whatever the umask says.

A process of ours sets its own umask, which the kernels and the Java that it starts inherit. Whoever uses a writer of the library
in a process of another gets the same: folders are made closed, and a tree is closed file by file before it gets its name.

What others are meant to read, a published report above all, follows the umask that the user has.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER = 0o700
FILE = 0o600
_CLOSED = 0o077
_GIVEN: list[int] = []
"""The umask that this process had; empty until it has one of ours."""


def process() -> None:
    """Close what this process makes from now on, and what it starts."""
    before = os.umask(_CLOSED)
    if not _GIVEN:
        _GIVEN.append(before)


@contextmanager
def for_others() -> Iterator[None]:
    """Make files as the user's own umask says: what is written here is meant to be read by others."""
    if not _GIVEN:  # it is in force
        yield
        return
    ours = os.umask(_GIVEN[0])
    try:
        yield
    finally:
        os.umask(ours)


def folder(path: Path) -> None:
    """Make a folder with its parents, those that are missing; what is there stays as it is.

    Raises:
        OSError: It cannot be made, or is a file.
    """
    missing = [path] if not path.is_dir() else []
    missing += [parent for parent in path.parents if missing and not parent.exists()]
    for one in reversed(missing):
        one.mkdir(mode=FOLDER, exist_ok=True)


def seal(tree: Path) -> None:
    """Close a folder of ours and all that is in it; links are not followed.

    Raises:
        OSError: It is not ours.
    """
    tree.chmod(FOLDER)
    for place, folders, files in os.walk(tree):
        for name in (*folders, *files):
            path = Path(place, name)
            mode = path.lstat().st_mode
            if not stat.S_ISLNK(mode):
                path.chmod(FOLDER if stat.S_ISDIR(mode) else FILE)
