"""Polling for a state of the servers."""

import time
from collections.abc import Callable
from pathlib import Path

from casebook.errors import RehearsalError

PATIENCE = 90.0
_POLL = 0.05


def wait_until(condition: Callable[[], bool], *, what: str, home: Path, seconds: float = PATIENCE, steady: float = 0.0) -> None:
    """Poll until a condition holds, and has held for ``steady`` seconds.

    Args:
        condition: Condition.
        what: Its description for people.
        home: Folder of the servers' files.
        seconds: Maximum time to wait.
        steady: Seconds that it must have held.

    Raises:
        RehearsalError: It does not hold within ``seconds``.
    """
    since, deadline = None, time.monotonic() + seconds
    while True:
        now = time.monotonic()
        if not condition():
            since = None
        elif now - (since := since or now) >= steady:
            return
        if now > deadline:
            raise RehearsalError(
                f"Waited {seconds:.0f} s in vain for {what}.",
                try_=f"Keep the folder and look at what the servers say in {home}.",
            )
        time.sleep(_POLL)
