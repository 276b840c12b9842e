"""Notebooks in a real JupyterLab in a real browser: run all, use the panels, see the answers change."""

import base64
import json
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from casebook.machine import places
from casebook.rehearsal.plays import kill_before_drain
from casebook.rehearsal.servers.ports import free_port
from casebook.rehearsal.servers.processes import Guarded, Server
from casebook.runs import lab as copies
from tests.browser.offline import ARTEFACTS, PATIENCE
from tests.browser.test_timeline import brush
from tests.conftest import QUICK_JAVA

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

CONFIG = places.checkout() / "lib" / "jupyter"
HEARD = """import os, sys
def heard(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        with open(os.environ["HEARD"], "a") as file:
            file.write(f"{event} {[one for one in arguments if isinstance(one, (str, tuple))]}\\n")
sys.addaudithook(heard)
"""
"""What each Python of the server does first: it writes down whom it talks to."""
FETCHED = "path => performance.getEntriesByType('resource').some(one => new URL(one.name).pathname === path && one.responseEnd)"
OFF = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/extensionmanager-extension:plugin": {"enabled": False},
}
INSIDE = re.compile(r"'(127\.[0-9.]+|::1|localhost|0\.0\.0\.0|::)'")


class Lab(NamedTuple):
    """A running JupyterLab.

    Args:
        address: Of the server.
        heard: Where its processes write down whom they connect to.
        asked: What its pages have asked for.
    """

    address: str
    heard: Path
    asked: list[str]


INK = """async png => {
    const picture = new Image();
    picture.src = `data:image/png;base64,${png}`;
    await picture.decode();
    const canvas = new OffscreenCanvas(picture.width, picture.height), on = canvas.getContext('2d');
    on.drawImage(picture, 0, 0);
    const pixels = new Uint32Array(on.getImageData(0, 0, picture.width, picture.height).data.buffer);
    return pixels.filter(one => one !== pixels[0]).length / pixels.length;
}"""
"""Share of a picture that has another colour than its corner."""
SOURCE = """() => [...window.jupyterapp.shell.currentWidget.content?.model?.cells ?? []]
    .find(cell => (cell.getMetadata('tags') || []).includes('parameters'))?.sharedModel.getSource() ?? ''"""
"""Text of the parameters' cell."""
SHOWN = "() => document.querySelector('.js-plotly-plot').layout.xaxis.range"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A JupyterLab on a copy of the notebooks, with the settings of `make lab`."""
    home = tmp_path_factory.mktemp("lab")
    shutil.copytree(places.notebooks_dir(), home / "notebooks")
    shutil.copytree(places.checkout() / "docs", home / "docs")
    (home / "sitecustomize.py").write_text(HEARD)
    once_said = home / "settings" / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    once_said.parent.mkdir(parents=True)
    once_said.write_text('{"fetchNews": "true", "checkForUpdates": true}')
    port = free_port()
    told = {
        "JUPYTER_CONFIG_PATH": CONFIG,
        "JUPYTERLAB_SETTINGS_DIR": home / "settings",
        "CASEBOOK_RUNS": home / "runs",
        "PYTHONPATH": home,
        "HEARD": home / "heard",
        "JDK_JAVA_OPTIONS": QUICK_JAVA,
    }
    command = [
        *("env", *(f"{name}={value}" for name, value in told.items())),
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"),
        *("--ServerApp.port_retries=0", "--IdentityProvider.token=", "--expose-app-in-browser", f"--notebook-dir={home}"),
    ]
    guarded = Guarded()  # so it ends with the tests, however they end; its kernels end with it
    try:
        server = guarded.start(command, folder=home, output=home / "lab.log")
        _wait_until_up(f"http://127.0.0.1:{port}/api/status", server)
        yield Lab(f"http://127.0.0.1:{port}", home / "heard", [])
        with suppress(subprocess.TimeoutExpired):
            server.stop()
    finally:
        guarded.close()


def _wait_until_up(address: str, server: Server) -> None:
    for _ in range(450):
        assert server.running, "JupyterLab ended at once"
        try:
            urllib.request.urlopen(address, timeout=1).read()
            return
        except OSError:
            time.sleep(0.2)
    raise AssertionError("JupyterLab did not come up")


def _run_all(browser: Browser, lab: Lab, notebook: str) -> Page:
    """A page with the notebook, all its cells run."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(PATIENCE)
    page.on("request", lambda request: lab.asked.append(request.url))
    page.goto(f"{lab.address}/lab/tree/notebooks/{notebook}.ipynb?reset")
    page.wait_for_function("() => window.jupyterapp?.shell?.currentWidget?.context")
    assert page.evaluate(RUN_ALL), page.evaluate(ERRORS)
    page.wait_for_selector(".cb-verdict[data-cb-reached=yes]", state="attached")
    return page


