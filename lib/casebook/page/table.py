"""A table: what it says in bold, how much of it is shown, the rows, and where the rest is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from casebook.page.render import render

PLAIN, ALARM, CHOSEN = "", "cb-alarm", "cb-chosen"
TEXT, NUMBER, CODE, QUIET, UNBROKEN = "", "num", "cb-code", "cb-second", "cb-unbroken"

Row = tuple[str, Sequence[object]]
"""How the row stands out (``PLAIN``, ``ALARM`` or ``CHOSEN``), and its cells; the first one heads it."""

_HANDY = 8
_ON_PAPER = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table as it is shown.

    Args:
        name: Names it within the page.
        columns: (head, kind): ``TEXT``, ``NUMBER``, ``CODE``, ``QUIET`` or ``UNBROKEN`` (never on two lines).
        rows: See :data:`Row`.
        takeaway: One sentence with its number.
        reading: How to read it, or in which order it stands.
        label: What a screen reader calls it; the takeaway by default.
        total: How many rows there are; ``None`` when all are shown.
        rest: Name of the run's table that holds all of them.
        search: Whether a long one can be searched.
        wide: Rather scrolls in its own box than breaks its words on a narrow screen.
        stacked: In a narrow place each row becomes a block, its cells one below the other, each beside its column's head: nothing
            is out of sight.
        times: Begin and end of what each row tells of, epoch milliseconds, ``None`` where open: a range that is brushed in
            a picture hides the others. Empty where rows have no time.
        tall: A long one scrolls in its own box downwards as well.
    """

    name: str
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Row]
    takeaway: str = ""
    reading: str = ""
    label: str = ""
    total: int | None = None
    rest: str = ""
    search: bool = False
    wide: bool = False
    stacked: bool = False
    times: Sequence[tuple[int | None, int | None]] = ()
    tall: bool = False

    @property
    def cut(self) -> bool:
        """Whether there are more rows than are shown."""
        return self.total is not None and len(self.rows) < self.total

    @property
    def long(self) -> bool:
        """Whether it is worth sorting and searching."""
        return len(self.rows) > _HANDY

    @property
    def cut_on_paper(self) -> bool:
        """Whether paper gets its first rows alone."""
        return len(self.rows) > _ON_PAPER


def unknown() -> Markup:
    """The cell of an unknown value."""
    return render("unknown")


def or_unknown(value: object, say: Callable[..., object] = lambda value: value) -> object:
    """The cell of a value, as ``say`` has it, or of an unknown one."""
    return unknown() if value is None else say(value)


def numbers(table: Table, summary: str) -> Markup:
    """The numbers behind a picture, folded away."""
    return render("numbers", table=table, summary=summary)
