"""Notebook 70's report in a browser: it fits, nothing in its pictures is cut off, and without scripts everything is there."""

from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, expect

from casebook.page import proof
from casebook.page.context import PanelContext
from casebook.page.view import _bundle
from casebook.questions.loss.views import choice
from casebook.questions.loss.views.loss import LossPage
from casebook.runs import notebooks, report
from tests.browser.offline import SCHEMES, WIDTHS, Visit, visit
from tests.questions.loss.lost import morning

CUT_OFF = """() => [...document.querySelectorAll('.js-plotly-plot')].flatMap(chart => {
    const edges = chart.getBoundingClientRect();
    return [...chart.querySelectorAll('.annotation-text, .xtick text, .ytick text')].filter(text => {
        const box = text.getBoundingClientRect();
        return box.width && (box.left < edges.left - 1 || box.right > edges.right + 1 || box.bottom > edges.bottom + 1);
    }).map(text => text.textContent);
})"""
COVERED = """() => [...document.querySelectorAll('.js-plotly-plot')].flatMap(chart => {
    const boxes = [...chart.querySelectorAll('.annotation-text')].map(text => [text.textContent, text.getBoundingClientRect()])
        .filter(([, box]) => box.width);
    return boxes.flatMap(([one, a], n) => boxes.slice(n + 1)
        .filter(([, b]) => a.left < b.right - 2 && b.left < a.right - 2 && a.top < b.bottom - 4 && b.top < a.bottom - 4)
        .map(([other]) => `${one} / ${other}`));
})"""
CHARTS = 3


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the morning made by hand, as the notebook shows it."""
    found = morning()
    desk = LossPage(found, choice.parse(found), PanelContext(source="case"))
    notebook = nbformat.read(notebooks.find("70_message_loss").path, as_version=4)
    cites: list[str] = []
    for cell in notebook.cells:
        shown = [
            line.split("page.")[1].partition("(")[0] for line in cell.source.splitlines() if line.startswith("book.show(page.")
        ]
        views = [getattr(desk, name)() for name in shown if cell.cell_type == "code"]
        cites += [cite for view in views for cite in view.cites]
        parts = [part for view in views for part in view.parts]
        if cell.source.startswith("book.finish"):
            parts = proof.cited((), [proof.ProofLine(cite, "the line") for cite in dict.fromkeys(cites)]).parts
        if parts:
            cell.outputs = [nbformat.v4.new_output("display_data", data=_bundle(part)) for part in parts]
    path = tmp_path_factory.mktemp("loss") / "report.html"
    record = {"notebook": "70_message_loss", "case": "morning", "collected_at": "2019-10-12T12:00:00Z"}
    path.write_text(report.report(notebook, record=record, run_id="run"), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def opened(browser: Browser, path: Path) -> Iterator[Visit]:
    with visit(browser, path) as seen:
        expect(seen.page.locator(".js-plotly-plot .main-svg .bglayer")).to_have_count(CHARTS)
        yield seen


class TestPage:
    """As a person meets it."""

    def test_it_is_accessible(self, opened):
        """By keyboard and by ear, with targets that can be hit, and links that lead somewhere."""
        assert opened.wrong() == []
        assert opened.small_targets() == []
        assert [link for link in opened.dead_links() if not link.startswith("#proof-")] == []
        assert opened.errors == []

    @pytest.mark.parametrize("scheme", SCHEMES)
    @pytest.mark.parametrize("width", WIDTHS)
    def test_it_fits(self, opened, width, scheme):
        """No sideways scroll of the page; in no picture a text that is cut off, or covers another."""
        opened.show(width=width, scheme=scheme)
        opened.drawn()
        opened.keep(f"loss-{width}-{scheme}")
        assert not opened.scrolls_sideways()
        assert opened.page.evaluate(CUT_OFF) == []
        assert opened.page.evaluate(COVERED) == []

    def test_records_are_found_as_typed(self, opened):
        """The search hides what does not hold the words."""
        table = opened.page.locator('[data-cb-table="lost"]')
        table.locator("[data-cb-search]").fill("o-5519")
        expect(table.locator("[data-cb-found]")).to_have_text("1 of 12 rows")
        expect(table.locator("tbody tr:visible")).to_have_count(1)

    def test_without_scripts_everything_is_there(self, browser, path):
        """Each picture stands still, with every mark, and every table is open to read."""
        with visit(browser, path, scripts=False) as plain:
            page = plain.page
            expect(page.locator("svg.cb-lanes:visible")).to_have_count(CHARTS)
            expect(page.locator("svg.cb-lanes .disc")).to_have_count(11)
            expect(page.locator("svg.cb-lanes .open")).to_have_count(2)
            expect(page.locator(".cb-chart:visible")).to_have_count(0)
            assert not plain.scrolls_sideways()