@pytest.fixture(scope="module")
def page(browser: Browser, lab: Lab) -> Page:
    """Notebook 20, all cells run."""
    return _run_all(browser, lab, "20_partition_leadership")


def _charts_have_marks(page: Page, many: int) -> None:
    """Each chart of the page is drawn, by its pixels."""
    charts = page.locator(".js-plotly-plot")
    expect(charts).to_have_count(many)
    for chart in charts.all():
        chart.scroll_into_view_if_needed()
        assert 0.02 < page.evaluate(INK, base64.b64encode(chart.screenshot()).decode()) < 0.9


def _screenshot(page: Page, name: str) -> None:
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"{name}.png")


class TestNothingLeaves:
    """An incident room without a network, or one where nobody may know of the incident."""

    def test_page_and_server_talk_to_each_other_alone(self, page: Page, lab: Lab):
        """Even of a person who has told JupyterLab elsewhere to fetch news and look for updates."""
        page.wait_for_function(FETCHED, arg="/lab/api/news")
        page.wait_for_function(FETCHED, arg="/lab/api/update")
        assert {urlsplit(url).hostname for url in lab.asked if not url.startswith(("data:", "blob:"))} == {"127.0.0.1"}
        heard = lab.heard.read_text().splitlines()
        assert heard
        assert [line for line in heard if not INSIDE.search(line)] == []

    def test_nobody_is_asked_for_news(self, lab: Lab):
        """Unless a person says otherwise, not even the server is asked for news, updates and extensions."""
        for plugin, expected in OFF.items():
            with urllib.request.urlopen(f"{lab.address}/lab/api/settings/{plugin}") as answer:
                properties = json.load(answer)["schema"]["properties"]
            assert {name: properties[name]["default"] for name in expected} == expected

    def test_make_lab_has_these_settings(self):
        """The ones that are tested here."""
        said = subprocess.run(["make", "-n", "lab"], cwd=places.checkout(), capture_output=True, text=True, check=True).stdout
        assert said.split()[-2:] == [".venv/bin/casebook", "lab"]
        _, environment = copies.command(places.lab_dir())
        assert environment["JUPYTER_CONFIG_PATH"].split(":")[0] == str(CONFIG)


