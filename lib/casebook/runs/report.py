"""Convert an executed notebook to one self-contained HTML file: no code, no network, readable without scripts.

nbconvert's HTML drops Plotly charts, keeps prompts, and loads four libraries from the network, so only its Markdown is used; the
page has its own template.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from urllib.parse import unquote

from markupsafe import Markup

from casebook import __version__
from casebook.case.case import LIVE
from casebook.errors import CasebookError
from casebook.machine import whole
from casebook.page import drawing, text
from casebook.page.assets import asset, stylesheet
from casebook.page.render import render, script_safe
from casebook.page.view import PLOTLY, SVG
from casebook.runs import jupyter

NOTEBOOK, REPORT = "notebook.ipynb", "report.html"
_BLANK = {
    "notebook": None,
    "source": None,
    "case": None,
    "collected_at": None,
    "parameters": {},
    "error": None,
}  # missing after an early failure
_UNSHOWN = frozenset({"report-skip", "papermill-error-cell-tag"})  # the latter is papermill's banner
_RAIL, _HALF = "rail", "half"
_PLAIN = Markup('<pre class="cb-plain">{}</pre>')
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_ID = re.compile(r'\sid="([^"]+)"')
_LINK = re.compile(r'<a\b[^>]*?\shref="(?P<target>[^"]*)"[^>]*>(?P<said>.*?)</a>', re.DOTALL)
_COUNT = re.compile(r'\A\s*<div\b[^>]*>\s*(?P<whole><p class="cb-count">(?P<said>.*?)</p>)', re.DOTALL)
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


@dataclass(slots=True, kw_only=True)
class _Page:
    """A report under construction.

    Args:
        title: Question: the first heading.
        head: Content above the columns: the verdict.
        main: Sections in order; a pair of halves is a list of two.
        rail: The side column.
        errors: Errors that ended the notebook.
        figures: Number of charts so far.
    """

    title: str = ""
    head: list[Markup] = field(default_factory=list)
    main: list[Markup | list[Markup]] = field(default_factory=list)
    rail: list[Markup] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    figures: int = 0


def write_run_report(folder: Path, *, run_id: str) -> Path:
    """Write ``report.html`` in a run folder.

    Args:
        run_id: The run's final name, shown in the header.

    Raises:
        CasebookError: The notebook is damaged.
    """
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    path = folder / REPORT
    html = report(_executed(folder / NOTEBOOK), record=record, run_id=run_id, folder=folder)
    whole.write(path, html)
    return path


def _executed(path: Path) -> Mapping:
    nbformat = jupyter.imported("nbformat")
    invalid: dict[str, Exception] = {}
    try:
        notebook = nbformat.read(path, as_version=4, capture_validation_error=invalid)
    except (nbformat.ValidationError, OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        invalid["while reading"] = error  # nbformat raises any error
    if invalid:
        raise CasebookError(
            f"{path} is damaged: it is not a notebook.",
            cause="The disk was full, or the file was cut or changed after the run.",
            try_="Run the notebook again.",
        )
    return notebook


def report(notebook: Mapping, *, record: Mapping[str, object], run_id: str, folder: Path | None = None) -> str:
    """Return the page of an executed notebook.

    Args:
        notebook: As read by nbformat.
        record: ``run.json``: case, time of collection, parameters, error.
        run_id: Name of the run.
        folder: Future folder of the page: links to files that do not exist there become plain text. ``None`` to keep all links.
    """
    record = _BLANK | record
    page = _page(notebook)
    if record["error"] and not page.errors:
        page.errors.append(str(record["error"]))  # a dead kernel leaves no trace in its notebook
    if page.errors:
        page.head.clear()  # it announces a verdict that does not follow
    page.title = page.title or str(record["notebook"] or run_id)
    _unlink(page, folder)
    plotly = _plotly() if page.figures else None
    context = {
        "page": page,
        "record": record,
        "live": str(record["case"]).startswith(LIVE),
        "run_id": run_id,
        "version": __version__,
        "style": stylesheet() + Markup(asset("report.css")),
        "script": Markup(asset("casebook.js")),
        "plotly": plotly,
    }
    size = len(render("report", **context, size="").encode(errors="replace"))
    return str(render("report", **context, size=text.size(size)))


def _page(notebook: Mapping) -> _Page:
    page = _Page()
    half: list[Markup] = []
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", ())
        parts = list(_shown(cell, page))
        if page.errors:
            break  # later cells did not run: questions without answers
        if not _UNSHOWN.isdisjoint(tags) or not parts:
            continue
        if _HALF in tags:
            half = _add_half(page, half, cell.cell_type, parts)
            continue
        half = []
        where = page.rail if _RAIL in tags else page.main if page.main or cell.cell_type == "markdown" else page.head
        where.extend(parts)
    _lift_counts(page)
    return page


def _lift_counts(page: _Page) -> None:
    """Move the count of a section into its heading: a notebook can show it only in the cell below."""
    for at in range(1, len(page.main)):
        above, part = page.main[at - 1 : at + 1]
        if isinstance(above, str) and isinstance(part, str):
            page.main[at - 1 : at + 1] = _lifted(above, part)


def _lifted(above: Markup, part: Markup) -> tuple[Markup, Markup]:
    """Return a heading with the count at the start of a part, and the part without it."""
    count = _COUNT.match(part) if "</h2>" in above else None
    if count is None:
        return above, part
    beside = f' <span class="cb-count">{count["said"]}</span></h2>'
    return Markup(str(above).replace("</h2>", beside, 1)), Markup(str(part).replace(count["whole"], "", 1))


def _add_half(page: _Page, half: list[Markup], cell_type: str, parts: list[Markup]) -> list[Markup]:
    """Add parts to a pair of columns; each half starts with its Markdown."""
    if not half or (cell_type == "markdown" and len(half) == 2):
        half = []
        page.main.append(half)
    if cell_type == "markdown" or not half:
        half.append(Markup().join(parts))
    else:
        half[-1] = Markup().join(_lifted(half[-1], Markup().join(parts)))
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
    elif output.output_type == "stream":
        if output.name == "stdout":
            yield _PLAIN.format(_ANSI.sub("", output.text))
    else:
        yield from _data(output.get("data", {}), page)


def _data(data: Mapping, page: _Page) -> Iterator[Markup]:
    """Return the richest static form; a widget has none, and its static twin is shown instead."""
    if PLOTLY in data:
        page.figures += 1
        picture = drawing.of_page(data.get(SVG, ""))
        chart = script_safe(data[PLOTLY])
        yield render("figure", number=page.figures, figure=chart, picture=picture, alternative=data.get("text/plain", ""))
    elif "text/html" in data:
        if not data["text/html"].startswith("<style>"):  # the notebook's own copy of the stylesheet
            yield Markup(data["text/html"])
    elif "text/plain" in data and not any("widget" in kind for kind in data):
        yield _PLAIN.format(data["text/plain"])


def _error(output: Mapping) -> str:
    words = _ANSI.sub("", output.evalue)
    return (
        words
        if output.ename.endswith("Error") and output.traceback and len(output.traceback) == 1
        else f"{output.ename}: {words}"
    )


def _unlink(page: _Page, folder: Path | None) -> None:
    """Replace broken links by their text: a target in another notebook's page, or a table that was not written."""
    everything = Markup().join([*page.head, *page.rail, *(part for part in page.main if isinstance(part, str)), *_halves(page)])
    ids = set(_ID.findall(everything))

    def live(link: re.Match) -> str:
        target = unescape(link["target"])
        if target.startswith("#"):
            found = unquote(target[1:]) in ids
        elif folder is None or _ELSEWHERE.match(target):
            found = True
        else:
            found = (folder / unquote(target.partition("#")[0])).exists()
        return link[0] if found else link["said"]

    def mended(part: Markup) -> Markup:
        return Markup(_LINK.sub(live, part))

    page.head = [mended(part) for part in page.head]
    page.rail = [mended(part) for part in page.rail]
    page.main = [mended(part) if isinstance(part, str) else [mended(half) for half in part] for part in page.main]


def _halves(page: _Page) -> Iterator[Markup]:
    for part in page.main:
        if not isinstance(part, str):
            yield from part


def _plotly() -> Markup:
    from plotly.offline import get_plotlyjs

    return Markup(get_plotlyjs())
