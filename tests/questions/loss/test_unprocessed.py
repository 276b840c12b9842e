"""What is said of records that were committed and never processed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casebook.facts.records import UnsuitedLedger
from casebook.findings.finding import Severity, Status
from casebook.questions.loss.analysis.unprocessed import Missed, unprocessed, verdict
from casebook.questions.loss.analysis.unprocessed_rows import (
    AssignmentLine,
    ConsumerLogs,
    GroupWork,
    Reset,
    SkipKind,
    UnprocessedDoubt,
)

maybe = st.sampled_from([None, False, True])
SIGNATURES = st.builds(Missed, *[maybe if name in ("members", "changed", "threads", "after") else st.booleans()
                                 for name in Missed._fields])  # fmt: skip
WELL = GroupWork("mailing", "orders", 0, 100, 100, 0, 0, {}, {})


@given(SIGNATURES)
def test_nothing_is_said_where_there_is_doubt(missed):
    """A record is unprocessed only where it is told in the ledger, belongs to the group and lies within what the ledger covers."""
    sure = missed.matched and missed.named and missed.begun and not (missed.open or missed.untold or missed.early or missed.late)
    assert isinstance(verdict(missed), SkipKind if sure else UnprocessedDoubt)


@given(SIGNATURES)
def test_a_way_needs_its_evidence(missed):
    """Whatever is unknown proves nothing."""
    found = verdict(missed)
    needs = {
        SkipKind.SKIPPED: missed.members is False or missed.forgotten,
        SkipKind.CRASH: missed.tail and missed.changed is True,
        SkipKind.ANOTHER_THREAD: missed.threads is True,
        SkipKind.BEFORE_PROCESSING: missed.after is True,
        SkipKind.PASSED_OVER: missed.after is False and missed.threads is False,
    }
    assert needs.get(found, True)
    assert not (missed.cleaned and found in needs)


@pytest.mark.parametrize(
    ("rows", "status"),
    [
        ((), Status.NOT_APPLICABLE),
        ((WELL,), Status.OK),
        ((WELL._replace(unprocessed=1, how={"crash": 1}),), Status.FINDING),
        ((WELL._replace(unknown={"after_ledger": 3}),), Status.COULD_NOT_CHECK),
        ((WELL._replace(processed=0, unknown={"unmatched": 100}),), Status.COULD_NOT_CHECK),
        ((WELL._replace(processed=None, twice=None, unprocessed=None, unknown={"not_scanned": None}),), Status.COULD_NOT_CHECK),
        ((WELL._replace(committed=None),), Status.COULD_NOT_CHECK),
    ],
)
def test_outcomes(rows, status):
    """Well is only what was judged to its end."""
    assert unprocessed(rows).status is status


def test_a_loss_is_told_with_what_is_unknown():
    """One in a partition that was read, beside one that was not."""
    lost = WELL._replace(unprocessed=2, how={"crash": 2})
    unread = WELL._replace(partition=1, processed=None, twice=None, unprocessed=None, unknown={"not_scanned": None})
    found = unprocessed([lost, unread])
    assert found.severity is Severity.CRITICAL
    assert (found.facts["unprocessed"], found.facts["unknown"]) == (2, {"not_scanned": None})
    assert found.title == "2 records of 1 group were committed and never processed; others could not be judged"
    assert any("not read" in caveat for caveat in found.caveats)


def test_nothing_matched_is_no_loss():
    """It asks for the ledger's columns."""
    found = unprocessed([WELL._replace(processed=0, unknown={"unmatched": 100})])
    assert found.title.startswith("Nothing matched")


def test_what_nobody_can_tell_stands_beside_what_is_sure():
    """In the verdict, not in a caveat alone."""
    found = unprocessed([WELL._replace(unprocessed=302, how={"crash": 302}, unknown={"before_ledger": 1500, "open": 200})])
    assert found.title.replace("\N{NARROW NO-BREAK SPACE}", ",") == (
        "302 records of 1 group were committed and never processed; 1,700 more could not be judged"
    )


def test_ledger_that_cannot_be_used():
    """It is named with its columns and the parameter that would map them; nothing is said to be well or beside the point."""
    one = UnsuitedLedger("clients/b/processed/x.csv", "No column tells the id. It has foo, bar.", "Set processed_id to it.")
    found = unprocessed((), [one])
    assert (found.status, found.settle) == (Status.COULD_NOT_CHECK, "Set processed_id to it.")
    assert "x.csv" in found.why
    assert "foo, bar" in found.why


@pytest.mark.parametrize(("rows", "sure", "unsure"), [(None, 0, 50), (20, 30, 20), (80, 0, 50)])
def test_what_may_stand_in_what_could_not_be_used(rows, sure, unsure):
    """A file, or rows of one, that nobody could read may hold what the rest lacks: only of what is more is it said."""
    one = UnsuitedLedger("clients/mailing/processed/b.csv", "No column tells the id.", "Set processed_id to it.")
    lacking = WELL._replace(processed=50, unprocessed=50, how={"crash": 50})
    found = unprocessed([lacking], [one] if rows is None else (), unread={"mailing": rows})
    assert (found.facts["unprocessed"], found.facts["unknown"]) == (sure, {"unread": unsure})
    assert found.severity is (Severity.CRITICAL if sure else None)
    assert found.title.endswith(f"{unsure} more could not be judged")
    other = unprocessed([lacking, WELL._replace(group="billing", unprocessed=3, how={"crash": 3})], unread={"mailing": None})
    assert (other.facts["unprocessed"], other.facts["groups"]) == (3, ["billing"])


def test_what_a_client_says_itself():
    """A reset in its log stands with its proof beside the count."""
    reset = Reset("billing", "orders", 0, 0, 1000, "clients/billing/logs/app.log:7")
    found = unprocessed([WELL._replace(unprocessed=2, how={"crash": 2})], clients=ConsumerLogs(resets=(reset,)))
    assert "According to the log of billing, orders-0 was reset to offset 0." in found.why
    assert any(one.file == "clients/billing/logs/app.log" for one in found.evidence)
    assert unprocessed((), clients=ConsumerLogs(resets=(reset,))).status is Status.NOT_APPLICABLE  # before it there is nothing
    alone = unprocessed((), clients=ConsumerLogs(resets=(reset._replace(to=7),)))
    assert (alone.status, "orders-0 was reset to offset 7" in alone.why) == (Status.COULD_NOT_CHECK, True)


def test_who_held_the_partition():
    """Of the one that lacks most, as clients' own logs say."""
    held = [AssignmentLine(client, "orders", place, at, f"clients/{client}/logs/app.log:{at}")
            for client, place, at in (("one", 0, 1_700_000_000_000), ("two", 0, 1_700_000_060_000), ("two", 1, 1))]  # fmt: skip
    some = WELL._replace(partition=1, unprocessed=1, how={"crash": 1})
    found = unprocessed([some, WELL._replace(unprocessed=2, how={"crash": 2})], clients=ConsumerLogs(assigned=tuple(held)))
    assert found.why.endswith("orders-0 was assigned to one at 2023-11-14 22:13:20 UTC, to two at 2023-11-14 22:14:20 UTC.")
    assert any(one.file == "clients/two/logs/app.log" for one in found.evidence)
