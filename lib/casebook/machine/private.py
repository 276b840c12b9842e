"""Private files: casebook writes folders as 0700 and files as 0600, whatever the umask.

A casebook process sets its own umask, which its kernels and Java inherit. Library writers in another process do the same: folders
are created closed, and a tree is closed file by file before its rename.

Files meant for others, above all a published report, follow the user's umask.
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
"""Original umask of this process; empty until replaced."""


def process() -> None:
    """Make all new files of this process and its children private."""
    before = os.umask(_CLOSED)
    if not _GIVEN:
        _GIVEN.append(before)


@contextmanager
def for_others() -> Iterator[None]:
    """Create files under the user's own umask, for others to read."""
    if not _GIVEN:  # it is in force
        yield
        return
    ours = os.umask(_GIVEN[0])
    try:
        yield
    finally:
        os.umask(ours)


def folder(path: Path) -> None:
    """Create a folder with missing parents; existing ones are unchanged.

    Raises:
        OSError: It cannot be created, or is a file.
    """
    missing = [path] if not path.is_dir() else []
    missing += [parent for parent in path.parents if missing and not parent.exists()]
    for one in reversed(missing):
        one.mkdir(mode=FOLDER, exist_ok=True)


def seal(tree: Path) -> None:
    """Make one of our folders private with all its content; links are not followed.

    Raises:
        OSError: It has another owner.
    """
    tree.chmod(FOLDER)
    for place, folders, files in os.walk(tree):
        for name in (*folders, *files):
            path = Path(place, name)
            mode = path.lstat().st_mode
            if not stat.S_ISLNK(mode):
                path.chmod(FOLDER if stat.S_ISDIR(mode) else FILE)
