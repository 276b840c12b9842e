"""Progress for a person at a terminal: one line that is replaced, and removed at the end.

Without a terminal it is silent: cron mails standard error.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from time import monotonic
from typing import TextIO

Tell = Callable[[str], None]
"""Receives the current activity, in a few words."""

_TICK = 1.0
"""Seconds between two updates."""

_WIDTH = 80


@contextmanager
def shown(wanted: bool | None = None) -> Iterator[Tell]:
    """Show the current activity on standard error, also while that is redirected.

    Args:
        wanted: ``None`` for terminals only; ``True`` also without one, as one line per activity; ``False`` for never.
    """
    with os.fdopen(os.dup(2), "w", errors="replace") as stream:
        if wanted is False or (wanted is None and not stream.isatty()):
            yield lambda _what: None
        elif not stream.isatty():
            yield lambda what: _written(stream, f"{what}\n")
        else:
            with _replaced(stream) as tell:
                yield tell


@contextmanager
def _replaced(terminal: TextIO) -> Iterator[Tell]:
    """One terminal line, with the seconds of the current activity."""
    doing, since, over = "", monotonic(), Event()

    def tell(what: str) -> None:
        nonlocal doing, since
        if what != doing:
            doing, since = what, monotonic()
        draw()

    def draw() -> None:
        seconds = int(monotonic() - since)
        line = f"{doing} ... {seconds} s" if seconds else f"{doing} ..."
        width = _width(terminal)
        _written(terminal, f"\r{line[:width]:<{width}}\r" if doing else "")

    def watch() -> None:
        while not over.wait(_TICK):
            draw()

    clock = Thread(target=watch, daemon=True)
    clock.start()
    try:
        yield tell
    finally:
        over.set()
        clock.join()
        _written(terminal, f"\r{'':<{_width(terminal)}}\r" if doing else "")


def _width(terminal: TextIO) -> int:
    """Return the columns that fit on one line."""
    with suppress(OSError):
        return (os.get_terminal_size(terminal.fileno()).columns or _WIDTH) - 1  # some report none
    return _WIDTH - 1


def _written(stream: TextIO, text: str) -> None:
    with suppress(OSError):  # the terminal is closed; the work continues
        stream.write(text)
        stream.flush()
