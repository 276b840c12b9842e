"""The walkthrough and the start page in a real JupyterLab, from first to last cell, by keyboard, with wrong answers and right ones."""

from collections.abc import Iterator
from contextlib import suppress

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.offline import ARTEFACTS, PATIENCE
from tests.browser.test_jupyterlab import ERRORS, Lab, lab

__all__ = ["lab"]

READY = """async () => {
    const app = window.jupyterapp;
    await app.restored;
    const panel = app.shell.currentWidget;
    await panel.context.ready; await panel.revealed; await panel.sessionContext.ready;
    while (!panel.sessionContext.session?.kernel) await new Promise(r => setTimeout(r, 100));
    await panel.sessionContext.session.kernel.info;
    await app.commands.execute('application:toggle-left-area');
    panel.content.activeCellIndex = 0; panel.content.mode = 'command'; panel.content.activate();
    return panel.content.widgets.length;
}"""
ACTIVE = "() => window.jupyterapp.shell.currentWidget.content.activeCellIndex"
DONE = """() => window.jupyterapp.shell.currentWidget.content.model.cells.length && [...window.jupyterapp.shell.currentWidget.content.model.cells]
    .filter(c => c.type === 'code').every(c => c.executionState === 'idle' && c.executionCount)"""
SIDEWAYS = """() => [...document.querySelectorAll('.jp-OutputArea-output .cb:not(.cb-hidden)')]
    .filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.className)"""
CUT = """() => [...document.querySelectorAll('.jp-OutputArea-output .cb-scroll')]
    .filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.getAttribute('aria-label'))"""
CLIPPED = """() => [...document.querySelectorAll('.cb-panel button, .cb-panel label')]
    .filter(e => e.scrollWidth > e.clientWidth + 1 && e.offsetParent).map(e => e.textContent)"""


