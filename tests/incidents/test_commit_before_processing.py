"""Groups lose records that they commit before the work is done: exactly these are found, from their commits and their ledgers."""

import json
from collections import Counter

import pytest

from casebook.findings.finding import Severity, Status
from casebook.questions.loss.analysis.unprocessed import unprocessed as judged
from casebook.questions.loss.analysis.unprocessed_rows import StepKind
from casebook.rehearsal.plays import commit_before_processing as script
from tests.rehearsal import plays


@pytest.fixture(scope="module", params=["0.9.0.1", "2.8.2"])
def out(request):
    """The play on that release."""
    return plays.played("commit-before-processing", request.param)


@pytest.fixture(scope="module")
def groups(out):
    """What the script did to each group."""
    return json.loads((out / "truth.json").read_text())["facts"]["commit_before_processing"]["groups"]


@pytest.fixture(scope="module")
def found(out, spark):
    """What is concluded from the case."""
    return plays.consumed(out / "after")


def test_exactly_what_was_never_processed(found, groups):
    """By group, the ids of the script; the group that commits what it has processed lost none, though it was killed."""
    by_group = {group: sorted(row.id for row in found.first if row.group == group) for group in groups}
    assert by_group == {group: sorted(told["unprocessed"]) for group, told in groups.items()}
    assert {group for group, ids in by_group.items() if not ids} == {script.BOOKKEEPING}


def test_how(found, groups):
    """For at least 99 of 100 records."""
    right = Counter(row.how == groups[row.group]["how"] for row in found.first)
    assert right[True] >= 0.99 * right.total() > 0


def test_counts(found, groups):
    """What each group has committed, and what it has processed twice, as its coordinator and its ledger say."""
    rows = found.work
    assert {(row.group, f"{row.topic}-{row.partition}"): row.committed for row in rows} == {
        (group, partition): offset for group, told in groups.items() for partition, offset in told["committed"].items()
    }
    twice = Counter()
    for row in rows:
        twice[row.group] += row.twice
        assert row.unknown == {}
    assert twice == Counter({group: told["twice"] for group, told in groups.items()})
    assert judged(rows).facts["unprocessed"] == sum(len(told["unprocessed"]) for told in groups.values())


def test_set_elsewhere(found, groups):
    """An operator's two commits, one forward and one back, are all that is odd."""
    by = {row.offset - row.before: row.kind for row in found.steps}
    assert by == {script.FORWARD: StepKind.RESET, -script.BACK: StepKind.RESET}
    assert {row.group for row in found.steps} == {script.REPORTING}
    answer = next(one for one in found.findings if one.check == "loss.commits_backwards")
    assert (answer.status, answer.severity) == (Status.FINDING, Severity.WARNING)


def test_nothing_lost_by_brokers(out, spark):
    """Where no broker failed, every acknowledged record is there."""
    examined = plays.losses(out / "after").examined
    answers = {one.check: one.status for one in examined.findings}
    assert (examined.lost_total, answers["loss.lost"], answers["loss.looked_everywhere"]) == (0, Status.OK, Status.OK)
    assert examined.acked > 0
