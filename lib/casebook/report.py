"""An executed notebook to one self-contained HTML file: no code, no network, readable without scripts.

nbconvert's HTML drops Plotly charts, keeps prompts, and loads four libraries from the network, so only its Markdown is
used here; the page is our own template.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from markupsafe import Markup

from casebook import __version__
from casebook.views import text
from casebook.views.render import render
from casebook.views.view import PLOTLY, asset

NOTEBOOK, REPORT = "notebook.ipynb", "report.html"
_BLANK = {"case": None, "collected_at": None, "parameters": {}}  # what a run that failed early never learned
_UNSHOWN = frozenset({"report-skip", "papermill-error-cell-tag"})  # the latter is papermill's own banner
_RAIL, _HALF = "rail", "half"
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(slots=True, kw_only=True)
class _Page:
    """A report as it is put together.

    Args:
        title: The question: the first heading.
        head: What stands above the columns: the verdict.
        main: Sections in order; a pair of halves is a list of two.
        rail: The side column.
        errors: Errors that the notebook ended in.
        figures: Charts so far.
    """

    title: str = ""
    head: list[Markup] = field(default_factory=list)
    main: list[Markup | list[Markup]] = field(default_factory=list)
    rail: list[Markup] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    figures: int = 0


def write_run_report(folder: Path, *, run_id: str) -> Path:
    """Write ``report.html`` of a run folder.

    Args:
        run_id: The run's final name, shown in the header.
    """
    import nbformat

    record = _BLANK | json.loads((folder / "run.json").read_text(encoding="utf-8"))
    notebook = nbformat.read(folder / NOTEBOOK, as_version=4)
    path = folder / REPORT
    path.write_text(report(notebook, record=record, run_id=run_id), encoding="utf-8")
    return path


def report(notebook: Mapping, *, record: Mapping[str, object], run_id: str) -> str:
    """The page of an executed notebook.

    Args:
        notebook: As nbformat reads it.
        record: ``run.json``: case, time of collection, parameters.
        run_id: The run's name.
    """
    page = _page(notebook)
    html = render(
        "report",
        page=page,
        record=record,
        run_id=run_id,
        version=__version__,
        style=Markup(asset("casebook.css") + asset("report.css")),
        script=Markup(asset("casebook.js")),
        plotly=_plotly() if page.figures else None,
    )
    size = text.size(len(html.encode()))
    return str(html).replace("@@SIZE@@", size, 1)


def _page(notebook: Mapping) -> _Page:
    page = _Page()
    half: list[Markup] = []
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", ())
        parts = list(_shown(cell, page))
        if page.errors:
            break  # what follows was never run: questions without answers
        if not _UNSHOWN.isdisjoint(tags) or not parts:
            continue
        if _HALF in tags:
            half = _add_half(page, half, cell.cell_type, parts)
            continue
        half = []
        where = page.rail if _RAIL in tags else page.main if page.main or cell.cell_type == "markdown" else page.head
        where.extend(parts)
    return page


def _add_half(page: _Page, half: list[Markup], cell_type: str, parts: list[Markup]) -> list[Markup]:
    """Put parts into a pair of columns; each half begins with its Markdown."""
    if not half or (cell_type == "markdown" and len(half) == 2):
        half = []
        page.main.append(half)
    if cell_type == "markdown":
        half.append(Markup().join(parts))
    else:
        half[-1] = half[-1] + Markup().join(parts)
    return half


def _shown(cell: Mapping, page: _Page) -> Iterator[Markup]:
    if cell.cell_type == "markdown":
        yield from _markdown(cell.source, page)
    for output in cell.get("outputs", ()):
        yield from _output(output, page)


def _markdown(source: str, page: _Page) -> Iterator[Markup]:
    from nbconvert.filters import markdown2html

    if not page.title and source.startswith("# "):
        page.title, _, source = source[2:].partition("\n")
    if source.strip():
        yield Markup('<div class="cb cb-prose">{}</div>').format(Markup(markdown2html(source)))


def _output(output: Mapping, page: _Page) -> Iterator[Markup]:
    if output.output_type == "error":
        page.errors.append(_error(output))
        return
    if output.output_type == "stream":
        if output.name == "stdout":
            yield Markup("<pre>{}</pre>").format(_ANSI.sub("", output.text))
        return
    data = output.get("data", {})
    if PLOTLY in data:
        page.figures += 1
        yield render("figure", number=page.figures, figure=_script_safe(data[PLOTLY]), alternative=data.get("text/plain", ""), height=data[PLOTLY]["layout"].get("height", 400))
    elif "text/html" in data:
        if not data["text/html"].startswith("<style>"):  # the notebook's own copy of the stylesheet
            yield Markup(data["text/html"])
    elif "text/plain" in data and not any("widget" in kind for kind in data):
        yield Markup("<pre>{}</pre>").format(data["text/plain"])


def _error(output: Mapping) -> str:
    words = _ANSI.sub("", output.evalue)
    return words if output.ename.endswith("Error") and output.traceback and len(output.traceback) == 1 else f"{output.ename}: {words}"


def _script_safe(figure: Mapping) -> Markup:
    """JSON that cannot end its script element, whatever the evidence holds."""
    return Markup(json.dumps(figure).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _plotly() -> Markup:
    from plotly.offline import get_plotlyjs

    return Markup(get_plotlyjs())
