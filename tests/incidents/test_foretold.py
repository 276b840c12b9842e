"""What is foretold of loads from a case that was captured in their midst follows from the loads before, and from nothing else.

How near that comes to what brokers log in the end depends on whether the machine goes on as fast as before. So it is held against a
recorded play (``tests/questions/coordinators/test_coordinators.py``), and measured on new ones in ``tests/bench/load_forecast.py``.
"""

import json
import re
from itertools import groupby
from math import exp, log
from pathlib import Path
from statistics import median

import pytest

from casebook.questions.coordinators.analysis.states import CoordinatorState
from casebook.rehearsal.plays import coordinators_loading as script
from tests.incidents.foretold import Foretold
from tests.incidents.foretold import foretold as told_of
from tests.rehearsal import plays

pytestmark = pytest.mark.alone

NEAR = 0.05
"""Records of groups with longer names are a little larger."""
STARTS = " INFO starting (kafka.server.KafkaServer)"
_FINISHED = re.compile(
    r"Finished loading offsets .*from \[?__consumer_offsets[,-](?P<partition>\d+)\]? in (?P<took>\d+) milliseconds"
    r"(?:.*of which (?P<waited>\d+) milliseconds)?"
)


@pytest.fixture(scope="module", params=["0.9.0.1", "2.8.2"])
def out(request) -> Path:
    """The play on that release."""
    return plays.coordinators_loading(request.param)


@pytest.fixture(scope="module")
def foretold(out) -> dict[int, list[Foretold]]:
    """By broker, in the order of its queue."""
    return {broker: list(own) for broker, own in groupby(told_of(out), key=lambda one: one.broker)}


@pytest.fixture(scope="module")
def records(out) -> dict[int, int]:
    """By partition, as many as the script has committed."""
    groups = json.loads((out / "truth.json").read_text())["facts"]["coordinators"]["groups"]
    return {groups[group]["partition"]: count * script.PARTITIONS for group, count in script.ROUNDS.items()}


def loads(case: Path, broker: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The partitions that a broker has loaded and the milliseconds of each: when all were empty, and since its restart."""
    *_, before, since = plays.logged(case, broker).split(STARTS)
    return tuple(
        [(int(found["partition"]), int(found["took"]) - int(found["waited"] or 0)) for found in _FINISHED.finditer(text)]
        for text in (before, since)
    )


@pytest.mark.parametrize("broker", script.HOLDERS)
def test_who_waits(out, foretold, broker):
    """One that loads and those behind it: what the broker ends after the capture, and in that order."""
    _, known = loads(out / "during", broker)
    _, all_of_them = loads(out / "after", broker)
    assert len(known) >= 3
    assert [one.partition for one in foretold[broker]] == [partition for partition, _ in all_of_them[len(known) :]]
    assert [one.state for one in foretold[broker]] == [
        CoordinatorState.LOADING,
        *[CoordinatorState.QUEUED] * (len(foretold[broker]) - 1),
    ]


@pytest.mark.parametrize("broker", script.HOLDERS)
def test_how_long_loads_take(out, foretold, records, broker):
    """As long as its records take at the mean speed of the loads before: each weighs what it holds, the first a quarter of it."""
    empty, known = loads(out / "during", broker)
    assert {one.loads for one in foretold[broker]} == {len(known)}
    overhead = median(took for _, took in empty)
    weights = [records[partition] * (0.25 if place == 0 else 1) for place, (partition, _) in enumerate(known)]
    logs = [log((took - overhead) / records[partition]) for partition, took in known]
    pace = exp(sum(weight * one for weight, one in zip(weights, logs, strict=True)) / sum(weights))
    for one in foretold[broker][1:]:
        assert one.takes.mid == pytest.approx(overhead + pace * records[one.partition], rel=NEAR)
        assert one.takes.low < one.takes.mid < one.takes.high


@pytest.mark.parametrize("broker", script.HOLDERS)
def test_when_groups_are_served(foretold, broker):
    """One after the other: when those before it are, and as much later as its own load takes."""
    loading, *queued = foretold[broker]
    assert loading.served == tuple(loading.since + part for part in loading.takes)
    ends = loading.served
    for one in queued:
        ends = tuple(end + part for end, part in zip(ends, one.takes, strict=True))
        assert one.served == pytest.approx(ends)
