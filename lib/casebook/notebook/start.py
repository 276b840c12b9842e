"""Notebook 00: what works here, and how to choose a notebook."""

from markupsafe import Markup

from casebook import doctor
from casebook.notebook.opening import asked_of, made_of
from casebook.page.context import PanelContext
from casebook.page.render import render
from casebook.page.table import CODE, PLAIN, TEXT, Table
from casebook.page.view import View, html
from casebook.questions.triage.views import brokers_box as brokers
from casebook.questions.triage.views import pasted
from casebook.runs import notebooks
from casebook.runs.notebooks import Notebook

_HERE, _WALKTHROUGH = "00_start_here", "05_walkthrough"


def self_check() -> View:
    """Show what works on this machine: the same as ``casebook doctor``."""
    return html(render("self_check", examined=doctor.examine()))


def contents(source: str) -> View:
    """List the notebooks, each with its question and its headless command."""
    link = Markup('<a href="{0}.ipynb">{0}</a>').format
    table = Table(
        name="notebooks",
        columns=(("Notebook", TEXT), ("The question it answers", TEXT), ("Headless", CODE)),
        rows=[(PLAIN, (link(n.stem), n.title(), _command(n, source))) for n in notebooks.every() if n.stem != _HERE],
        label="Notebooks",
    )
    return html(render("plain_table", table=table))


def paste_box(context: PanelContext) -> View:
    """Show the box that creates a case from pasted text, or its command."""
    return pasted.box(made_of, context)


def brokers_box(context: PanelContext) -> View:
    """Show the box that creates a case from the brokers' answers, or its command."""
    return brokers.box(asked_of, context)


def _command(notebook: Notebook, source: str) -> Markup:
    """The command breaks before its source; the walkthrough has its own incident, which this notebook does not solve."""
    on = Markup(" <wbr>--source {}").format(source) if notebook.stem != _WALKTHROUGH else ""
    return Markup("casebook run {}{}").format(notebook.name, on)
