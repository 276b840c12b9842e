"""Pages opened from the file system in a browser without network; whatever goes wrong on them is written down."""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from casebook.machine import places

ARTEFACTS = Path(os.environ.get("CASEBOOK_ARTEFACTS") or places.checkout() / "build" / "artefacts")
PATIENCE = 90_000
"""Milliseconds for what a page or a kernel does on a busy machine; how fast they are, is for benches."""
expect.set_options(timeout=PATIENCE)
WIDTHS, SCHEMES = (1280, 700, 390), ("light", "dark")

_WRONG = """() => {
    const wrong = [], all = selector => [...document.querySelectorAll(selector)];
    const expect = (right, what) => { if (!right) wrong.push(what); };
    const named = e => (e.getAttribute('aria-label') || e.textContent).trim() !== '';
    expect(document.documentElement.lang === 'en', 'no language');
    expect(document.title.trim(), 'no title');
    expect(all('h1').length === 1, `${all('h1').length} h1`);
    expect(all('main').length === 1, `${all('main').length} main`);
    all('h1, h2, h3, h4, h5, h6').map(e => Number(e.tagName[1])).reduce((before, level) => {
        expect(level <= before + 1, `h${level} after h${before}`);
        return level;
    }, 0);
    all('th').forEach(e => expect(['col', 'row', 'rowgroup'].includes(e.scope), `th without scope: ${e.textContent}`));
    all('svg:not([role=img] *, #js-plotly-tester)').forEach(e => expect(
        e.getAttribute('aria-hidden') === 'true' || (e.getAttribute('role') === 'img' && e.getAttribute('aria-label')), `svg without words: ${e.outerHTML}`));
    all('[role=img], [role=region]').forEach(e => expect(e.getAttribute('aria-label'), `${e.className} without label`));
    all('input, select').forEach(e => expect([...e.labels].some(named), `${e.name || e.type} without label`));
    all('fieldset').forEach(e => expect(e.querySelector('legend'), 'fieldset without legend'));
    all('button, a, summary').forEach(e => expect(named(e), `${e.tagName} without name`));
    const ids = all('[id]').map(e => e.id);
    ids.forEach((id, i) => expect(ids.indexOf(id) === i, `two of #${id}`));
    return wrong;
}"""
_DEAD = """() => [...document.querySelectorAll('a[href^="#"]')]
    .filter(a => !document.getElementById(decodeURIComponent(a.hash.slice(1)))).map(a => a.getAttribute('href'))"""

_DRAWN = """() => [...document.querySelectorAll('.js-plotly-plot')].every(chart =>
    !chart.offsetParent || Math.abs(chart._fullLayout?.width - chart.getBoundingClientRect().width) < 1)"""


@dataclass(slots=True, kw_only=True)
class Visit:
    """A page, and what it did.

    Args:
        file: What was opened.
        errors: What stood in its console, and exceptions.
        requests: Addresses it asked for.
    """

    page: Page
    file: Path
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def show(self, *, width: int, scheme: str) -> None:
        """Another window, another time of day."""
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.emulate_media(color_scheme=scheme)

    def drawn(self) -> None:
        """Wait until every chart is as wide as its place: Plotly draws it anew some time after the window has changed."""
        self.page.wait_for_function(_DRAWN)

    def wrong(self) -> Sequence[str]:
        """What a person who does not see the page, or uses no mouse, would stumble over."""
        return self.page.evaluate(_WRONG)

    def dead_links(self) -> Sequence[str]:
        """Links into the page that have no target."""
        return self.page.evaluate(_DEAD)

    def scrolls_sideways(self) -> bool:
        """Whether the page itself, not a box in it, is wider than the window."""
        return self.page.evaluate("() => document.documentElement.scrollWidth > document.documentElement.clientWidth")

    def small_targets(self) -> Sequence[str]:
        """Controls less than 28 px high."""
        return self.page.evaluate(
            """() => [...document.querySelectorAll('button, summary, select, input:not([type=radio]), label:has([type=radio])')]
                .map(e => [e.getBoundingClientRect().height, e.textContent || e.placeholder])
                .filter(([height]) => height > 0 && height < 28).map(([height, text]) => `${height} px: ${text}`)"""
        )

    def keep(self, name: str) -> None:
        """Keep a picture of the whole page."""
        ARTEFACTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=ARTEFACTS / f"{name}.png", full_page=True)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@contextmanager
def visit(browser: Browser, file: Path, *, width: int = 1280, scheme: str = "light", scripts: bool = True) -> Iterator[Visit]:
    """Open a file, network off."""
    context = browser.new_context(
        offline=True, viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=scripts
    )
    context.route(lambda address: not address.startswith("file:"), lambda route: route.abort())
    seen = Visit(page=context.new_page(), file=file)
    seen.page.set_default_timeout(PATIENCE)
    seen.page.on("console", lambda message: seen.errors.append(message.text))
    seen.page.on("pageerror", lambda error: seen.errors.append(str(error)))
    seen.page.on("request", lambda request: seen.requests.append(request.url))
    seen.page.goto(file.as_uri())
    yield seen
    context.close()
