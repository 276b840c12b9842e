"""Show in JupyterLab how far a running cell is, in one line that goes at the end, and say one sentence when it is stopped."""

import sys
from collections.abc import Callable
from contextvars import copy_context
from threading import Event, Thread
from time import monotonic

from markupsafe import Markup

from casebook.findings import words
from casebook.page import text

Progress = Callable[[int, int | None], None]

STOPPED = "Stopped. Work in Spark was cancelled. To go on, run this cell and those below it."
_SOON, _TICK = 0.4, 0.5
_ESTIMATED, _STOPPABLE = 2.0, 4.0
_LINE = Markup('<div class="cb"><p class="cb-quiet cb-doing">{}</p></div>')


class Activity:
    """The step of the running cell."""

    def __init__(self) -> None:
        self._begun = monotonic()
        self._reset()
        self._over: Event | None = None
        self._watch: Thread | None = None

    def step(self, what: str, *, unit: str = "znodes") -> Progress:
        """Begin a step; return the callback that receives how many of its units are done, and of how many if known."""
        mine = self._reset(what, unit)

        def reported(done: int, total: int | None) -> None:
            if mine is self._step:  # and not of a step that has ended
                self._done = done, total

        return reported

    def _reset(self, what: str = "", unit: str = "") -> object:
        self._what, self._unit, self._since = what, unit, monotonic()
        self._done: tuple[int, int | None] = 0, None
        self._step = object()
        return self._step

    def begin(self, *_: object) -> None:
        """Watch a cell from now on."""
        self.end()
        self._reset()
        self._begun = monotonic()
        self._over = Event()
        self._watch = Thread(target=copy_context().run, args=(self._shown, self._over), daemon=True)  # outputs belong to a cell
        self._watch.start()

    def end(self, *_: object) -> None:
        """Remove the line."""
        if self._over is not None and self._watch is not None:
            self._over.set()
            self._watch.join()
            self._over = self._watch = None

    def line(self, now: float) -> str:
        """Return the step, how far it is, how long the cell has run, and about how much of the step is left."""
        done, total = self._done
        if total and done >= total:
            return self._timed(now, "Working on the answer")
        of = f" of {words.count(total)}" if total else ""
        amount = f"{words.count(done)}{of} {self._unit}" if done or total else ""
        step = ": ".join(filter(None, (self._what or "Working", amount)))
        left = (now - self._since) * (total - done) / done if total and done and now - self._since > _ESTIMATED else None
        return self._timed(now, step, *(() if left is None else (f"about {text.duration(1000 * max(1, round(left)))} left",)))

    def _timed(self, now: float, step: str, *more: str) -> str:
        stop = " Stop it with ■ in the toolbar." if now - self._begun > _STOPPABLE else ""
        return f"{', '.join((step, f'{text.duration(1000 * max(1, round(now - self._begun)))} so far', *more))}.{stop}"

    def _shown(self, over: Event) -> None:
        from IPython.display import HTML, display

        if over.wait(_SOON):
            return
        handle = display(HTML(_LINE.format(self.line(monotonic()))), display_id=True)
        while handle is not None and not over.wait(_TICK):
            handle.update(HTML(_LINE.format(self.line(monotonic()))))
        if handle is not None:
            handle.update(HTML(""))


_HERE = Activity()


def watched() -> Callable[..., Progress]:
    """Show what cells of this notebook do, from the running one on; return what begins a step."""
    from IPython import get_ipython

    shell = get_ipython()
    if shell is not None and _HERE.begin not in shell.events.callbacks["pre_run_cell"]:
        shell.events.register("pre_run_cell", _HERE.begin)
        shell.events.register("post_run_cell", _HERE.end)
        shell.set_custom_exc((KeyboardInterrupt,), _stopped)
        _HERE.begin()
    return _HERE.step


def unwatched(_what: str, *, unit: str = "") -> None:
    """Begin a step that is not shown."""


def _stopped(*_: object, **__: object) -> list[str]:
    """Say it in place of the traceback of an interrupt, which IPython then leaves out."""
    sys.stderr.write(f"{STOPPED}\n")
    return [STOPPED]
