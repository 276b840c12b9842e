"""Reports opened from the file system, network off: drawn, legible, usable, and readable without scripts."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.offline import ARTEFACTS, SCHEMES, WIDTHS, Visit, visit

INCIDENT, HEALTHY = "sample:leader_minus_one", "sample:healthy"
LEADERSHIP = ("20_partition_leadership", INCIDENT)
REPORTS = [
    LEADERSHIP,
    ("10_triage", INCIDENT),
    ("00_start_here", INCIDENT),
    ("05_walkthrough", INCIDENT),
    ("10_triage", HEALTHY),
    ("20_partition_leadership", HEALTHY),
    ("30_broker_maintenance", "sample:kill_before_drain"),
    ("60_incident_timeline", "sample:acks1_loss"),
    ("70_message_loss", "sample:isr_shrunk_loss"),
    ("80_durability_audit", "sample:isr_shrunk_loss"),
]
EXTERNAL = {"kafka.apache.org", "cwiki.apache.org"}


def _named(report: tuple[str, str]) -> str:
    return f"{report[0]}-{report[1].removeprefix('sample:')}"


@pytest.fixture(scope="module", params=REPORTS, ids=_named)
def any_report(request: pytest.FixtureRequest, browser: Browser, run) -> Iterator[Visit]:
    """Each of the reports in turn, opened once."""
    with visit(browser, run(*request.param).folder / "report.html") as seen:
        yield seen


@pytest.fixture(scope="module")
def leadership(run) -> Path:
    """The report that has everything: chart, map, long table, and a what-if in which broker 5 has been started."""
    return run(*LEADERSHIP, alive="2,3,4,5").folder / "report.html"


@pytest.fixture(scope="module")
def opened(browser: Browser, leadership: Path) -> Iterator[Page]:
    """That report, wide and light, opened once: each test leaves it usable for the next."""
    with visit(browser, leadership) as seen:
        yield seen.page


@pytest.fixture(scope="module")
def plain(browser: Browser, leadership: Path) -> Iterator[Visit]:
    """That report without scripts."""
    with visit(browser, leadership, scripts=False) as seen:
        yield seen


def _drawn(page: Page) -> list[bool]:
    """For every chart of the page, whether Plotly drew bars or points into it."""
    marks = ".main-svg .bars path, .main-svg .scatterlayer .point"
    return page.locator(".cb-chart").evaluate_all(
        "(charts, marks) => charts.map(c => !!c.querySelector(marks) && c.getBoundingClientRect().height > 100)", marks
    )


def _column(page: Page, table: str, column: int) -> list[str]:
    return page.locator(f"#cb-{table} tbody tr:visible > :nth-child({column})").all_inner_texts()


class TestAlone:
    """One file and nothing else."""

    def test_it_is_drawn_without_network(self, any_report: Visit):
        """Every figure is drawn, nothing fails, nothing is asked for but the file."""
        assert _drawn(any_report.page) == [True] * any_report.page.locator("[data-cb-figure]").count()
        assert any_report.errors == []
        assert any_report.requests == [any_report.file.as_uri()]

    def test_links_lead_somewhere(self, any_report: Visit):
        """Into the page, into the run's folder, or to documentation; what is saved from the page is inside it."""
        assert any_report.dead_links() == []
        links = any_report.page.locator("a[href]")
        hrefs = links.evaluate_all("links => links.filter(a => !a.download).map(a => a.getAttribute('href'))")
        saved = links.evaluate_all("links => links.filter(a => a.download).map(a => a.protocol)")
        assert set(saved) <= {"data:"}
        targets = [urlsplit(href) for href in hrefs if not href.startswith("#")]
        assert {target.netloc for target in targets if target.scheme} <= EXTERNAL
        assert [t.path for t in targets if not t.scheme and not (any_report.file.parent / unquote(t.path)).exists()] == []

    def test_it_is_accessible(self, any_report: Visit):
        """Headings, tables, pictures and controls are what they say they are."""
        assert any_report.wrong() == []

    @pytest.mark.parametrize("scheme", SCHEMES)
    @pytest.mark.parametrize("width", WIDTHS)
    def test_it_fits(self, request: pytest.FixtureRequest, any_report: Visit, width: int, scheme: str):
        """No sideways scroll of the page, no control too small to hit; a picture for who wants to look."""
        name = _named(request.node.callspec.params["any_report"])
        any_report.show(width=width, scheme=scheme)
        any_report.keep(f"{name}-{width}-{scheme}")
        assert not any_report.scrolls_sideways()
        assert any_report.small_targets() == []


