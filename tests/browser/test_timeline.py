"""Notebook 60's report in a browser: the picture zooms, and the tables follow; without scripts everything is there."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, Page, expect

from casebook.page import proof
from casebook.page.context import PanelContext
from casebook.page.view import _bundle
from casebook.questions.timeline.analysis import selection
from casebook.questions.timeline.views.timeline import TimelinePage
from casebook.runs import notebooks, report
from tests.browser.offline import SCHEMES, WIDTHS, Visit, visit
from tests.questions.timeline.minute import measured, minute

STILL = """area => new Promise(done => {
    let still = 0, before = null;
    const look = () => {
        const { x, y, width, height } = area.getBoundingClientRect(), now = [x, y, width, height].join();
        still = now === before ? still + 1 : 0;
        before = now;
        if (still < 30) requestAnimationFrame(look); else done();
    };
    look();
})"""
SHOWN = "() => [...document.querySelectorAll('%s')].filter(row => row.offsetParent).length"
CUT_OFF = """() => {
    const edges = document.querySelector('.js-plotly-plot').getBoundingClientRect();
    return [...document.querySelectorAll('.js-plotly-plot .annotation-text')].filter(text => {
        const box = text.getBoundingClientRect();
        return box.width && (box.left < edges.left - 1 || box.right > edges.right + 1);
    }).map(text => text.textContent);
}"""
EVENTS, STORY = SHOWN % "#cb-events tbody tr", SHOWN % ".cb-story li"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the minute made by hand, as the notebook shows it."""
    found = minute(hosts=measured())
    desk = TimelinePage(found, selection.parse(found), PanelContext(source="case", case="minute"))
    notebook = nbformat.read(notebooks.find("60_incident_timeline").path, as_version=4)
    cites: list[str] = []
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.source.startswith("book.show(page."):
            view = getattr(desk, cell.source.split("page.")[1].partition("(")[0])()
            cites += view.cites
            cell.outputs = [nbformat.v4.new_output("display_data", data=_bundle(part)) for part in view.parts]
        if cell.source.startswith("book.finish"):
            quoted = proof.cited(
                (), [proof.ProofLine(cite, "the line", ("before",), ("after",)) for cite in dict.fromkeys(cites)]
            )
            cell.outputs = [nbformat.v4.new_output("display_data", data=_bundle(part)) for part in quoted.parts]
    record = {"notebook": "60_incident_timeline", "case": "minute", "collected_at": "2019-10-12T11:03:48Z"}
    path = tmp_path_factory.mktemp("timeline") / "report.html"
    path.write_text(report.report(notebook, record=record, run_id="run"), encoding="utf-8")
    return path


@pytest.fixture
def opened(browser: Browser, path: Path) -> Iterator[Visit]:
    with visit(browser, path) as seen:
        seen.page.wait_for_selector(".js-plotly-plot .main-svg")
        yield seen


def brush(page: Page, begin: float, end: float) -> None:
    """Drag over a part of the picture's width, once it stands still."""
    area = page.locator(".js-plotly-plot .nsewdrag").first
    area.evaluate(STILL)
    box = area.bounding_box()
    height = box["y"] + box["height"] * 0.6
    page.mouse.move(box["x"] + box["width"] * begin, height)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * (begin + end) / 2, height, steps=6)
    page.mouse.move(box["x"] + box["width"] * end, height, steps=6)
    page.mouse.up()


class TestRange:
    def test_a_brushed_range_filters_every_table_and_is_stated(self, opened):
        """Those outside are hidden, and come back."""
        page = opened.page
        assert (page.evaluate(EVENTS), page.evaluate(STORY)) == (14, 8)
        brush(page, 0.55, 0.65)
        expect(page.locator("[data-cb-range-said]")).to_contain_text("the tables below follow")
        assert (page.evaluate(EVENTS), page.evaluate(STORY)) == (4, 2)
        expect(page.locator("[data-cb-range-said]")).to_contain_text("of 14 events")
        page.locator("[data-cb-back]").click()
        page.wait_for_function(f"{EVENTS.removeprefix('() => ')} === 14")
        assert opened.errors == []

    def test_the_same_by_keyboard(self, opened):
        """Two fields take times of day."""
        page = opened.page
        page.locator("[data-cb-since]").fill("11:03:43.9")
        page.keyboard.press("Tab")
        page.wait_for_function(f"{STORY.removeprefix('() => ')} === 1")

    def test_a_number_leads_to_its_sentence(self, opened):
        """A click on the disc points at the sentence."""
        disc = opened.page.locator(".js-plotly-plot .textpoint").nth(1).bounding_box()
        opened.page.mouse.click(disc["x"] + disc["width"] / 2, disc["y"] + disc["height"] / 2)
        expect(opened.page.locator(".cb-pointed")).to_have_count(1)
        expect(opened.page.locator(".cb-pointed .cb-disc")).to_have_count(1)

    def test_files_are_saved_from_the_page(self, opened):
        """No network is needed."""
        with opened.page.expect_download() as saved:
            opened.page.get_by_role("link", name="CSV").click()
        assert saved.value.suggested_filename == "minute-timeline.csv"
        assert "88120417" in saved.value.path().read_text()


class TestLegible:
    @pytest.mark.parametrize("scheme", SCHEMES)
    @pytest.mark.parametrize("width", WIDTHS)
    def test_nothing_scrolls_sideways(self, browser, path, width, scheme):
        """Wide, middle, narrow; light and dark."""
        with visit(browser, path, width=width, scheme=scheme) as seen:
            assert not seen.scrolls_sideways()
            assert seen.small_targets() == []

    def test_a_narrow_picture_names_whoever_leads(self, browser, path):
        """Each partition with its old and its new leader, in fewer words; none of what is written is cut off at an edge."""
        with visit(browser, path, width=390) as seen:
            seen.page.wait_for_selector(".js-plotly-plot[data-cb-fitted]")
            texts = seen.page.locator(".js-plotly-plot .annotation-text").all_text_contents()
            partitions = [text for text in texts if re.fullmatch(r"(orders|payments)-\d", text)]
            leaders = Counter(match[1] for text in texts if (match := re.match(r"(5\d)( leads|$)", text)))
            assert leaders == Counter(str(leader) for w in minute().windows for leader in (w.old_leader, w.new_leader))
            assert len(partitions) == len(minute().windows)
            assert seen.page.evaluate(CUT_OFF) == []

    def test_nobody_stumbles(self, opened):
        """Names, labels, headings, targets of links; nothing is asked for."""
        assert opened.wrong() == []
        assert opened.dead_links() == []
        assert [address for address in opened.requests if not address.startswith("file:")] == []

    def test_without_scripts_the_picture_and_every_row_are_there(self, browser, path):
        """The static drawing stands in, and no control is shown that would do nothing."""
        with visit(browser, path, scripts=False) as seen:
            expect(seen.page.locator("svg.cb-lanes")).to_be_visible()
            expect(seen.page.locator("#cb-events tbody tr")).to_have_count(14)
            expect(seen.page.locator("[data-cb-range]")).to_be_hidden()
            expect(seen.page.get_by_role("link", name="Markdown")).to_be_visible()
