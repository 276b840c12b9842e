"""The index of runs in a browser: who needs someone, filters, sorting, narrow and dark, and without scripts."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from casebook.runs import index as runs_index
from tests.browser.offline import SCHEMES, WIDTHS, Visit, visit

OFFLINE = [0, 0, 2, 13]
"""Partitions without leader in prod-events, run by run; staging stays as it is, and its last run dies."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of runs: one case gets worse, one is well, one could not be read to the end."""
    folder = tmp_path_factory.mktemp("runs")
    for day, offline in enumerate(OFFLINE, start=1):
        _run(folder, f"2026-11-{day:02}T03-07-00_10_triage_4be1", case="prod-events", offline=offline)
        _run(folder, f"2026-11-{day:02}T07-00-00_10_triage_c08d", case="prod-orders", offline=0)
    _run(
        folder,
        "2026-11-04T07-30-00_20_partition_leadership_77aa",
        case="staging",
        error="ZooKeeper at zk1:2181 cannot be reached.",
    )
    runs_index.write_index(folder)
    return folder


def _run(runs: Path, name: str, *, case: str, offline: int = 0, error: str | None = None) -> None:
    folder = runs / name
    folder.mkdir()
    day, time = name[:10], name[11:19].replace("-", ":")
    record = {"case": case, "notebook": name[20:-5], "started": f"{day}T{time}Z", "seconds": 9.2 + offline, "error": error}
    (folder / "run.json").write_text(json.dumps(record))
    (folder / "report.html").write_text("<title>report</title>")
    if error:
        return
    found = {"check": "leadership.offline", "status": "finding" if offline else "ok", "severity": "critical" if offline else None}
    found |= {
        "title": f"{offline} partitions have no leader",
        "facts": {"offline": offline},
        "since": None,
        "why": "",
        "next": [],
    }
    counts = {"ok": 15 - bool(offline), "finding": int(bool(offline)), "could_not_check": 1, "not_applicable": 0}
    document = {"worst": found["severity"], "completeness": counts, "findings": [found]}
    (folder / "findings.json").write_text(json.dumps(document))


@pytest.fixture(scope="module")
def opened(browser: Browser, runs: Path) -> Iterator[Visit]:
    with visit(browser, runs / "index.html") as seen:
        yield seen


@pytest.fixture
def index(opened: Visit) -> Iterator[Visit]:
    """The index, each time as it is first seen."""
    opened.page.reload()
    return opened


def _rows(seen: Visit) -> list[str]:
    return seen.page.locator("tbody tr:visible").all_inner_texts()


class TestReading:
    def test_it_stands_alone(self, index: Visit):
        """Nothing fails, nothing is asked for but the file."""
        assert index.errors == []
        assert set(index.requests) == {index.file.as_uri()}

    def test_who_needs_someone(self, index: Visit):
        """One sentence, the worst first, symbol and word beside the case."""
        sentence = " ".join(index.page.locator(".cb-needing").inner_text().split())
        assert sentence == "2 cases need attention: prod-events CRITICAL, staging COULD NOT COMPLETE. prod-orders OK."

    def test_what_changed(self, index: Visit):
        """Newest first; what changed is said with its numbers."""
        since = index.page.locator("tbody tr", has_text="prod-events").locator(".cb-since").all_inner_texts()
        assert since == ["1 worse: offline 2 → 13", "1 new: offline 2", "nothing", "first run"]

    def test_links_lead_to_reports(self, index: Visit):
        """Each run opens its own."""
        links = index.page.locator("tbody a").evaluate_all("links => links.map(a => a.getAttribute('href'))")
        assert [link for link in links if not (index.file.parent / link).is_file()] == []
        index.page.locator("tbody a").first.click()
        expect(index.page).to_have_title("report")
        index.page.go_back()

    def test_it_is_accessible(self, index: Visit):
        """Headings, tables, pictures and controls are what they say they are."""
        assert index.wrong() == []

    @pytest.mark.parametrize("scheme", SCHEMES)
    @pytest.mark.parametrize("width", WIDTHS)
    def test_it_fits(self, index: Visit, width: int, scheme: str):
        """No sideways scroll of the page or of the runs, no control too small to hit; a picture for who wants to look."""
        index.show(width=width, scheme=scheme)
        index.keep(f"runs-index-{width}-{scheme}")
        assert not index.scrolls_sideways()
        assert index.page.locator(".cb-runs").evaluate("runs => runs.scrollWidth - runs.clientWidth") == 0
        assert index.small_targets() == []


