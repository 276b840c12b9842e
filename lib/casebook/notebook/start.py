"""Notebook 00: what works here, and which question to ask."""

from collections.abc import Sequence

from markupsafe import Markup

from casebook.doctor import Examined
from casebook.page.render import render
from casebook.page.table import CODE, PLAIN, TEXT, Table
from casebook.page.view import View, html
from casebook.runs.notebooks import Notebook

_HERE, _WALKTHROUGH = "00_start_here", "05_walkthrough"


def self_check(examined: Sequence[Examined]) -> View:
    """What will work on this machine and what will not."""
    return html(render("self_check", examined=examined))


def contents(notebooks: Sequence[Notebook], source: str) -> View:
    """The notebooks, each with the question it answers and the command that runs it headless."""
    link = Markup('<a href="{0}.ipynb">{0}</a>').format
    table = Table(
        name="notebooks",
        columns=(("Notebook", TEXT), ("The question it answers", TEXT), ("Headless", CODE)),
        rows=[(PLAIN, (link(n.stem), n.title(), _command(n, source))) for n in notebooks if n.stem != _HERE],
        label="Notebooks",
    )
    return html(render("plain_table", table=table))


def _command(notebook: Notebook, source: str) -> Markup:
    """The command breaks before its source; the walkthrough has an incident of its own, which this notebook does not solve."""
    on = Markup(" <wbr>--source {}").format(source) if notebook.stem != _WALKTHROUGH else ""
    return Markup("casebook run {}{}").format(notebook.name, on)
