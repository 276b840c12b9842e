"""Coordinators move when one broker is restarted, to whom it was foretold; when all are restarted, nobody takes them over.

How near the wait that is foretold comes to what brokers log is for recorded plays here, and measured on new ones in
``tests/bench/load_forecast.py``: it depends on whether the machine goes on as fast as before.
"""

import json

import pytest

from casebook.case.case import Case
from casebook.kafka import release
from casebook.machine import places
from casebook.questions.maintenance.analysis import maintenance
from casebook.rehearsal.plays import restart_all_coordinators as script
from tests.incidents.foretold import taken_over
from tests.rehearsal import plays


@pytest.fixture(scope="module")
def out():
    """The play."""
    return plays.played("restart-all-coordinators", "0.9.0.1")


@pytest.fixture(scope="module")
def truth(out):
    """What the script wrote down."""
    return json.loads((out / "truth.json").read_text())["facts"]["restart_all_coordinators"]


def concluded(place, *, scan):
    """What notebook 30 concludes from a case."""
    case = Case.open(place)
    cluster = case.cluster()
    held = plays.evidence(place, scan=scan).coordinators
    return maintenance.examine(cluster, release.release(cluster), held=held, log_dirs=case.log_dirs())


@pytest.fixture(scope="module")
def found(out):
    """From the case before, with segments."""
    return concluded(out / "copied", scan=True)


@pytest.fixture(scope="module")
def loads(truth):
    """By broker that took something over: the partitions, and the seconds from the first line to the last."""
    return taken_over(truth)


def row(found, *brokers):
    """What stopping them together would do; the pairs and singles are all there."""
    return next(one for one in found.restarts if one.brokers == brokers)


def test_who_takes_over(found, loads):
    """Each partition goes where it was foretold to."""
    told = {}
    for handover in found.moves.of([script.ONE]).handovers:
        told.setdefault(handover.to, set()).add(handover.partition)
    assert told == {broker: partitions for broker, (partitions, _) in loads.items()}


def test_how_long_groups_wait_in_a_recorded_play():
    """Within the interval that was named from the case before, for the broker that takes longest."""
    sample = places.samples_dir() / "restart_all_coordinators"
    truth = json.loads((sample / "expected.json").read_text())["facts"]["restart_all_coordinators"]
    wait = concluded(sample, scan=False).moves.of([script.ONE]).wait
    assert wait.low / 1000 <= max(seconds for _, seconds in taken_over(truth).values()) <= wait.high / 1000


def test_how_long_groups_wait(found):
    """For the broker that takes longest; what is said of it is the middle."""
    wait = found.moves.of([script.ONE]).wait
    assert 0 < wait.low < wait.mid < wait.high
    assert row(found, script.ONE).seconds_without_coordinator == pytest.approx(wait.mid / 1000, abs=0.1)


def test_how_many_groups(found):
    """Those of the partitions that it leads."""
    led = {number for number, replicas in enumerate(script.REPLICAS) if replicas[0] == script.ONE}
    assert row(found, script.ONE).groups_without_coordinator == sum(number in led for number in script.GROUPS.values())
    assert row(found, script.ONE).safe


def test_all_together(out, found, truth):
    """Every partition is offline, every group waits, and for how long is not known: until somebody is back and has loaded."""
    together = found.together((script.BROKERS,))
    assert together.safe is False
    assert (together.groups_without_coordinator, together.seconds_without_coordinator) == (len(script.GROUPS), None)
    assert "no broker takes over" in together.why
    assert min(truth["all"]["served"].values()) > started(out)


def started(out):
    """When all were started again, after they had been killed together."""
    actions = json.loads((out / "truth.json").read_text())["actions"]
    return max(action["at"] for action in actions if action["did"] == "Start broker 1 and broker 2 and broker 3.")
