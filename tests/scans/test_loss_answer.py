"""The answer of notebook 70, asked again: the same without Spark, and made anew where it may have changed."""

import json
import os
import shutil
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from casebook.case.case import Case
from casebook.kafka import release
from casebook.machine import answers, places
from casebook.notebook.examination import Examination
from casebook.questions.loss.evidence import LossEvidence

SAMPLE = places.samples_dir() / "isr_shrunk_loss"


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """The folder of answers, which is empty."""
    monkeypatch.setattr(answers, "cache_dir", lambda: tmp_path / "cache")
    return tmp_path / "cache" / "answers" / "loss"


@pytest.fixture
def without_spark(monkeypatch):
    """Call it, and nothing may read records any more."""

    def refuse(_):
        raise AssertionError("It looks for records.")

    return lambda: monkeypatch.setattr(LossEvidence, "examined", property(refuse))


def ask(folder: Path = SAMPLE, **asked):
    """Answer and tables, and the rows of all lost records."""
    case = Case.open(folder)
    cluster = case.cluster()
    version = release.release(cluster, logged=case.logged_versions(), configured=case.configured_versions())
    one = Examination(case=case, cluster=cluster, version=version, at=None, progress=lambda *_, **__: lambda *_: None)
    found, consumed = one.message_loss(**asked)
    lost = pq.read_table(one.kept.lost).to_pylist() if one.kept.lost else None
    return found, consumed._replace(records=None), one.kept.tables, lost


def test_the_same_without_spark(spark, kept, without_spark):
    first = ask()
    assert first[0].lost_total > 0
    assert len(first[3]) == first[0].lost_total
    without_spark()
    assert ask() == first


def test_other_parameters_are_another_question(spark, kept):
    ask()
    ask(compare=False)
    assert len(list(kept.iterdir())) == 2


def test_another_case_is_another_question(spark, kept, tmp_path):
    """Its manifest differs, or a file is not as the manifest has it."""
    ask()
    copy = shutil.copytree(SAMPLE, tmp_path / "case")
    path, _ = next(iter(Case.open(SAMPLE).ledgers()))
    (copy / path).write_bytes((copy / path).read_bytes()[:-40])
    found, *_ = ask(copy)
    assert found.ledger != ask()[0].ledger
    assert len(list(kept.iterdir())) == 2


@pytest.mark.parametrize("damage", ["", "[", "[[1, 2], []]"])
def test_a_damaged_answer_is_made_anew(spark, kept, damage):
    first = ask(compare=False)
    (answer,) = kept.iterdir()
    (answer / "answer.json").write_text(damage)
    assert ask(compare=False) == first


def test_a_ledger_from_elsewhere_may_change(spark, kept, tmp_path):
    (tmp_path / "ledger.jsonl").write_text(json.dumps({"id": "a", "topic": "t", "outcome": "acked"}) + "\n")
    ask(ledger=str(tmp_path / "ledger.jsonl"), compare=False)
    assert not kept.exists()


def test_what_could_not_be_read_may_be_there_tomorrow(spark, kept, monkeypatch):
    """Segments that stayed on another machine."""
    monkeypatch.setattr("casebook.spark.copies.is_here", lambda _: False)
    monkeypatch.setattr("casebook.spark.copies.chosen", lambda *_: ())
    found, *_ = ask(compare=False)
    assert found.lost_total is None
    assert not list(kept.iterdir())


def test_answers_go_a_week_after_their_last_use(kept):
    old, new = answers.place("loss", 1), answers.place("loss", 2)
    for place in (old, new):
        place.mkdir(parents=True)
    os.utime(old, (time.time() - 8 * 24 * 3600,) * 2)
    assert answers.place("loss", 2) == new
    assert (old.exists(), new.exists()) == (False, True)
