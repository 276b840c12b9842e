"""Notebooks in a real JupyterLab in a real browser: run all, use the panels, see the answers change."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from casebook import places

ARTEFACTS = Path(os.environ.get("CASEBOOK_ARTEFACTS") or places.checkout() / "build" / "artefacts")
RUN_ALL = """async () => {
    const app = window.jupyterapp;
    await app.restored;
    const panel = app.shell.currentWidget;
    await panel.context.ready; await panel.revealed; await panel.sessionContext.ready;
    while (!panel.sessionContext.session?.kernel) await new Promise(r => setTimeout(r, 100));
    await panel.sessionContext.session.kernel.info;
    return await app.commands.execute('notebook:run-all-cells');
}"""
ERRORS = """() => [...window.jupyterapp.shell.currentWidget.content.model.cells]
    .filter(c => c.type === 'code').flatMap(c => c.outputs.toJSON()).filter(o => o.output_type === 'error').map(o => o.evalue)"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a JupyterLab on a copy of the notebooks."""
    home = tmp_path_factory.mktemp("lab")
    shutil.copytree(places.notebooks_dir(), home / "notebooks")
    shutil.copytree(places.checkout() / "docs", home / "docs")
    settings = home / "config" / "labconfig"
    settings.mkdir(parents=True)
    (settings / "default_setting_overrides.json").write_text(
        json.dumps(
            {
                "@jupyterlab/apputils-extension:notification": {
                    "fetchNews": "false",
                    "checkForUpdates": False,
                    "doNotDisturbMode": True,
                }
            }
        )
    )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0",
         "--IdentityProvider.token=", "--expose-app-in-browser", f"--notebook-dir={home}"],
        env=os.environ | {"JUPYTER_CONFIG_PATH": str(home / "config"), "CASEBOOK_RUNS": str(home / "runs")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        _wait_until_up(f"http://127.0.0.1:{port}/api/status", server)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(timeout=20)


def _wait_until_up(address: str, server: subprocess.Popen) -> None:
    for _ in range(150):
        assert server.poll() is None, "JupyterLab ended at once"
        try:
            urllib.request.urlopen(address, timeout=1).read()
            return
        except OSError:
            time.sleep(0.2)
    raise AssertionError("JupyterLab did not come up")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A real browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


def _run_all(browser: Browser, lab: str, notebook: str) -> Page:
    """A page with the notebook, all its cells run."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(90_000)
    page.goto(f"{lab}/lab/tree/notebooks/{notebook}.ipynb?reset")
    page.wait_for_function("() => window.jupyterapp?.shell?.currentWidget?.context")
    assert page.evaluate(RUN_ALL), page.evaluate(ERRORS)
    return page


@pytest.fixture(scope="module")
def page(browser: Browser, lab: str) -> Page:
    """Notebook 20, all cells run."""
    return _run_all(browser, lab, "20_partition_leadership")


def _screenshot(page: Page, name: str) -> None:
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"{name}.png")


class TestNotebook20:
    """What a person on call does first."""

    def test_all_cells_run(self, page: Page):
        """No cell ends in an error, and the verdict stands at the top."""
        assert page.evaluate(ERRORS) == []
        expect(page.locator(".cb-verdict").first).to_contain_text("CRITICAL")
        _screenshot(page, "jupyterlab-20-top")

    def test_the_chart_is_drawn(self, page: Page):
        """The who-to-start-first chart is a picture, not a blank."""
        page.locator(".js-plotly-plot .main-svg").first.scroll_into_view_if_needed()
        expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
        _screenshot(page, "jupyterlab-20-chart")

    def test_the_panel_answers(self, page: Page):
        """Supposing a dead broker alive changes result sentence, table and parameters."""
        panel = page.locator(".cb-what-if").first
        panel.scroll_into_view_if_needed()
        before = panel.inner_text()
        page.get_by_role("button", name="✕ 5").click()
        expect(page.get_by_role("button", name="✓ 5")).to_be_visible()
        expect(panel).not_to_have_text(before)
        expect(panel).to_contain_text("alive=2,3,4,5")
        _screenshot(page, "jupyterlab-20-what-if")
        page.get_by_role("button", name="Back to the evidence").click()
        expect(page.get_by_role("button", name="✕ 5")).to_be_visible()

    def test_the_choice_outlives_a_rerun(self, page: Page):
        """A cell that is run again keeps what the person chose."""
        page.get_by_role("button", name="✕ 1").click()
        expect(page.get_by_role("button", name="✓ 1")).to_be_visible()
        assert page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
        expect(page.get_by_role("button", name="✓ 1")).to_be_visible()

    def test_it_reads_in_the_dark(self, page: Page):
        """In JupyterLab's dark theme the same page keeps its contrast."""
        page.evaluate("() => window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
        page.wait_for_function("() => document.body.dataset.jpThemeLight === 'false'")
        page.locator(".cb-verdict").first.scroll_into_view_if_needed()
        colours = page.locator(".cb-verdict").first.evaluate(
            "e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]"
        )
        assert _luminance(colours[0]) > _luminance(colours[1])
        _screenshot(page, "jupyterlab-20-dark")


class TestNotebook40:
    """What deleting segments would lose, tried by hand."""

    def test_the_panel_answers(self, browser: Browser, lab: str):
        """Another set is another answer, in words, in the table and as parameters; picking asks for segments first."""
        page = _run_all(browser, lab, "40_offsets_topic")
        assert page.evaluate(ERRORS) == []
        expect(page.locator(".cb-verdict").first).to_contain_text("The cleaner of broker 1 is dead")
        panel = page.locator(".cb-what-if").first
        panel.scroll_into_view_if_needed()
        expect(panel).to_contain_text("-p delete=safe")
        expect(panel).to_contain_text("the same answers as before")
        page.get_by_role("button", name="nothing", exact=True).click()
        expect(page.locator(".cb-what-if").first).to_contain_text("-p delete=nothing")
        page.get_by_role("button", name="picked").click()
        expect(page.get_by_text("Pick one or more segments")).to_be_visible()
        page.locator(".widget-select-multiple option").first.click()
        expect(page.locator(".cb-what-if").first).to_contain_text("1 picked segment")
        _screenshot(page, "jupyterlab-40-deletion")


class TestNotebook50:
    """Where is my group?"""

    def test_a_group_is_looked_up(self, browser: Browser, lab: str):
        """A name that nothing in the evidence bears is answered all the same."""
        page = _run_all(browser, lab, "50_group_coordinators")
        assert page.evaluate(ERRORS) == []
        field = page.locator(".cb-panel input").first
        field.scroll_into_view_if_needed()
        field.fill("billing-consumer")
        field.press("Enter")
        expect(page.locator(".cb-panel").first).to_contain_text("billing-consumer")
        expect(page.locator(".cb-panel").first).to_contain_text("__consumer_offsets-")
        _screenshot(page, "jupyterlab-50-look-up")


def _luminance(colour: str) -> float:
    red, green, blue = (float(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
