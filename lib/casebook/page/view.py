"""A view: the output of a cell, and the tables behind it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from casebook.page import drawing
from casebook.page.assets import asset, stylesheet

PLOTLY, SVG = "application/vnd.plotly.v1+json", "image/svg+xml"

FIGURE_CONFIG = {
    "showSendToCloud": False,
    "plotlyServerURL": "",
    "displaylogo": False,
    "displayModeBar": False,
    "responsive": False,
}
"""Plotly offers by default to upload a chart's data; here nothing leaves the machine.

JupyterLab resizes charts itself. There a responsive one takes the height of its output when it is drawn a second time, which
depends on the chart alone: it would vanish.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A Plotly chart.

    Args:
        data: Traces.
        layout: Layout in the light scheme's colours; the script redraws them for the dark one.
        picture: The same as SVG, with the page's classes.
        alternative: Alternative text, one sentence.
    """

    data: Sequence[Mapping[str, object]]
    layout: Mapping[str, object]
    picture: Markup
    alternative: str


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Output of a cell.

    Args:
        parts: In order: HTML, charts, or a widget.
        tables: Rows by table name, for the run's ``tables/``; see :mod:`casebook.findings.tables`.
        cites: Paths of the znodes that it links to as proof.
    """

    parts: tuple[object, ...]
    tables: Mapping[str, Sequence[object]] = field(default_factory=dict)
    cites: tuple[str, ...] = ()


def html(*parts: Markup, tables: Mapping[str, Sequence[object]] | None = None, cites: tuple[str, ...] = ()) -> View:
    """Return a view of HTML alone."""
    return View(parts=parts, tables=tables or {}, cites=cites)


def display(view: View, *, display_id: str | None = None, update: bool = False) -> None:
    """Show a view as the output of the running cell.

    Args:
        display_id: Name of an output that is filled now or later.
        update: Replace the content of that output.
    """
    from IPython import display as ipython

    for part in view.parts:
        if isinstance(part, Figure | Markup):
            ipython.display(_bundle(part), raw=True, display_id=display_id, update=update)
        else:
            ipython.display(part)


def _bundle(part: Figure | Markup) -> dict[str, object]:
    if isinstance(part, Figure):
        chart = {"data": part.data, "layout": part.layout, "config": FIGURE_CONFIG}
        return {PLOTLY: chart, SVG: drawing.alone(part.picture), "text/plain": part.alternative}
    return {"text/html": str(part), "text/plain": part.striptags()}


def style() -> View:
    """Return the stylesheet and the scripts that every other view needs; shown once in a notebook."""
    scripts = Markup(asset("casebook.js")), Markup(asset("lab.js"))
    return html(Markup("<style>{}</style><script>{}</script><script>{}</script>").format(stylesheet(), *scripts))


def parameters() -> View:
    """Return the place for the form of a notebook's parameters, which JupyterLab fills."""
    return html(Markup('<div class="cb" data-cb-parameters></div>'))
