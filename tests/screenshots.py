"""The pictures of the documentation, taken from real pages: ``make screenshots``.

Each page is what a command of the README makes of a shipped case, in a window of fixed size, by day and by night.
"""

import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser

from casebook.machine import places
from casebook.runs import notebooks, runner
from tests.browser.offline import SCHEMES, chromium, visit

PICTURES = places.checkout() / "docs" / "pictures"
SIZE = {"width": 1280, "height": 800}
NIGHTS = ("", "-dark")
"""What is added to a file's name, as in :data:`~tests.browser.offline.SCHEMES`."""


class Picture(NamedTuple):
    """A picture and what it shows.

    Attributes:
        name: Its file without suffix; ``-dark`` is added by night.
        notebook: The notebook whose report it shows.
        source: What that ran on.
        above: The heading at the top of the picture; empty for the top of the page.
    """

    name: str
    notebook: str
    source: str
    above: str = ""


SHOWN = (
    Picture("report", "20_partition_leadership", "sample:leader_minus_one"),
    Picture("morning", "90_scheduled_report", "sample:overnight"),
    Picture("walkthrough", "05_walkthrough", "sample:leader_minus_one", above="Leader, ISR and leader epoch"),
)


def files() -> list[Path]:
    """Every file that :func:`take` writes."""
    return [PICTURES / f"{picture.name}{night}.png" for picture in SHOWN for night in NIGHTS]


def take(browser: Browser, runs: Path) -> None:
    """Run what is to be shown, and take all pictures of it."""
    PICTURES.mkdir(exist_ok=True)
    for picture in SHOWN:
        ran = runner.run(notebooks.find(picture.notebook), {"source": picture.source}, runs_dir=runs)
        _take(browser, ran.report, picture)


def _take(browser: Browser, page: Path, picture: Picture) -> None:
    for scheme, night in zip(SCHEMES, NIGHTS, strict=True):
        with visit(browser, page, width=SIZE["width"], scheme=scheme) as seen:
            seen.page.set_viewport_size(SIZE)
            if picture.above:
                heading = seen.page.get_by_role("heading", name=picture.above)
                heading.evaluate("heading => window.scrollTo(0, heading.getBoundingClientRect().top - 24)")
            seen.page.wait_for_timeout(500)  # charts are drawn after the page has loaded
            seen.page.screenshot(path=PICTURES / f"{picture.name}{night}.png")


if __name__ == "__main__":
    with chromium() as browser, tempfile.TemporaryDirectory() as runs:
        take(browser, Path(runs))
    sys.stdout.write("\n".join(str(file) for file in files()) + "\n")
