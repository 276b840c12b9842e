"""Brokers are killed before anything was moved away from them: the case from before foretells it, that of then says what is left to do."""

import json

import pytest

from casebook.case.case import Case
from casebook.kafka import release
from casebook.kafka.drain import KeepReason, Wanted, plan
from casebook.kafka.partitions import verdicts
from casebook.kafka.restart_sets import Harm, RestartSets
from casebook.rehearsal.plays import kill_before_drain as script
from tests.rehearsal import plays

SLOW = frozenset(script.SLOW)


@pytest.fixture(scope="module", params=["0.9.0.1", "3.9.2"])
def out(request):
    """The play on that release."""
    return plays.played("kill-before-drain", request.param)


@pytest.fixture(scope="module")
def left(out):
    """What the script brought about, by topic and partition."""
    rows = json.loads((out / "truth.json").read_text())["phases"]["during"]["partitions"]
    return {(row["topic"], row["partition"]): row for row in rows}


def cluster(out, phase):
    """What a case says."""
    return Case.open(out / phase).cluster()


def test_foretold(out, left):
    """Which partitions would have no leader, and which too few in sync for acks=all."""
    found = cluster(out, "before")
    harmed = RestartSets(verdicts(found, release.release(found).version), found.live).harmed(SLOW)
    assert set(harmed[Harm.OFFLINE]) == {place for place, row in left.items() if row["state"] == "leaderless"}
    assert set(harmed[Harm.UNDER_MIN_ISR]) == {place for place, row in left.items() if row["under_min_isr"]}
    assert set(harmed) == {Harm.OFFLINE, Harm.UNDER_MIN_ISR}


def test_drained_before(out, left):
    """A plan takes everything away from both, what has one replica first, and leaves nothing behind."""
    planned = plan(cluster(out, "before"), Wanted(brokers=SLOW), {})
    held = {place for place, row in left.items() if not SLOW.isdisjoint(row["replicas"])}
    assert {(move.topic, move.partition) for move in planned.moves} == held
    assert planned.blocked == ()
    assert all(SLOW.isdisjoint(move.to_replicas) for move in planned.moves)
    alone = [len(move.from_replicas) == 1 for move in planned.moves]
    assert alone == sorted(alone, reverse=True)


def test_drained_after(out, left):
    """Once they are dead, only what others hold in sync can be moved; what nobody else has waits for them."""
    planned = plan(cluster(out, "during"), Wanted(brokers=SLOW), {})
    held = {place: row for place, row in left.items() if not SLOW.isdisjoint(row["replicas"])}
    assert {(move.topic, move.partition) for move in planned.moves} == {p for p, row in held.items() if row["state"] == "online"}
    assert {(one.topic, one.partition): one.reason for one in planned.blocked} == {
        place: KeepReason.NO_SOURCE for place, row in held.items() if row["state"] == "leaderless"
    }