def test_a_verdict_is_whole_on_a_narrow_page(opened: Page):
    """Each cell of it lies within the page, beside the head of its column; those that a search hides stay hidden."""
    opened.set_viewport_size({"width": 390, "height": 900})
    row = opened.locator("#cb-verdicts tbody tr", has_text="orders-2")
    boxes = row.locator("td").evaluate_all(
        "cells => cells.map(c => [c.firstElementChild.getBoundingClientRect().right, c.offsetHeight])"
    )
    assert len(boxes) == 8 and all(right <= 390 and height for right, height in boxes)
    heads = row.locator("td").evaluate_all("cells => cells.map(c => getComputedStyle(c, '::before').content)")
    assert heads[:2] == ['"State"', '"Replicas"']
    opened.get_by_label("Find").first.fill("orders-3")
    expect(row).to_be_hidden()
    opened.get_by_label("Find").first.fill("")
    opened.set_viewport_size({"width": 1280, "height": 900})


class TestUse:
    """Search, sort, proof, keyboard."""

    def test_search(self, opened: Page):
        """Rows that do not hold the words go; how many are left is said."""
        rows = len(_column(opened, "verdicts", 1))
        field = opened.get_by_label("Find")
        field.fill("sessions")
        found = _column(opened, "verdicts", 1)
        assert 0 < len(found) < rows
        assert all("sessions" in name for name in found)
        expect(opened.locator("[data-cb-found]")).to_have_text(f"{len(found)} of {rows} rows")
        field.fill("")
        assert len(_column(opened, "verdicts", 1)) == rows

    def test_sort(self, opened: Page):
        """A head is a button; it says which way it sorts, and only one does."""
        head = opened.locator("#cb-verdicts thead th").first
        for direction in ("ascending", "descending"):
            head.get_by_role("button").press("Enter")
            expect(head).to_have_attribute("aria-sort", direction)
            assert _column(opened, "verdicts", 1) == sorted(_column(opened, "verdicts", 1), reverse=direction == "descending")
        opened.get_by_role("button", name="Replicas").click()
        expect(opened.locator("#cb-verdicts th[aria-sort]")).to_have_text("Replicas")

    def test_proof(self, opened: Page):
        """A proof link opens the evidence and shows the znode as it was read."""
        link = opened.locator("#cb-verdicts a.cb-proof").first
        path, anchor = link.get_attribute("title"), link.get_attribute("href")
        assert not opened.locator(anchor).is_visible()
        link.click()
        expect(opened.locator(anchor)).to_be_in_viewport()
        expect(opened.locator(anchor)).to_have_text(path)
        expect(opened.locator(f"{anchor} + dd")).to_contain_text('"leader":')

    def test_copy(self, opened: Page):
        """The command that gives the same answer headless goes to the clipboard whole."""
        opened.context.grant_permissions(["clipboard-read", "clipboard-write"])
        command = opened.locator(".cb-what-if .cb-command")
        command.get_by_role("button").click()
        expect(command.get_by_role("button")).to_have_text("Copied")
        assert opened.evaluate("navigator.clipboard.readText()") == command.locator("code").inner_text()

    def test_what_cannot_be_pressed_looks_like_text(self, opened: Page):
        """Without widgets brokers and choices stand there as words: no frame, no fill, in either scheme."""
        drawn = """() => [...document.querySelectorAll('.cb-what-if .cb-chip')].map(mark => getComputedStyle(mark))
            .map(s => [s.borderTopWidth, s.outlineStyle, s.backgroundColor].join(' '))"""
        for scheme in ("dark", "light"):
            opened.emulate_media(color_scheme=scheme)
            assert set(opened.evaluate(drawn)) == {"0px none rgba(0, 0, 0, 0)"}

    def test_focus_is_seen(self, opened: Page):
        """The keyboard's place is ringed, 2 px wide and 2 px off."""
        opened.keyboard.press("Tab")
        ring = opened.evaluate(
            "() => (s => [s.outlineStyle, s.outlineWidth, s.outlineOffset])(getComputedStyle(document.activeElement))"
        )
        assert ring == ["solid", "2px", "2px"]


