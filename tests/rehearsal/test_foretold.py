"""When loads end, foretold from a case that was captured in their midst, against what the brokers logged afterwards."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from casebook.analysis.coordinator_states import WAITING, State
from casebook.analysis.load_ends import BrokerQueue
from casebook.analysis.load_rate import Span
from casebook.rehearsal import coordinators_loading as script
from tests.rehearsal import plays

pytestmark = pytest.mark.alone

WITHIN = 0.3


class Foretold(NamedTuple):
    """What was said of a load that had not ended.

    Args:
        partition: Of the offsets topic.
        takes: Milliseconds.
        served: Epoch ms.
        loads: On how many finished loads of its broker it rests.
    """

    partition: int
    takes: Span
    served: Span
    loads: int


@pytest.fixture(scope="module", params=["0.9.0.1", "2.8.2"])
def out(request) -> Path:
    """The play on that release."""
    return plays.coordinators_loading(request.param)


@pytest.fixture(scope="module")
def foretold(out) -> list[Foretold]:
    """From the case alone that was captured while they loaded."""
    held = plays.evidence(out / "during").coordinators
    served = {one.judged.partition: one.eta for one in held.partitions if one.judged.state in WAITING}
    return [one for queue in held.queues if queue.broker in script.HOLDERS for one in _of_broker(queue, served)]


def _of_broker(queue: BrokerQueue, served: dict[int, Span]) -> Iterator[Foretold]:
    assert queue.rate.own
    for one in (queue.loading, *queue.queued):
        lasted = queue.log.ends - one.since if one.state is State.LOADING else 0
        law, _ = queue.rate.of(one.work)
        yield Foretold(one.partition, queue.rate.takes(one.work, lasted), served[one.partition], law.loads)


@pytest.fixture(scope="module")
def logged(out) -> dict[int, int]:
    """By partition the "in N milliseconds" that its broker logged in the end, less what it spent in the queue."""
    queues = plays.evidence(out / "after").coordinators.queues
    return {load.partition: load.milliseconds for queue in queues for load, _ in queue.loads if queue.broker in script.HOLDERS}


def test_how_long_loads_take(foretold, logged):
    """Within 30 % of what was logged, and in the interval that was stated."""
    assert len(foretold) >= 2 * len(script.HOLDERS)
    assert min(one.loads for one in foretold) >= 3
    told = {one.partition: (round(one.takes.mid), logged[one.partition]) for one in foretold}
    assert [one.partition for one in foretold if not one.takes.low <= logged[one.partition] <= one.takes.high] == [], told
    assert [part for part, (mid, took) in told.items() if mid != pytest.approx(took, rel=WITHIN)] == [], told


def test_when_groups_are_served(out, foretold):
    """In the interval that was stated, as a client of the group saw it, who asks ten times a second."""
    groups = json.loads((out / "truth.json").read_text())["facts"]["coordinators"]["groups"].values()
    seen = {group["partition"]: 1000 * datetime.fromisoformat(group["served_at"]).timestamp() for group in groups}
    told = {one.partition: (one.served, seen[one.partition]) for one in foretold}
    assert [part for part, (span, at) in told.items() if not span.low <= at <= span.high + 500] == [], told
