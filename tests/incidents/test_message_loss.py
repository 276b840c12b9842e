"""What notebook 70 concludes of records that were really lost, against what was counted by reading everything back."""

import json
from datetime import datetime
from functools import cache

import pytest

from casebook.facts.losses import Cause
from casebook.facts.records import RecordVerdict
from tests.rehearsal import plays

PLAYS = [(incident, kafka) for incident in ("acks1-loss", "isr-shrunk-loss") for kafka in ("0.9.0.1", "2.8.2")]
NEAR = 0.25
"""Seconds between what the script saw in ZooKeeper and the transaction."""


@cache
def truth(incident, kafka):
    return json.loads((plays.played(incident, kafka) / "truth.json").read_text())["facts"][incident.replace("-", "_")]


@cache
def concluded(incident, kafka):
    """The evidence, and all lost records of it."""
    evidence = plays.losses(plays.played(incident, kafka) / "after")
    return evidence, evidence.lost.rows.collect()


@pytest.fixture(params=PLAYS, ids=lambda play: "-".join(play))
def play(request, spark):
    return request.param


def moment(text):
    return datetime.fromisoformat(text).timestamp()


def test_lost(play):
    """Precision and recall are 1: the ids that are missing, and no other."""
    _, rows = concluded(*play)
    assert sorted(row["name"] for row in rows) == sorted(truth(*play)["lost_ids"])


def test_counts(play):
    """What is summed up is what there is, partition by partition."""
    found = concluded(*play)[0].examined
    lost = {f"{row.topic}-{row.partition}": row.records for row in found.classes if row.verdict == RecordVerdict.LOST}
    assert lost == truth(*play)["lost"]
    assert (found.acked, found.lost_total) == (truth(*play)["acked"], len(truth(*play)["lost_ids"]))
    assert sum(row.records for row in found.counts) == found.lost_total


def test_windows(play):
    """Each lies in the election that really took it."""
    evidence, rows = concluded(*play)
    changes = {change.number: change for change in evidence.examined.changes}
    moves = {}
    for move in truth(*play)["moved"]:
        if move.get("lost", 1):
            moves[move["partition"]] = move
    right = 0
    for row in rows:
        change, move = changes.get(row["change"]), moves[f"{row['topic']}-{row['partition']}"]
        right += change is not None and (
            abs(change.opened / 1000 - moment(move["elected_at"])) < NEAR
            and (change.old_leader, change.new_leader) == (move["old_leader"], move["new_leader"])
        )
    assert right >= 0.99 * len(rows)


def test_causes(play):
    """An ISR of one where it had shrunk, a leader that was deposed, or moved, elsewhere; and nothing without cause."""
    evidence, rows = concluded(*play)
    alone = {move["partition"] for move in truth(*play)["moved"] if move.get("alone_since")}
    for row in rows:
        expected = Cause.ISR_OF_ONE if f"{row['topic']}-{row['partition']}" in alone else Cause.DEPOSED_LEADER
        assert row["cause"] == expected, row
    by_cause = {row.cause: row.records for row in evidence.examined.causes}
    assert by_cause[None] == 0
    assert {check.check: check.status for check in evidence.examined.findings}["loss.outside_every_window"] == "ok"


def test_failed_yet_stored(play):
    """Records that were reported failed, and lie there, are no loss."""
    found = concluded(*play)[0].examined
    stored = sum(row.records for row in found.classes if row.verdict == RecordVerdict.STORED_THOUGH_FAILED)
    assert stored == truth(*play)["failed_but_stored"]


def test_without_ledger(play):
    """The partitions whose offsets disappeared are known from logs, epochs and copies alone."""
    found = concluded(*play)[0].examined
    cut = {f"{row.topic}-{row.partition}" for row in (*found.cut_ranges, *found.divergences)}
    assert truth(*play)["lost"].keys() - cut <= {move["partition"] for move in truth(*play)["moved"] if move.get("planned")}


@pytest.mark.parametrize("kafka", ["0.9.0.1", "2.8.2"])
def test_by_time_alone(spark, kafka):
    """A ledger without offsets gives the same records the same causes."""
    place = plays.played("isr-shrunk-loss", kafka) / "after"
    with_offsets = {row["name"]: row["cause"] for row in concluded("isr-shrunk-loss", kafka)[1]}
    entries = [json.loads(line) for file in sorted(place.glob("clients/*/ledgers/*")) for line in file.read_text().splitlines()]
    without = place.parent / "without.jsonl"
    without.write_text("".join(json.dumps({k: v for k, v in one.items() if k != "offset"}) + "\n" for one in entries))
    evidence = plays.losses(place, ledger=str(without))
    assert {row["name"]: row["cause"] for row in evidence.lost.rows.collect()} == with_offsets
