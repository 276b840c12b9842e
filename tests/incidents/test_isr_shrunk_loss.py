"""A leader alone in sync acknowledges and dies, a follower without all of that is elected; what was lost is counted by reading it all."""

import json
from collections import Counter
from datetime import datetime

import pytest

from casebook.case.case import Case
from casebook.rehearsal.plays import isr_shrunk_loss as script
from casebook.rehearsal.servers.topics import label
from tests.rehearsal import ledgers, plays

LOSING = {label(partition) for partition in script.LOSING}
SAVED, REFUSED, THREE, VIEWS = map(label, (script.SAVED, script.REFUSED, script.THREE, script.VIEWS))


@pytest.fixture(scope="module", params=["0.9.0.1", "2.8.2"])
def out(request):
    """The play on that release."""
    return plays.played("isr-shrunk-loss", request.param)


@pytest.fixture(scope="module")
def facts(out):
    """What the script wrote down."""
    return json.loads((out / "truth.json").read_text())["facts"]["isr_shrunk_loss"]


@pytest.fixture(scope="module")
def case(out):
    """What was captured when all were back."""
    return Case.open(out / "after")


@pytest.fixture(scope="module")
def ledger(case):
    """What the producers wrote down, by partition."""
    found = {}
    for entry in ledgers.entries(case):
        found.setdefault(f"{entry['topic']}-{entry['partition']}", []).append(entry)
    return found


def moment(text):
    return datetime.fromisoformat(text)


def move(facts, name, **wanted):
    (found,) = (row for row in facts["moved"] if row["partition"] == name and wanted.items() <= row.items())
    return found


def test_lost_where_a_leader_lacked_it(facts):
    """Where an unclean election was held, and where a leader was moved that was behind; nowhere else."""
    assert facts["lost"].keys() == LOSING | {VIEWS}
    assert min(facts["lost"].values()) > 0
    assert sum(facts["lost"].values()) == len(facts["lost_ids"]) == len(set(facts["lost_ids"]))
    assert sum(move["lost"] for move in facts["moved"]) == len(facts["lost_ids"])


@pytest.mark.parametrize("name", sorted(LOSING))
def test_all_that_was_acknowledged_alone(facts, ledger, name):
    """From the moment when the ISR was the leader alone to its end, and nothing before or after."""
    moved, lost = move(facts, name), set(facts["lost_ids"])
    assert (moved["old_leader"], moved["new_leader"], moved["unclean"]) == (script.LEADER, script.FOLLOWER, True)
    alone, started, elected = map(moment, (moved["alone_since"], facts["started"], moved["elected_at"]))
    assert alone < started < elected
    acked = [entry for entry in ledger[name] if entry.get("acked")]
    assert all(alone <= moment(entry["acked"]) < started for entry in acked if entry["id"] in lost)
    assert {entry["id"] for entry in acked if moment(entry["sent"]) >= alone and moment(entry["acked"]) < started} <= lost
    assert any(moment(entry["acked"]) > elected for entry in acked)


def test_what_saves_records(facts, ledger):
    """No unclean election: the ISR of one comes back with all of it. Two in sync: refused. A third replica: a clean election."""
    alone = facts["acked_alone"]
    assert alone.keys() == LOSING | {SAVED}
    assert facts["acked_alone_and_stored"][SAVED] == alone[SAVED]
    assert move(facts, REFUSED)["unclean"]
    assert any("NOT_ENOUGH_REPLICAS" in (entry.get("failed") or "") for entry in ledger[REFUSED])
    assert not move(facts, THREE)["unclean"]


def test_failed_and_yet_stored(facts, ledger):
    """The producer was told that time was up, while the follower was dead and not yet given up."""
    assert facts["failed_but_stored"] > 0
    reasons = Counter((entry.get("failed") or "").partition(":")[0] for name in (SAVED, THREE) for entry in ledger[name])
    assert reasons["REQUEST_TIMED_OUT"] > 0


def test_planned_move(facts, ledger):
    """What the preferred leader had not fetched is lost with acks=1, and was acknowledged by the leader before it."""
    moved, lost = move(facts, VIEWS, planned=True), set(facts["lost_ids"])
    assert (moved["old_leader"], moved["new_leader"], moved["unclean"]) == (script.CONTROLLER, script.LEADER, False)
    gone = [entry for entry in ledger[VIEWS] if entry["id"] in lost]
    kept = [entry for entry in ledger[VIEWS] if entry["id"] not in lost]
    assert {entry["acks"] for entry in gone} == {"1"}
    assert max(entry["offset"] for entry in gone) - min(entry["offset"] for entry in gone) + 1 == len(gone)
    assert {entry["offset"] for entry in gone} & {entry["offset"] for entry in kept}


def test_case(out, case, facts):
    """It holds the ledgers, the segments of all copies, and ZooKeeper's own files, which tell the same elections."""
    assert not case.damaged
    assert case.could_not_collect == ()
    ledgers.whole(case, out / "ledgers", acks={"billing": "all", "tracking": "1"})
    ledgers.copied(case, brokers=script.BROKERS, topics=script.TOPICS)
    changed = {(znode.path, change.time) for change in case.history() for znode in change.znodes}
    for row in facts["moved"]:
        topic, _, number = row["partition"].rpartition("-")
        at = round(moment(row["elected_at"]).timestamp() * 1000)
        assert (f"/brokers/topics/{topic}/partitions/{number}/state", at) in changed
