"""How far something is, for a person who waits at a terminal: one line that is replaced, and gone at the end.

Where nobody waits nothing is said: what goes to standard error under cron is mailed.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from time import monotonic
from typing import TextIO

Tell = Callable[[str], None]
"""Told what is being done now, in a few words."""

_TICK = 1.0
"""Seconds between two looks at the clock."""

_WIDTH = 80


@contextmanager
def shown(wanted: bool | None = None) -> Iterator[Tell]:
    """Show what is being done on standard error, also while that leads elsewhere for a time.

    Args:
        wanted: ``None`` for a terminal alone; ``True`` also where there is none, as a line for each thing; ``False`` for never.
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
    """One line of a terminal, with the seconds that a thing has taken so far."""
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
    """Columns that may be written without a second line."""
    with suppress(OSError):
        return (os.get_terminal_size(terminal.fileno()).columns or _WIDTH) - 1  # some tell none
    return _WIDTH - 1


def _written(stream: TextIO, text: str) -> None:
    with suppress(OSError):  # whoever looked has gone; the work goes on
        stream.write(text)
        stream.flush()
