"""Ledgers that do not fit their evidence: what is said of a shipped case whose losses are known, and never a false loss."""

import json
import shutil

import pytest

from casebook.case.case import Case
from casebook.errors import UsageError
from casebook.findings.finding import Status
from casebook.machine import places
from tests.rehearsal import plays

SAMPLE = "isr_shrunk_loss"


@pytest.fixture(scope="module")
def case():
    return places.samples_dir() / SAMPLE


@pytest.fixture(scope="module")
def facts(case):
    """What the script counted."""
    return json.loads((case / "expected.json").read_text())["facts"][SAMPLE]


@pytest.fixture(scope="module")
def entries(case):
    """The case's own ledgers."""
    return [json.loads(line) for path, _ in Case.open(case).ledgers() for line in (case / path).read_text().splitlines()]


@pytest.fixture
def looked(case, spark, tmp_path):
    """What is concluded of other ledgers, in JSON lines."""

    def look(rows, folder=case, **asked):
        path = tmp_path / "ledger.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        evidence = plays.losses(folder, ledger=str(path), compare=False, **asked)
        return evidence, evidence.examined

    return look


def ids(evidence):
    return sorted(row["name"] for row in evidence.lost.rows.collect()) if evidence.lost else []


def answers(found):
    return {one.check.removeprefix("loss."): one for one in found.findings}


def test_other_ids(looked, entries):
    """No id matches: that is said, and nothing is called lost."""
    evidence, found = looked([row | {"id": f"order/{row['id']}"} for row in entries])
    assert (ids(evidence), found.lost_total) == ([], 0)
    assert answers(found)["lost"].status is Status.COULD_NOT_CHECK
    assert "Nothing matched" in answers(found)["lost"].title


def test_pattern_for_them(looked, entries, facts):
    """With the pattern that takes the ids out of it, the same ledger says it all."""
    evidence, _ = looked([row | {"id": f"order/{row['id']}"} for row in entries], id_pattern="order/(.*)")
    assert ids(evidence) == sorted(facts["lost_ids"])


def test_every_row_twice(looked, entries, facts):
    """A ledger that was merged twice tells of each record once."""
    evidence, found = looked(entries + entries)
    assert ids(evidence) == sorted(facts["lost_ids"])
    assert found.acked == facts["acked"]


def test_topic_that_is_not_there(looked, entries, facts):
    """Of a topic that nobody collected nothing is said; of the others all."""
    ghosts = [row | {"id": f"g{n}", "topic": "ghost"} for n, row in enumerate(entries[:50]) if "acked" in row]
    evidence, found = looked(entries + ghosts)
    assert ids(evidence) == sorted(facts["lost_ids"])
    assert {row.verdict for row in found.classes if row.topic == "ghost"} == {"not_scanned"}
    assert answers(found)["looked_everywhere"].facts["not_scanned"] == len(ghosts)
    assert answers(found)["looked_everywhere"].status is Status.COULD_NOT_CHECK


def test_half_of_the_partitions(looked, entries, facts, case, tmp_path):
    """Loss is stated where it was looked for, and nowhere else."""
    half = tmp_path / "half"
    shutil.copytree(case, half)
    for folder in half.glob("brokers/*/segments/payments-1"):
        shutil.rmtree(folder)
    evidence, found = looked(entries, half)
    there = {row["id"] for row in entries if (row["topic"], row["partition"]) != ("payments", 1)}
    assert ids(evidence) == sorted(there & set(facts["lost_ids"]))
    assert {row.verdict for row in found.classes if (row.topic, row.partition) == ("payments", 1)} == {"not_scanned"}


def test_outside_every_window(looked, entries, facts):
    """One that no change of leader explains is an alarm, with what lies at its offset instead."""
    (there,) = (row for row in entries if (row["topic"], row.get("partition"), row.get("offset")) == ("payments", 2, 5))
    evidence, found = looked([*entries, there | {"id": "phantom"}])
    assert ids(evidence) == sorted([*facts["lost_ids"], "phantom"])
    (alarm,) = (row for row in found.lost if row.cause is None)
    assert (alarm.id, alarm.partition, alarm.there_id, alarm.window) == ("phantom", 2, there["id"], "")
    assert answers(found)["outside_every_window"].facts == {"records": 1, "partitions": ["payments-2"]}
    assert "1 has no explanation" in answers(found)["lost"].title


def test_offsets_as_ids(looked, entries, facts):
    """An offset that was given again hides a loss, but none is invented."""
    evidence, _ = looked(entries, record_id="offset")
    assert set(ids(evidence)) <= set(facts["lost_ids"])


def test_column_that_is_not_there(looked, entries):
    """The likely one is named."""
    with pytest.raises(UsageError, match="idd"):
        looked(entries, ledger_id="idd")


def test_unknown_column(looked, entries):
    """A name that means no column."""
    with pytest.raises(UsageError, match="topik"):
        looked(entries, ledger_columns="topik=topic")


def test_no_ledger(spark, tmp_path, case):
    """Without any the rest is told all the same: what was cut away, and what is missing."""
    bare = tmp_path / "bare"
    shutil.copytree(case, bare)
    shutil.rmtree(bare / "clients")
    manifest = json.loads((bare / "case.json").read_text())
    manifest["items"] = [item for item in manifest["items"] if not item["path"].startswith("clients/")]
    (bare / "case.json").write_text(json.dumps(manifest))
    found = plays.losses(bare).examined
    assert (found.acked, found.lost_total) == (None, None)
    assert answers(found)["lost"].status is Status.COULD_NOT_CHECK
    assert {row.topic for row in found.limits} == {"payments", "invoices", "audit", "clicks", "views"}
    assert answers(found)["replicas_agree"].status is not Status.COULD_NOT_CHECK