class TestScheme:
    """Light and dark are two real sets of colours."""

    def test_the_chart_follows_it(self, opened: Page):
        """Also when the scheme changes after the chart was drawn."""
        drawn = """() => [...document.querySelectorAll('.cb-chart :is(.bars path, .annotation-text)')]
            .map(mark => getComputedStyle(mark).fill)"""
        light = opened.evaluate(drawn)
        opened.emulate_media(color_scheme="dark")
        opened.wait_for_function(f"light => ({drawn})()[0] !== light[0]", arg=light)
        assert {"rgb(255, 154, 92)", "rgb(233, 236, 238)", "rgb(152, 161, 170)"} <= set(opened.evaluate(drawn))


class TestPaper:
    """What is printed is what is read at a desk by someone without this page."""

    def test_it_prints(self, opened: Page):
        """From a dark screen: light, controls gone, short details open, charts within the page; then all as before."""
        before = opened.locator("details[open]").count()
        opened.emulate_media(media="print", color_scheme="dark")
        opened.evaluate("() => dispatchEvent(new Event('beforeprint'))")
        assert opened.evaluate("() => getComputedStyle(document.querySelector('.cb-verdict')).color") == "rgb(26, 30, 34)"
        assert opened.locator("details[open]").count() > before
        assert not opened.locator("[data-cb-copy]").first.is_visible()
        assert opened.locator(".cb-chart .main-svg").first.bounding_box()["width"] <= 640
        opened.evaluate("() => dispatchEvent(new Event('afterprint'))")
        opened.emulate_media(media="screen", color_scheme="light")
        assert opened.locator("details[open]").count() == before

    def test_a_long_table_ends(self, browser: Browser, run):
        """Forty of two hundred lost records are printed, and the page says where the others are."""
        with visit(browser, run("70_message_loss", "sample:acks1_loss").folder / "report.html") as seen:
            seen.page.emulate_media(media="print")
            rows = seen.page.locator("[data-cb-table=lost] tbody tr")
            assert (rows.count(), sum(row.is_visible() for row in rows.all())) == (200, 40)

    @pytest.mark.parametrize("source", [INCIDENT, "sample:commit_before_processing"])
    def test_triage_on_two_pages(self, browser: Browser, run, source: str):
        """With many findings, and with none but many checks."""
        with visit(browser, run("10_triage", source).folder / "report.html") as seen:
            pages = seen.page.pdf(format="A4", prefer_css_page_size=True)
        assert len(re.findall(rb"/Type\s*/Page\b", pages)) == 2

    def test_pdf(self, opened: Page):
        """Paper for who wants to look."""
        ARTEFACTS.mkdir(parents=True, exist_ok=True)
        assert opened.pdf(path=ARTEFACTS / "20_partition_leadership.pdf", format="A4").startswith(b"%PDF")


class TestWithoutScripts:
    """Everything but search, sort and copying."""

    def test_it_reads(self, plain: Visit):
        """Verdict, picture, map, tables and the what-if at its parameters are there."""
        for part in (
            ".cb-verdict",
            ".cb-brokers",
            ".cb-static",
            ".cb-map",
            "#cb-costs",
            "#cb-verdicts",
            ".cb-what-if .cb-result",
        ):
            expect(plain.page.locator(part).first).to_be_visible()
        expect(plain.page.locator(".cb-what-if")).to_contain_text("✓ 5 (changed)")
        plain.keep("20_partition_leadership-no-scripts")

    def test_nothing_is_empty_or_dead(self, plain: Visit):
        """No empty box where a chart would be, no control that does nothing."""
        assert [box for box in plain.page.locator(".cb-chart").all() if box.is_visible()] == []
        assert [box for box in plain.page.locator("button, input").all() if box.is_visible()] == []

    def test_findings_read(self, browser: Browser, run):
        """The triage's findings with advice and proof."""
        with visit(browser, run("10_triage", INCIDENT).folder / "report.html", scripts=False) as seen:
            finding = seen.page.locator(".cb-finding").first
            for part in ("h3", ".cb-word", ".cb-command", ".cb-proof"):
                expect(finding.locator(part).first).to_be_visible()
