"""What hosts measured around an incident that was played: the clue that is known to be there, on the whole case and on lesser ones."""

from datetime import datetime

import pytest

from casebook.findings.finding import Status
from casebook.machine import places
from tests.case_copies import CaseCopy
from tests.degraded import harness
from tests.degraded.harness import Whole
from tests.degraded.removals import Degradation
from tests.questions.timeline.host_scenes import STEP, during, sar, usual
from tests.unreadable import answers

SAMPLE, STOOD_STILL = "acks1_loss", 1
BROKERS = (1, 2, 3)
LOST = round(datetime.fromisoformat("2026-11-22T05:22:16+00:00").timestamp() * 1000)
"""When broker 1 was suspended, by its own log."""
BEGIN = LOST - LOST % STEP - 180 * STEP
BURST = (LOST - 30_000, LOST + 3 * STEP)
LESSER = (
    "left out/history", "left out/server logs/1", "left out/all logs", "left out/logs of ZooKeeper", "newer/logs/75",
    "older/logs/50", "at/znodes/50", "left out/file/brokers/1/metrics/sar.txt", "left out/file/brokers/2/metrics/sar.txt",
    "left out/file/brokers/1/logs/server.log; left out/file/brokers/1/metrics/sar.txt", "snapshots/history/1",
)  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The sample, with what sar would have printed on its hosts: the disk of one of them was saturated."""
    copy = CaseCopy(places.samples_dir() / SAMPLE, tmp_path_factory.mktemp("hosts") / "case")
    for broker in BROKERS:
        busy = {"disk": during(*BURST, 99.8, usual(12))} if broker == STOOD_STILL else {}
        copy.store(f"brokers/{broker}/metrics/sar.txt", sar(BEGIN, 200, **busy).encode())
    with harness.logs_read_once():
        yield Whole(str(copy.done()), tmp_path_factory.mktemp("room"), ["60"])


def test_the_clue(whole):
    """It is found, and the root is what it was without it."""
    found = whole.answers["60"]
    assert found["timeline.hosts"].status is Status.FINDING
    assert found["timeline.hosts"].title.startswith("Use of sda on the host of broker 1 was up to 99.8 %")
    assert "1 more" not in found["timeline.hosts"].title
    alone = answers.answers(places.samples_dir() / SAMPLE, ["60"])["60"]
    assert found["timeline.root"].title == alone["timeline.root"].title
    assert found["timeline.root"].facts == alone["timeline.root"].facts


@pytest.mark.parametrize("removals", LESSER)
def test_less(whole, removals):
    """Equal, or weaker: the same clue, or that it could not be checked."""
    cells = whole.cells(Degradation.parse(f"{whole.source}: {removals}"))
    assert cells
    assert [cell for cell in cells if cell.outcome in harness.BAD] == []
