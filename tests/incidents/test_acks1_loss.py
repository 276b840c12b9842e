"""A frozen leader comes back, acknowledges what it has no right to, and loses it; what was lost is counted by reading all of it."""

import json
import re
from datetime import datetime

import pytest

from casebook.case.case import Case
from casebook.rehearsal.plays import acks1_loss as script
from tests.rehearsal import ledgers, plays

MOVED = {f"{topic}-{number}" for topic, number in script.MOVED}


@pytest.fixture(scope="module", params=["0.9.0.1", "2.8.2"])
def out(request):
    """The play on that release."""
    return plays.played("acks1-loss", request.param)


@pytest.fixture(scope="module")
def facts(out):
    """What the script wrote down."""
    return json.loads((out / "truth.json").read_text())["facts"]["acks1_loss"]


@pytest.fixture(scope="module")
def ledger(out):
    """What the producers wrote down, as the case has it."""
    return ledgers.entries(Case.open(out / "after"))


def moments(*texts):
    return list(map(datetime.fromisoformat, texts))


def test_lost_where_the_leader_moved(facts):
    """And nowhere else: neither of a follower, nor of the partition that nobody else could lead."""
    assert facts["lost"].keys() == MOVED
    assert min(facts["lost"].values()) > 0


def test_the_producer_was_told_nothing(facts, ledger):
    """Every lost record was acknowledged with an offset, and no record failed."""
    lost = set(facts["lost_ids"])
    entries = [entry for entry in ledger if entry["id"] in lost]
    assert len(entries) == len(lost) == sum(facts["lost"].values())
    assert all(entry["acked"] and entry["offset"] >= 0 for entry in entries)
    assert facts["failed"] == 0


def test_acknowledged_when_another_led(facts, ledger):
    """From the election by ZooKeeper's clock to the truncation; before it only what the followers had not yet fetched."""
    moves = {move["partition"]: move for move in facts["moved"]}
    for entry in ledger:
        if entry["id"] in facts["lost_ids"]:
            move = moves[f"{entry['topic']}-{entry['partition']}"]
            sent, acked, still, continued, elected = moments(
                entry["sent"], entry["acked"], facts["stands_still"], facts["continued"], move["elected_at"]
            )
            assert sent <= still or acked > continued > elected
            assert entry["offset"] >= move["truncated_to"]


def test_silent_it_loses_nothing_and_alone_it_saves_all(facts):
    """What had waited for the leader it acknowledged when it went on, and then lost: but of the partition that it still leads."""
    late, kept = facts["acked_late"], facts["acked_late_and_stored"]
    assert late.keys() == {*MOVED, "clicks-1"}
    assert kept["clicks-1"] == late["clicks-1"]
    assert all(kept.get(name, 0) < late[name] for name in MOVED)


def test_order_of_events(facts):
    """Suspended, others elected, continued, truncated."""
    for move in facts["moved"]:
        told = moments(facts["suspended"], move["elected_at"], facts["continued"], *filter(None, [move["truncated_at"]]))
        assert told == sorted(told)


def test_case(out, facts):
    """ZooKeeper's own files tell the same elections to the millisecond, and its server when it gave the session up."""
    case = Case.open(out / "after")
    assert not case.damaged
    ledgers.whole(case, out / "ledgers", acks={"billing": "1", "refunds": "1"})
    ledgers.copied(case, brokers=script.BROKERS, topics=script.TOPICS)
    changed = {(znode.path, change.time) for change in case.history() for znode in change.znodes}
    for row in facts["states"]:
        topic, _, number = row["partition"].rpartition("-")
        at = round(datetime.fromisoformat(row["at"]).timestamp() * 1000)
        assert (f"/brokers/topics/{topic}/partitions/{number}/state", at) in changed
    assert "Expiring session" in (out / "after" / "zookeeper" / "logs" / "zookeeper" / "zookeeper.out").read_text()


def test_the_consumer_was_told_more(out):
    """Its coordinator moved as well: it says so, and nothing of that is what was lost."""
    said = (out / "after" / "clients" / script.GROUP / "logs" / "consumer.log").read_text()
    assert re.search("This is not the correct coordinator|is unavailable or invalid|Marking the coordinator", said)
