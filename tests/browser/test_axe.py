"""axe-core finds no fault in a report of any notebook, nor in the index of runs, by day and by night."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from casebook.runs import notebooks, parameters
from tests.browser.axe import faults
from tests.browser.offline import SCHEMES, visit

HEADLESS = {notebook.stem: str(parameters.of_notebook(notebook.path)[0].default) for notebook in notebooks.every()}
"""Each notebook with the sample that it comes with."""


@pytest.mark.parametrize(("stem", "source"), HEADLESS.items())
def test_reports(browser: Browser, run, stem: str, source: str):
    """Each with its folds open, as axe passes over what is hidden; colours twice."""
    _faultless(browser, run(stem, source).folder / "report.html")


def test_runs_index(browser: Browser, run, runs_dir: Path):
    """Over the runs of all these."""
    run("10_triage", "sample:leader_minus_one")
    _faultless(browser, runs_dir / "index.html")


def test_the_checker_finds_faults(browser: Browser, tmp_path: Path):
    """A grey that nobody can read by night, and a picture without words."""
    page = tmp_path / "page.html"
    page.write_text(
        "<!doctype html><html lang=en><title>t</title><style>@media (prefers-color-scheme: dark) {body {background: #121518; color: #333}}"
        "</style><main><h1>One</h1><details><summary>fold</summary><img src='data:,'></details></main></html>"
    )
    with visit(browser, page) as seen:
        assert [fault.split(":")[1].strip() for fault in faults(seen.page)] == ["image-alt"]
        seen.show(width=1280, scheme="dark")
        assert "color-contrast" in json.dumps(faults(seen.page, colours_alone=True))


def _faultless(browser: Browser, file: Path) -> None:
    light, dark = SCHEMES
    with visit(browser, file, scheme=light) as seen:
        assert faults(seen.page) == []
        seen.show(width=1280, scheme=dark)
        assert faults(seen.page, colours_alone=True) == []
