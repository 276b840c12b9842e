"""A clean election of one that had cut its log at its start: what notebook 70 says, against what was counted by reading it all back."""

import json
from itertools import pairwise

import pytest

from casebook.facts.losses import Cause
from casebook.rehearsal.plays import full_restart_loss as script
from casebook.rehearsal.servers.topics import label
from tests.rehearsal import plays


@pytest.fixture(scope="module")
def out():
    return plays.played("full-restart-loss", "0.9.0.1")


@pytest.fixture(scope="module")
def facts(out):
    """What the script wrote down."""
    return json.loads((out / "truth.json").read_text())["facts"]["full_restart_loss"]


@pytest.fixture(scope="module")
def concluded(out, spark):
    """The evidence, and all lost records of it."""
    evidence = plays.losses(out / "after")
    return evidence, evidence.lost.rows.collect()


def test_acks_all_and_a_clean_election_lost_it(facts):
    """The new leader was in sync, two had to be, and what both had acknowledged is gone."""
    assert facts["lost"].keys() == {label(partition) for partition in script.PARTITIONS}
    assert len(facts["lost_ids"]) == sum(facts["lost"].values())
    for name in facts["lost"]:
        states = [row for row in facts["states"] if row["partition"] == name]
        moved = [(before["isr"], after["leader"]) for before, after in pairwise(states) if before["leader"] != after["leader"]]
        assert moved == [([script.LEADER, script.FOLLOWER], script.FOLLOWER)]


def test_lost(facts, concluded):
    """Precision and recall are 1."""
    assert sorted(row["name"] for row in concluded[1]) == sorted(facts["lost_ids"])


def test_cause(concluded):
    """Each went with the election of broker 2, which had cut its log at its start: no alarm."""
    evidence, rows = concluded
    changes = {change.number: change for change in evidence.examined.changes}
    assert {row["cause"] for row in rows} == {Cause.CUT_AT_START}
    for change in {changes[row["change"]] for row in rows}:
        assert (change.old_leader, change.new_leader, change.unclean) == (script.LEADER, script.FOLLOWER, False)
