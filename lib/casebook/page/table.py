"""A table: a takeaway in bold, rows, and where the rest is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from casebook.page.render import render

PLAIN, ALARM, CHOSEN = "", "cb-alarm", "cb-chosen"
TEXT, NUMBER, CODE, QUIET, UNBROKEN = "", "num", "cb-code", "cb-second", "cb-unbroken"

Row = tuple[str, Sequence[object]]
"""Style of the row (``PLAIN``, ``ALARM`` or ``CHOSEN``), and its cells; the first one is its header."""

_HANDY = 8
_ON_PAPER = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A displayed table.

    Args:
        name: Key within the page.
        columns: (head, kind): ``TEXT``, ``NUMBER``, ``CODE``, ``QUIET`` or ``UNBROKEN`` (never on two lines).
        rows: See :data:`Row`.
        takeaway: One sentence with a number.
        reading: How to read it, or its order.
        label: Name for screen readers; the takeaway by default.
        total: Total number of rows; ``None`` when all are shown.
        rest: Name of the run's table with all rows.
        search: Whether a long one has a search box.
        wide: Scrolls in its own box instead of breaking words on a narrow screen.
        stacked: On a narrow screen each row becomes a block, its cells one below the other, each next to its column's header:
            everything stays visible.
        times: Start and end of each row's subject, epoch milliseconds, ``None`` for open: a range brushed in a figure hides the
            others. Empty when rows have no time.
        tall: A long one also scrolls vertically in its own box.
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
        """Whether there are more rows than shown."""
        return self.total is not None and len(self.rows) < self.total

    @property
    def long(self) -> bool:
        """Whether it is long enough for sorting and searching."""
        return len(self.rows) > _HANDY

    @property
    def cut_on_paper(self) -> bool:
        """Whether only its first rows are printed on paper."""
        return len(self.rows) > _ON_PAPER


def unknown() -> Markup:
    """Return the cell of an unknown value."""
    return render("unknown")


def or_unknown(value: object, say: Callable[..., object] = lambda value: value) -> object:
    """The cell of a value, as ``say`` has it, or of an unknown one."""
    return unknown() if value is None else say(value)


def numbers(table: Table, summary: str) -> Markup:
    """Return the numbers of a figure, folded."""
    return render("numbers", table=table, summary=summary)