class TestFirstScreen:
    """Where the reader is after Run All, and what they see there."""

    CHARTS = {"30_broker_maintenance": 1, "40_offsets_topic": 1, "50_group_coordinators": 1, "10_triage": 0}

    @pytest.mark.parametrize("stem", CHARTS)
    def test_the_verdict_and_every_chart(self, browser: Browser, lab: Lab, stem: str):
        """The verdict is at the top of the screen, with its first step; each chart has marks, told by its pixels."""
        page = _run_all(browser, lab, stem)
        verdict = page.locator(".cb-verdict").first.bounding_box()
        assert 0 < verdict["y"] < 200
        assert verdict["y"] + verdict["height"] < 900
        _screenshot(page, f"jupyterlab-{stem}-first")
        _charts_have_marks(page, self.CHARTS[stem])
        page.close()

    def test_the_error(self, browser: Browser, lab: Lab):
        """It is on the screen, in one sentence, and the verdict is still to come."""
        notebooks = lab.heard.parent / "notebooks"
        text = (notebooks / "20_partition_leadership.ipynb").read_text()
        (notebooks / "mistyped.ipynb").write_text(text.replace("sample:leader_minus_one", "sample:leader_minus_on"))
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"{lab.address}/lab/tree/notebooks/mistyped.ipynb?reset")
        page.wait_for_function("() => window.jupyterapp?.shell?.currentWidget?.context")
        assert not page.evaluate(RUN_ALL)
        error = page.locator("[data-mime-type$='.stderr'][data-cb-reached=yes]")
        expect(error).to_have_text(re.compile("There is no sample leader_minus_on. Did you mean leader_minus_one?"))
        expect(error).to_be_in_viewport()
        page.close()

    def test_parameters_and_the_way_on(self, browser: Browser, lab: Lab):
        """The form writes into the parameters' cell, by keyboard too; a notebook to go on with opens on the same source."""
        page = _run_all(browser, lab, "10_triage")
        page.locator(".cb-parameters summary").focus()
        page.keyboard.press("Enter")
        source = page.locator(".cb-parameters input[name=source]")
        source.fill("sample:kill_before_drain")
        source.press("Tab")
        expect(page.locator(".cb-parameters summary")).to_contain_text("sample:kill_before_drain")
        assert page.evaluate(SOURCE).startswith('source: str = "sample:kill_before_drain"  # sample:<name>')
        page.locator(".cb-parameters button").press("Enter")
        page.wait_for_selector(".cb-verdict.cb-is-pending", state="attached")
        page.wait_for_selector(".cb-verdict[data-cb-reached=yes]", state="attached")
        link = page.locator("a[data-cb-notebook='30_broker_maintenance'], a[data-cb-notebook='20_partition_leadership']").first
        link.press("Enter")
        page.wait_for_function(
            f"() => ({SOURCE})().startsWith('source: str = \"sample:kill_before_drain\"') && window.jupyterapp.shell.currentWidget.context.path.match(/(20|30)_/)"
        )
        page.close()

    def test_only_parameters_are_unfolded(self):
        """What a reader does not change is folded away, and so are very many parameters: their form has them in groups."""
        for path in places.notebooks_dir().glob("*.ipynb"):
            for cell in json.loads(path.read_text())["cells"]:
                is_folded = cell["metadata"].get("jupyter", {}).get("source_hidden", False)
                is_short = "parameters" in cell["metadata"].get("tags", ()) and len(cell["source"]) < 20
                assert cell["cell_type"] != "code" or is_folded != is_short


class TestNotebook20:
    """What a person on call does first."""

    def test_all_cells_run(self, page: Page):
        """No cell ends in an error, and the verdict stands at the top."""
        assert page.evaluate(ERRORS) == []
        expect(page.locator(".cb-verdict").first).to_contain_text("CRITICAL")
        _screenshot(page, "jupyterlab-20-top")

    def test_the_chart_is_drawn(self, page: Page):
        """The who-to-start-first chart is a picture, not a blank."""
        _charts_have_marks(page, 1)
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


class TestNotebook30:
    """Brokers and their order, before anybody touches them."""

    def test_two_at_once_by_keyboard(self, browser: Browser, lab: Lab):
        """Broker 4 and 5 together: what the rehearsal killed, and what it brought about; then one after the other, and back."""
        page = _run_all(browser, lab, "30_broker_maintenance")
        assert page.evaluate(ERRORS) == []
        rows = kill_before_drain.during_rows()
        offline, refused = sum(row.offline for row in rows), sum(bool(row.as_json()["under_min_isr"]) for row in rows)
        panel = page.locator(".cb-panel").first
        panel.scroll_into_view_if_needed()
        order = panel.get_by_label("Order", exact=True)
        everybody = order.input_value()
        order.focus()
        page.keyboard.press("Control+A")
        page.keyboard.type("4+5")
        page.keyboard.press("Tab")
        expect(panel).to_contain_text(f"With brokers 4 and 5 down: {offline} partitions go offline, {refused} refuse acks=all")
        expect(panel.get_by_role("button", name="1. broker 4")).to_be_visible()
        expect(panel).to_contain_text("-p brokers=4+5")
        _screenshot(page, "jupyterlab-30-together")
        page.keyboard.press("Enter")  # one after the other
        expect(order).to_have_value("4,5")
        panel.get_by_role("button", name="rolling order").press("Enter")
        expect(order).to_have_value(everybody)


