"""Coordinators load one partition after the other, and clients are refused meanwhile as each release refuses them."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from casebook.questions.coordinators.analysis.states import WAITING, CoordinatorState
from casebook.rehearsal.plays import coordinators_loading as script
from casebook.rehearsal.plays import load_never_ends
from tests.rehearsal import plays

pytestmark = pytest.mark.alone

REFUSED = {"0.9.0.1": {16}, "2.8.2": {14, 16}}
"""What OffsetFetch may be answered while its partition waits: later releases first decline, until they are told to lead."""


@pytest.fixture(scope="module", params=REFUSED)
def kafka(request) -> str:
    """The release."""
    return request.param


@pytest.fixture(scope="module")
def out(kafka) -> Path:
    """The play on that release."""
    return plays.coordinators_loading(kafka)


@pytest.fixture(scope="module")
def truth(out):
    """What the script wrote down."""
    return json.loads((out / "truth.json").read_text())


def test_captured_in_mid_load(truth):
    """On each restarted broker three groups were served by then, and two were not."""
    captured = next(datetime.fromisoformat(a["at"]) for a in truth["actions"] if a["did"] == "Capture the phase during.")
    for broker in script.HOLDERS:
        served = [
            datetime.fromisoformat(seen["served_at"]) < captured
            for seen in truth["facts"]["coordinators"]["groups"].values()
            if script.holder(seen["partition"]) == broker
        ]
        assert len(served) == 5
        assert sum(served) == 3


def test_what_clients_saw(truth, kafka):
    """FindCoordinator named the broker long before it answered anything else."""
    for group, seen in truth["facts"]["coordinators"]["groups"].items():
        codes = {answer["code"] for answer in seen["answers"] if answer["request"] == "OffsetFetch"}
        assert codes - {0, None} <= REFUSED[kafka], group
        assert bool(codes - {0, None}) == (script.holder(seen["partition"]) in script.HOLDERS)


def test_the_case_knows_less_than_the_truth(out, truth):
    """The broker's lines at the moment of the capture are a beginning of those at the end."""
    for broker in script.HOLDERS:
        logs = (out / "during" / "brokers" / str(broker) / "logs").glob("server.log*")  # one of each hour
        log = "".join(file.read_text() for file in logs)
        told = [line in log for line in truth["facts"]["coordinators"]["loads"][str(broker)]]
        assert told == sorted(told, reverse=True)
        assert True in told
        assert False in told


@pytest.fixture(scope="module")
def endless() -> Path:
    """The play of ``load-never-ends``."""
    return plays.played("load-never-ends", "0.9.0.1")


@pytest.fixture(scope="module")
def stuck(endless):
    """What the script wrote down."""
    return json.loads((endless / "truth.json").read_text())["facts"]["coordinators"]


class TestLoadNeverEnds:
    def test_one_group_keeps_others_waiting(self, stuck):
        """Its own partition is begun and never finished; those behind it are not even begun."""
        assert "payments" in stuck["never_served"]
        assert "Loading" in stuck["loads"][-1]
        assert "[__consumer_offsets,1]" in stuck["loads"][-1]

    def test_the_loader_is_busy(self, stuck):
        """It goes on using the processor, and ends nothing."""
        assert stuck["loader"]["cpu_seconds"] >= load_never_ends.IN_VAIN

    def test_it_is_told_apart_from_a_slow_load(self, endless, stuck):
        """By the batch in the segments; and for nobody behind it a time is named."""
        triaged = plays.evidence(endless / "during", scan=False).coordinators  # first: what is kept of a scan is used
        held = plays.evidence(endless / "during", scan=True).coordinators
        assert {one.judged.partition for one in held.partitions if one.judged.state is CoordinatorState.LOADING_FOR_EVER} == {1}
        assert [one.judged.state for one in triaged.partitions] == [one.judged.state for one in held.partitions]
        waiting = {one.judged.partition: one.eta for one in held.partitions if one.judged.state in WAITING}
        assert waiting == {stuck["groups"][group]["partition"]: None for group in stuck["never_served"]}
