"""What a running cell shows in JupyterLab, and what an interrupt leaves."""

import os
import re
from collections.abc import Iterator
from time import monotonic

import pytest
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager

from casebook.notebook.activity import STOPPED, Activity

OPEN = 'from casebook.notebook import workbook\nbook = workbook.open("10_triage", source="sample:healthy", interactive="yes")'
SLOW = 'from time import sleep\ntold = book.ask._progress("Reading logs", unit="files")\ntold(3, 12)\nsleep({})'


@pytest.fixture(scope="module")
def kernel() -> Iterator[tuple[KernelManager, BlockingKernelClient]]:
    """A kernel in which a notebook was opened."""
    manager = KernelManager()
    manager.start_kernel(env={**os.environ, "JPY_SESSION_NAME": "x.ipynb"})
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    try:
        _, reply = ran(client, OPEN)
        assert reply["status"] == "ok"
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def ran(client: BlockingKernelClient, code: str, *, meanwhile=lambda _shown: None) -> tuple[list[dict], dict]:
    """What a cell shows, in order, and its reply."""
    shown: list[dict] = []

    def output(message: dict) -> None:
        shown.append({"type": message["msg_type"]} | message["content"])
        meanwhile(shown)

    return shown, client.execute_interactive(code, output_hook=output, timeout=60)["content"]


def lines(shown: list[dict]) -> list[str]:
    """What of it stands in the line of activity."""
    bundles = (one["data"].get("text/html", "") for one in shown if one["type"] in ("display_data", "update_display_data"))
    return [found[1] if (found := re.search(r"cb-doing\">([^<]*)<", text)) else text for text in bundles]


def test_a_long_step_says_how_far_it_is(kernel):
    """And nothing of it stays."""
    _, client = kernel
    shown, reply = ran(client, SLOW.format(1.6))
    assert reply["status"] == "ok"
    assert lines(shown)[0].startswith("Reading logs: 3 of 12 files, ")
    assert lines(shown)[-1] == ""


def test_the_next_cell_has_no_step_of_the_one_before(kernel):
    """Neither its name nor its numbers."""
    _, client = kernel
    shown, _ = ran(client, "sleep(1)")
    assert lines(shown)[0] == "Working, 1\u202fs so far."


def test_a_short_cell_shows_nothing(kernel):
    """No line that only flickers."""
    _, client = kernel
    shown, _ = ran(client, "1 + 1")
    assert lines(shown) == []


def test_an_interrupt_is_one_sentence(kernel):
    """The cell can be run again."""
    manager, client = kernel
    begun = monotonic()

    def stop(shown: list[dict]) -> None:
        if shown[-1]["type"] == "display_data":  # the line has appeared
            manager.interrupt_kernel()

    shown, reply = ran(client, SLOW.format(60), meanwhile=stop)
    assert reply["status"] == "error"
    assert monotonic() - begun < 30
    said = "".join(one.get("text", "") for one in shown if one["type"] == "stream")
    assert said.strip() == STOPPED
    assert not [one for one in shown if one["type"] == "error"]
    assert ran(client, "1 + 1")[1]["status"] == "ok"


def test_what_is_left_is_estimated():
    """From the step's own speed, once it has one."""
    activity = Activity()
    begun = activity._begun
    reported = activity.step("Reading segments", unit="parts")
    activity._since = begun + 10
    reported(0, 40)
    assert activity.line(begun + 11) == "Reading segments: 0 of 40 parts, 11\u202fs so far. Stop it with ■ in the toolbar."
    reported(10, 40)
    assert (
        activity.line(begun + 20)
        == "Reading segments: 10 of 40 parts, 20\u202fs so far, about 30\u202fs left. Stop it with ■ in the toolbar."
    )
