"""One run at a time of a notebook on a source, in a folder of runs.

The lock is the system's (flock): it ends with its holder in any case. The lock file remains, and names the holder and the start
time.
"""

import hashlib
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from casebook.errors import CasebookError, CaseError
from casebook.machine import locks, private

LOCKS = ".locks"


class TurnError(CasebookError):
    """Another run holds the lock."""


@contextmanager
def one_at_a_time(runs: Path, *, notebook: str, source: str) -> Iterator[None]:
    """Hold the lock of a notebook on a source.

    Args:
        runs: Folder of all runs.
        source: As given to the notebook; two spellings of one folder are one source.

    Raises:
        TurnError: Another run holds it; the message names its process, host and start time.
        CaseError: The lock cannot be created.
    """
    path = runs / LOCKS / f"{notebook}-{hashlib.sha256(_one_spelling(source).encode()).hexdigest()[:12]}"
    try:
        private.folder(path.parent)
        file = path.open("ab")
    except OSError as error:
        raise CaseError(f"No lock can be kept in {runs}: {error.strerror}.", try_="Choose another folder with --runs.") from None
    with file:
        if not locks.at_once(file.fileno()):
            raise TurnError(
                f"{notebook} on {source} is running already: {_holder(path)}.",
                cause="The previous run takes longer than the interval between two runs, or hangs.",
                try_="Wait for it to end, or give runs a --timeout.",
            )
        told = {"pid": os.getpid(), "host": socket.gethostname(), "since": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"}
        os.ftruncate(file.fileno(), 0)
        with suppress(OSError):  # a full disk cannot store the name; the lock holds anyway
            os.write(file.fileno(), json.dumps(told).encode())
        yield


def _one_spelling(source: str) -> str:
    folder = Path(source).expanduser()
    return str(folder.resolve()) if folder.exists() else source


def _holder(path: Path) -> str:
    try:
        told = json.loads(path.read_bytes())
        return f"process {told['pid']} on {told['host']} since {told['since']}"
    except (OSError, ValueError, KeyError, TypeError):  # it was locked just now, or its disk is full
        return "an unknown process"