def _through(browser: Browser, lab: Lab, notebook: str) -> Page:
    """A page with a notebook, run from its first to its last cell with Shift+Enter alone."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(PATIENCE)
    page.goto(f"{lab.address}/lab/tree/notebooks/{notebook}.ipynb?reset")
    page.wait_for_function("() => window.jupyterapp?.shell?.currentWidget?.context")
    cells = page.evaluate(READY)
    for number in range(1, cells):
        page.keyboard.press("Shift+Enter")
        page.wait_for_function(f"number => ({ACTIVE})() === number", arg=number)
    page.keyboard.press("Control+Enter")  # Shift+Enter would add a cell
    page.wait_for_function(DONE)
    return page


def _looks(page: Page, name: str, subject: Locator) -> None:
    """Pictures of a place, light and dark, wide and narrow; nothing is cut off in any."""
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    for theme in ("Light", "Dark"):
        page.evaluate(f"() => window.jupyterapp.commands.execute('apputils:change-theme', {{theme: 'JupyterLab {theme}'}})")
        page.wait_for_function(f"() => document.body.dataset.jpThemeLight === '{'true' if theme == 'Light' else 'false'}'")
        for width in (1280, 700):
            page.set_viewport_size({"width": width, "height": 900})
            subject.scroll_into_view_if_needed()
            page.screenshot(path=ARTEFACTS / f"jupyterlab-{name}-{theme.lower()}-{width}.png")
            assert page.evaluate(SIDEWAYS) == [], (theme, width)
            assert page.evaluate(CLIPPED) == [], (theme, width)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.evaluate("() => window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Light'})")


@pytest.fixture(scope="module", autouse=True)
def _cases_elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A case that is made of a paste does not stay."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("CASEBOOK_CASES", str(tmp_path_factory.mktemp("cases")))
        yield


@pytest.fixture(scope="module")
def walk(browser: Browser, lab: Lab) -> Iterator[Page]:
    """Notebook 05, run cell by cell."""
    page = _through(browser, lab, "05_walkthrough")
    yield page
    page.close()


def _panel(page: Page, number: int) -> Locator:
    panel = page.locator(".cb-panel", has_text=f"Question {number} of 7")
    panel.scroll_into_view_if_needed()
    return panel


class TestWalkthrough:
    """In this order, as a person goes through it."""

    def test_every_cell_runs(self, walk: Page):
        """Nothing fails, and the verdict says that nothing is answered, and not who is dead."""
        assert walk.evaluate(ERRORS) == []
        expect(walk.locator(".cb-verdict").first).to_contain_text("0 of 7 questions answered")
        expect(walk.locator(".cb-verdict").first).not_to_contain_text("dead")

    def test_no_column_is_out_of_sight(self, walk: Page):
        """In a narrow window a table breaks its lines, or puts its cells below each other."""
        for width in (700, 390):
            walk.set_viewport_size({"width": width, "height": 900})
            assert walk.evaluate(CUT) == [], width
        walk.set_viewport_size({"width": 1280, "height": 900})

    def test_wrong_then_right(self, walk: Page):
        """Typed, judged on Enter, told why, mended, explained; Tab leads on to the next question."""
        first = _panel(walk, 1)
        first.get_by_role("textbox").focus()
        walk.keyboard.type("3, 2")
        walk.keyboard.press("Enter")
        expect(first).to_contain_text("Broker 3 is registered, and therefore alive.")
        expect(first).not_to_contain_text("Brokers 1 and 2")
        walk.keyboard.press("Control+A")
        walk.keyboard.type("2 and 1")
        walk.keyboard.press("Enter")
        expect(first).to_contain_text("Brokers 1 and 2 are assigned and not registered")
        for name in ("Check", "Hint 1 of 3", "Give up"):
            walk.keyboard.press("Tab")
            expect(first.get_by_role("button", name=name)).to_be_focused()

    def test_hints(self, walk: Page):
        """One by one, with Enter on the button."""
        second = _panel(walk, 2)
        second.get_by_role("button", name="Hint 1 of 3").focus()
        walk.keyboard.press("Enter")
        expect(second).to_contain_text("Hint 1.")
        expect(second.get_by_role("button", name="Hint 2 of 3")).to_be_focused()
        walk.keyboard.press("Shift+Tab")
        walk.keyboard.press("Shift+Tab")
        expect(second.get_by_role("textbox")).to_be_focused()
        walk.keyboard.type("payments 0, payments-1")
        walk.keyboard.press("Enter")
        expect(second).to_contain_text("RIGHT")

    def test_a_choice(self, walk: Page):
        """By the short name of an option; the wrong one is told why."""
        third = _panel(walk, 3)
        third.get_by_role("combobox").focus()
        walk.keyboard.type("R2")
        walk.keyboard.press("Enter")
        expect(third).to_contain_text("There is a controller: broker 3, and it is alive.")
        walk.keyboard.press("Control+A")
        walk.keyboard.type("R3")
        walk.keyboard.press("Enter")
        expect(third).to_contain_text("Unclean election is not allowed for it")
        _looks(walk, "05-why", third)

    def test_the_rest(self, walk: Page):
        """Numbers, one given up, and the score follows all of it."""
        for number, answer, said in (
            (4, "1", "If broker 2 started before it, broker 2 would lead"),
            (5, "0", "None is left"),
            (6, "none", "no offline partition has a living replica"),
        ):
            panel = _panel(walk, number)
            panel.get_by_role("textbox").focus()
            walk.keyboard.type(answer)
            walk.keyboard.press("Enter")
            expect(panel).to_contain_text(said)
        expect(_panel(walk, 4)).to_contain_text("broker 2 would heal 3")  # it would have told the answer to question 5
        last = _panel(walk, 7)
        last.get_by_role("button", name="Give up").focus()
        walk.keyboard.press("Enter")
        expect(last).to_contain_text("GIVEN UP")
        score = walk.locator(".cb-card", has_text="of 7 questions answered right")
        expect(score).to_contain_text("6 of 7 questions answered right, 1 given up")  # the card is drawn anew with each answer
        score.scroll_into_view_if_needed()
        _looks(walk, "05-score", score)

    def test_a_rerun_keeps_it(self, walk: Page):
        """All cells once more: answers and hints are still there, and now the verdict and the run folder say how it went."""
        assert walk.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
        walk.wait_for_function(DONE)
        expect(_panel(walk, 1).get_by_role("textbox")).to_have_value("2 and 1")
        expect(_panel(walk, 2)).to_contain_text("Hint 1.")
        walk.evaluate("() => { window.jupyterapp.shell.currentWidget.content.scrollToItem(0) }")
        expect(walk.locator(".cb-verdict").first).to_contain_text("6 of 7 questions answered right")
        _looks(walk, "05-top", walk.locator(".cb-verdict").first)


def _press_until_gone(page: Page, panel: Locator, words: str) -> None:
    """Press a button again while the answer is the old one: JupyterLab may send a click before what was typed just before it."""
    for _ in range(5):
        page.keyboard.press("Enter")
        with suppress(AssertionError):
            expect(panel).not_to_contain_text(words, timeout=20_000)
            return
    expect(panel).not_to_contain_text(words)


class TestStartHere:
    def test_first_to_last_cell(self, browser: Browser, lab: Lab):
        """Every cell runs; an address without a broker, and a paste that says nothing, are told so; one that does is understood."""
        page = _through(browser, lab, "00_start_here")
        assert page.evaluate(ERRORS) == []
        brokers, panel = page.locator(".cb-panel").first, page.locator(".cb-panel").nth(1)
        brokers.scroll_into_view_if_needed()
        brokers.get_by_label("Bootstrap address").focus()
        page.keyboard.type("127.0.0.1:1")
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(brokers).to_contain_text("The connection is refused: no process listens on this port.")
        _looks(page, "00-brokers", brokers)
        panel.scroll_into_view_if_needed()
        panel.get_by_role("textbox").focus()
        page.keyboard.type("nothing of the kind")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(panel).to_contain_text("1 pasted line was not understood")
        box = panel.get_by_role("textbox")
        page.keyboard.press("Shift+Tab")
        expect(box).to_be_focused()
        page.keyboard.press("Control+A")
        page.keyboard.press("Delete")
        expect(box).to_have_value("")
        page.keyboard.type("[zk: zk1:2181(CONNECTED) 0] ls /brokers/ids\n[1, 2]")
        expect(box).to_have_value("[zk: zk1:2181(CONNECTED) 0] ls /brokers/ids\n[1, 2]")
        page.keyboard.press("Tab")
        _press_until_gone(page, panel, "was not understood")
        expect(panel).to_contain_text("casebook run triage --source")
        _looks(page, "00-paste", panel)
        page.close()
