"""Coordinators move when one broker is restarted, and their groups wait as was foretold; when all are, nobody takes them over."""

import json
import re
from datetime import datetime

import pytest

from casebook.analysis import maintenance, release
from casebook.case import Case
from casebook.rehearsal import restart_all_coordinators as script
from tests.rehearsal import plays

pytestmark = pytest.mark.alone

_LINE = re.compile(
    r"^\[(?P<at>[\d :,-]+)\].* (?P<what>Loading|Finished loading) offsets .*\[__consumer_offsets,(?P<partition>\d+)\]"
)


@pytest.fixture(scope="module")
def out():
    """The play."""
    return plays.played("restart-all-coordinators", "0.9.0.1")


@pytest.fixture(scope="module")
def truth(out):
    """What the script wrote down."""
    return json.loads((out / "truth.json").read_text())["facts"]["restart_all_coordinators"]


@pytest.fixture(scope="module")
def found(out):
    """What notebook 30 concludes from the case before, with segments."""
    case = Case.open(out / "copied")
    cluster = case.cluster()
    held = plays.evidence(out / "copied", scan=True).coordinators
    return maintenance.examine(cluster, release.release(cluster), held=held, log_dirs=case.log_dirs())


@pytest.fixture(scope="module")
def loads(truth):
    """By broker that took something over: the partitions, and the seconds from the first line to the last."""
    told = {}
    for broker, lines in truth["one"]["loads"].items():
        seen = [match for match in map(_LINE.match, lines) if match]
        times = [datetime.strptime(match["at"], "%Y-%m-%d %H:%M:%S,%f") for match in seen]
        if seen:
            told[int(broker)] = {int(match["partition"]) for match in seen}, (max(times) - min(times)).total_seconds()
    return told


def row(found, *brokers):
    """What stopping them together would do; the pairs and singles are all there."""
    return next(one for one in found.restarts if one.brokers == brokers)


def test_who_takes_over(found, loads):
    """Each partition goes where it was foretold to."""
    told = {}
    for handover in found.moves.of([script.ONE]).handovers:
        told.setdefault(handover.to, set()).add(handover.partition)
    assert told == {broker: partitions for broker, (partitions, _) in loads.items()}


def test_how_long_groups_wait(found, loads):
    """Within the interval that was named, for the broker that takes longest."""
    wait = found.moves.of([script.ONE]).wait
    assert wait.low / 1000 <= max(seconds for _, seconds in loads.values()) <= wait.high / 1000
    assert row(found, script.ONE).seconds_without_coordinator == pytest.approx(wait.mid / 1000, abs=0.1)


def test_how_many_groups(found):
    """Those of the partitions that it leads."""
    led = {number for number, replicas in enumerate(script.REPLICAS) if replicas[0] == script.ONE}
    assert row(found, script.ONE).groups_without_coordinator == sum(number in led for number in script.GROUPS.values())
    assert row(found, script.ONE).safe


def test_all_together(found, truth):
    """Every partition is offline, every group waits, and for how long is not known: until somebody is back and has loaded."""
    together = found.together((script.BROKERS,))
    assert together.safe is False
    assert (together.groups_without_coordinator, together.seconds_without_coordinator) == (len(script.GROUPS), None)
    assert "nobody takes over" in together.why
    begun = datetime.fromisoformat(truth["all"]["begun"])
    waited = {group: (datetime.fromisoformat(at) - begun).total_seconds() for group, at in truth["all"]["served"].items()}
    assert min(waited.values()) > row(found, script.ONE).seconds_without_coordinator