class TestNotebook40:
    """What deleting segments would lose, tried by hand."""

    def test_the_panel_answers(self, browser: Browser, lab: Lab):
        """Another set is another answer, in words, in the table and as parameters; picking asks for segments first."""
        page = _run_all(browser, lab, "40_offsets_topic")
        assert page.evaluate(ERRORS) == []
        expect(page.locator(".cb-verdict").first).to_contain_text("The cleaner of broker 1 died at")
        panel = page.locator(".cb-what-if").first
        panel.scroll_into_view_if_needed()
        expect(panel).to_contain_text("-p delete=safe")
        expect(panel).to_contain_text("the same answers as before")
        page.get_by_role("button", name="nothing", exact=True).click()
        expect(page.locator(".cb-what-if").first).to_contain_text("-p delete=nothing")
        page.get_by_role("button", name="picked").click()
        expect(page.get_by_text("Choose one or more segments")).to_be_visible()
        page.locator(".widget-select-multiple option").first.click()
        expect(page.locator(".cb-what-if").first).to_contain_text("1 picked segment")
        _screenshot(page, "jupyterlab-40-deletion")


class TestNotebook50:
    """Where is my group?"""

    def test_a_group_is_looked_up(self, browser: Browser, lab: Lab):
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


@pytest.fixture(scope="module")
def incident() -> tuple[datetime, datetime]:
    """When the sample's leaders were elected, and when the old one had truncated."""
    moved = json.loads((places.samples_dir() / "acks1_loss" / "expected.json").read_text())["facts"]["acks1_loss"]["moved"]
    elected, truncated = ([datetime.fromisoformat(row[name]) for row in moved] for name in ("elected_at", "truncated_at"))
    return min(elected), max(truncated)


@pytest.fixture(scope="class")
def timeline(browser: Browser, lab: Lab) -> Page:
    """Notebook 60, all cells run and its picture ready to be used; each test leaves the choice as it was.

    One page for the mouse, another for the keyboard: who has no mouse has left no trace of one either.
    """
    page = _run_all(browser, lab, "60_incident_timeline")
    page.wait_for_function("() => document.querySelector('.js-plotly-plot')?.cbFirst")
    expect(page.locator("#cb-windows tbody tr")).not_to_have_count(0)
    return page


class TestNotebook60ByMouse:
    """An incident looked at closer."""

    def test_a_brushed_range_is_followed(self, timeline: Page, incident: tuple[datetime, datetime]):
        """By the fields, the story and the events; a button takes it back, in the picture, too."""
        assert timeline.evaluate(ERRORS) == []
        _charts_have_marks(timeline, 1)
        expect(timeline.locator(".cb-verdict").first).to_contain_text("First broker 1 falls silent")
        story, begin = timeline.locator(".cb-story li"), _field(timeline, "From")
        everything, shown = story.count(), timeline.evaluate(SHOWN)
        _picture(timeline)
        brush(timeline, 0.55, 0.75)
        expect(begin).not_to_have_value("")
        expect(story).not_to_have_count(everything)
        since = begin.input_value()
        assert incident[0] - timedelta(seconds=5) < datetime.fromisoformat(since) < incident[1]
        expect(timeline.locator("[data-cb-table=events] .cb-caption")).to_contain_text(re.compile(f"^{since[11:19]}"))
        _screenshot(timeline, "jupyterlab-60-brushed")
        timeline.get_by_role("button", name="Back to the incident").click()
        expect(story).to_have_count(everything)
        timeline.wait_for_function(f"shown => String(({SHOWN})()) === String(shown)", arg=shown)

    def test_a_click_shows_the_raw_line(self, timeline: Page):
        """As it was read, with the lines around it, to be copied."""
        diamond = _picture(timeline).locator(".scatterlayer .trace").nth(1).locator("path.point").last
        diamond.click(force=True)
        answer = timeline.locator(".cb-asked")
        expect(answer.locator(".cb-raw")).to_contain_text("Attempt to heart beat failed since coordinator is either not")
        expect(answer.locator(".cb-around").first).not_to_be_empty()
        expect(answer.get_by_role("button", name="Copy")).to_be_visible()
        _screenshot(timeline, "jupyterlab-60-clicked")


