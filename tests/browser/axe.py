"""axe-core, the checker of WCAG rules that browsers' own tools use, on a page as it stands."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from playwright.sync_api import Page

_RUN = """async colours => (await axe.run(document, {resultTypes: ['violations'],
    ...(colours ? {runOnly: {type: 'rule', values: ['color-contrast', 'link-in-text-block']}} : {})})).violations.flatMap(
    rule => rule.nodes.map(node => `${rule.impact}: ${rule.id}: ${node.html.slice(0, 200)}: ${node.failureSummary}`))"""


@cache
def _script() -> str:
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


def faults(page: Page, *, colours_alone: bool = False) -> Sequence[str]:
    """Every fault of any impact, each with the element that has it.

    Args:
        colours_alone: Ask only what another colour scheme can change.
    """
    page.evaluate("() => document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(_script())
    return page.evaluate(_RUN, colours_alone)