class TestFilters:
    def test_find(self, index: Visit):
        """As typed, in case, notebook and finding; how many are left is said."""
        index.page.get_by_label("Find").fill("cannot be reached")
        assert len(_rows(index)) == 1
        expect(index.page.locator("[data-cb-said]")).to_have_text("1 of 9 runs.")

    @pytest.mark.parametrize(
        ("name", "left"),
        [("critical 2", 2), ("ok 6", 6), ("could not complete 1", 1), ("only what changed", 5), ("newest of each case", 3)],
    )
    def test_choices(self, index: Visit, name: str, left: int):
        """Each says how many it will leave, or leaves what it says; a first run is a change."""
        index.page.get_by_role("radio", name=name).check(force=True)
        assert len(_rows(index)) == left

    @pytest.mark.parametrize(
        ("name", "choice", "left", "histories"),
        [
            ("case", "prod-events", 4, 1),
            ("case", "staging", 1, 0),
            ("notebook", "20 partition leadership", 1, 0),
            ("case", "all cases", 9, 1),
        ],
    )
    def test_case_and_notebook(self, index: Visit, name: str, choice: str, left: int, histories: int):
        """Chosen from what there is, for the runs and for the checks below them."""
        index.page.locator(f"select[name={name}]").select_option(label=choice, timeout=5000)
        assert len(_rows(index)) == left
        assert index.page.locator("main > details:visible").count() == histories

    def test_filters_add_up(self, index: Visit):
        """Worst and newest together."""
        index.page.get_by_role("radio", name="critical").check(force=True)
        index.page.get_by_role("radio", name="newest").check(force=True)
        assert ["13 partitions" in row for row in _rows(index)] == [True]

    def test_keyboard(self, index: Visit):
        """A group of choices is one stop; arrows move in it, and the ring is seen."""
        index.page.get_by_label("Find").press("Tab")
        index.page.keyboard.press("ArrowRight")
        expect(index.page.get_by_role("radio", name="critical")).to_be_checked()
        ring = "() => (s => [s.outlineStyle, s.outlineWidth])(getComputedStyle(document.activeElement.closest('label')))"
        assert index.page.evaluate(ring) == ["solid", "2px"]


class TestSort:
    def test_it_says_how_it_stands(self, index: Visit):
        """Newest first from the start; a click turns it."""
        when = index.page.locator("thead th").first
        expect(when).to_have_attribute("aria-sort", "descending")
        newest = _rows(index)[0]
        when.get_by_role("button").click()
        expect(when).to_have_attribute("aria-sort", "ascending")
        assert _rows(index)[-1] == newest

    def test_numbers_as_numbers(self, index: Visit):
        """By how long it took: 22 s is more than 9 s, and unknown stays out of the way."""
        index.page.get_by_role("button", name="Took").click()
        index.page.get_by_role("button", name="Took").click()
        assert "13 partitions" in _rows(index)[0]


class TestCheckByCheck:
    def test_it_is_folded_out_by_keyboard(self, index: Visit):
        """Closed at first; Enter opens it, and each check tells its numbers, run by run."""
        summary = index.page.locator("main > details summary")
        assert [row for row in index.page.locator(".cb-history tr").all() if row.is_visible()] == []
        summary.focus()
        index.page.keyboard.press("Enter")
        row = index.page.locator(".cb-history tbody tr")
        expect(row).to_be_visible()
        assert row.get_by_role("img").get_attribute("aria-label") == "last 4 runs: 0, 0, 2, 13"
        index.keep("runs-index-checks")
        assert index.wrong() == []
        assert index.small_targets() == []

    def test_it_is_sorted(self, index: Visit):
        """By name, number or outcome, as the table above."""
        index.page.locator("main > details summary").click()
        head = index.page.locator(".cb-history thead th").nth(1)
        head.get_by_role("button").click()
        expect(head).to_have_attribute("aria-sort", "ascending")


class TestWithoutScripts:
    def test_it_reads(self, browser: Browser, runs: Path):
        """Every row, and no control that does nothing; what is folded away opens."""
        with visit(browser, runs / "index.html", scripts=False) as seen:
            assert len(_rows(seen)) == 9
            seen.page.locator("main > details summary").click()
            assert len(_rows(seen)) == 10
            assert [control for control in seen.page.locator("form, button").all() if control.is_visible()] == []