class TestNotebook60ByKeyboard:
    """The same by keyboard alone."""

    def test_one_partition(self, timeline: Page, incident: tuple[datetime, datetime]):
        """From field to field with Tab: a time, a partition; picture, windows and events follow; the last stop takes it back."""
        partitions = "() => document.querySelectorAll('.js-plotly-plot')[0].layout.annotations.filter(n => n.name.startsWith('pinned')).map(n => n.text)"
        windows = timeline.locator("#cb-windows tbody tr")
        many = windows.count()
        since, until = (f"{moment:%H:%M:%S}" for moment in (incident[0], incident[1] + timedelta(seconds=1)))
        _field(timeline, "From").focus()
        for name, typed in {"From": since, "To": until, "Topic": "clicks-0", "Group": "", "Broker": ""}.items():
            expect(_field(timeline, name)).to_be_focused()
            timeline.keyboard.type(typed)
            expect(_field(timeline, name)).to_have_value(typed)
            timeline.keyboard.press("Tab")
        expect(timeline.locator(".cb-panel").first).not_to_contain_text("The panel failed")
        timeline.wait_for_function(f"() => String(({partitions})()) === 'clicks-0'")
        expect(windows).to_have_count(2)
        expect(timeline.locator("[data-cb-table=events] .cb-caption")).to_contain_text(
            f"{since}.000 to {until} UTC, topic clicks-0"
        )
        _screenshot(timeline, "jupyterlab-60-keyboard")
        timeline.keyboard.press("Enter")
        expect(_field(timeline, "Topic")).to_have_value("")
        expect(windows).to_have_count(many)

    def test_a_proof(self, timeline: Page):
        """Enter on the link of a sentence opens the line that it rests on."""
        link = timeline.locator(".cb-story a.cb-proof").first
        link.focus()
        timeline.keyboard.press("Enter")
        expect(timeline.locator("dt.cb-pointed")).to_have_text(link.get_attribute("title"))
        expect(timeline.locator("dt.cb-pointed")).to_be_in_viewport()


def _type(field: Locator, text: str) -> None:
    """Into a field by keyboard; JupyterLab may scroll and take the focus back while its cells still grow."""
    field.focus()
    expect(field).to_be_focused()
    field.page.keyboard.type(text)
    expect(field).to_have_value(text)
    field.page.keyboard.press("Tab")


class TestNotebook70:
    """From all lost records to one of them, by keyboard."""

    def test_one_record_by_keyboard(self, browser: Browser, lab: Lab):
        """A partition, a cause, an id: the table follows, then both sides of the record; the last stop takes it back."""
        page = _run_all(browser, lab, "70_message_loss")
        assert page.evaluate(ERRORS) == []
        _charts_have_marks(page, 2)
        panel = page.locator(".cb-panel").first
        panel.scroll_into_view_if_needed()
        caption = panel.locator("[data-cb-table=lost] .cb-caption")
        expect(caption).not_to_be_empty()
        everything = caption.text_content()  # inner text is that of what is in view
        first = panel.locator("[data-cb-table=lost] tbody tr").first.locator("td, th")
        record, place = first.nth(0).text_content().strip(), first.nth(2).text_content().split()[0]
        partition, id_ = panel.get_by_role("combobox", name="Partition"), panel.get_by_role("textbox", name="Id begins")
        _type(partition, place)
        expect(caption).not_to_have_text(everything)
        _type(id_, record)
        expect(panel).to_contain_text("The ledger says")
        expect(panel).to_contain_text("The log says")
        expect(panel).to_contain_text(f"record={record}")
        _screenshot(page, "jupyterlab-70-record")
        page.keyboard.press("Enter")
        expect(caption).to_have_text(everything)
        expect(partition).to_have_value("")


class TestNotebook80:
    """What can be lost, looked through."""

    def test_verdicts_are_searched_by_keyboard(self, browser: Browser, lab: Lab):
        """All cells run; a rule typed into the field above the verdicts leaves those of that rule."""
        page = _run_all(browser, lab, "80_durability_audit")
        assert page.evaluate(ERRORS) == []
        expect(page.locator(".cb-verdict").first).to_contain_text("can lose acknowledged records")
        table = page.locator("[data-cb-table]", has=page.get_by_role("columnheader", name="About"))
        expect(table.locator("tbody tr:visible")).not_to_have_count(0)
        everything = table.locator("tbody tr:visible").count()
        _type(table.get_by_role("searchbox"), "D16")
        expect(table.locator("tbody tr:visible")).not_to_have_count(everything)
        expect(table.locator("tbody tr:visible").first).to_contain_text("D16")
        _screenshot(page, "jupyterlab-80-searched")


def _field(page: Page, name: str) -> Locator:
    return page.locator(".cb-panel").get_by_label(name, exact=True)


def _picture(page: Page) -> Locator:
    chart = page.locator(".js-plotly-plot").first
    chart.scroll_into_view_if_needed()
    return chart


def _luminance(colour: str) -> float:
    red, green, blue = (float(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
