"""What is concluded from counted records: verdicts by partition, alarms, causes, and every check in its three outcomes."""

import pytest

from casebook.facts.losses import ALARM, Cause, LeaderChange, LostCount
from casebook.facts.records import Counted, LedgerShape, SendOutcome, Signature, Unusable
from casebook.findings.finding import Severity, Status
from casebook.questions.loss.analysis import message_loss
from casebook.questions.loss.analysis.causes import Missing, cause, takes
from casebook.questions.loss.analysis.message_loss import Sought, examine

STORED, LOST, STRANGER = Signature(acked=True, stored=1), Signature(acked=True), Signature(stored=1)
FAILED_STORED, TWICE = Signature(failed=True, stored=1), Signature(acked=True, stored=2)
NOT_SCANNED = Signature(acked=True, scanned=False)


def told(rows=10, **more):
    outcomes = {SendOutcome.ACKED: rows, SendOutcome.FAILED: 0, SendOutcome.UNKNOWN: 0}
    known = {"rows": rows, "outcomes": outcomes, "words": (), "unusable": (), "odd_times": None, "assumed": 0, "zone": "UTC",
             "first": 1, "last": 2}  # fmt: skip
    return LedgerShape(**known | more)


def sought(*counted, lost=(), **more):
    rows = [Counted("t", partition, signature, records) for partition, signature, records in counted]
    return Sought(told=told(), counted=rows, counts=lost, **{"acks": {"1"}} | more)


def gone(records, why=Cause.DEPOSED_LEADER, change=0, partition=0, at=1000):
    return LostCount("t", partition, None, why, change if why else None, at, records)


def change(**more):
    known = {"number": 0, "topic": "t", "partition": 0, "opened": 5000, "closed": 8000, "since": 1000, "old_leader": 1, "new_leader": 2,
             "epoch": 3, "cut": 100, "isr": (1, 2), "alone": None, "unclean": False, "cut_at_start": False, "disk": False,
             "planned": False, "opened_proof": "o:1", "closed_proof": "c:2", "cut_proof": "k:3"}  # fmt: skip
    return LeaderChange(**known | more)


def answers(found):
    return {finding.check.removeprefix("loss."): finding for finding in found.findings}


class TestTakes:
    @pytest.mark.parametrize(
        ("offset", "moment", "taken"),
        [
            (100, 6000, True),  # at the cut
            (99, 6000, False),  # below: the next leader had it
            (150, 0, True),  # behind it, however old
            (150, 9001, False),  # the next leader took it
            (150, 9000, True),  # told late
            (150, None, True),
            (None, 6000, True),
            (None, 0, True),  # within the slack of since
            (None, -1, False),
            (None, None, False),
        ],
    )
    def test_record(self, offset, moment, taken):
        """By offset where both are known, else by time; never after the old leader gave up."""
        assert takes(change(), offset, moment) is taken

    def test_without_cut(self):
        """Only time is left."""
        assert takes(change(cut=None), 5, 6000)
        assert not takes(change(cut=None), 5, None)


class TestCause:
    @pytest.mark.parametrize(
        ("acks", "alone", "of", "why"),
        [
            ("1", None, {}, Cause.DEPOSED_LEADER),
            (None, None, {}, Cause.DEPOSED_LEADER),
            ("all", None, {}, None),  # one that was in sync had it
            ("-1", None, {}, None),
            ("0", None, {"unclean": True}, Cause.ACKS_0),
            ("all", True, {"unclean": True}, Cause.ISR_OF_ONE),
            ("-1", True, {"unclean": True}, Cause.ISR_OF_ONE),
            ("all", False, {"unclean": True}, Cause.UNCLEAN_ELECTION),
            ("1", True, {"unclean": True}, Cause.UNCLEAN_ELECTION),
            ("all", None, {"cut_at_start": True}, Cause.CUT_AT_START),
            ("all", True, {"disk": True, "unclean": True}, Cause.DISK_LOST),
        ],
    )
    def test_change(self, acks, alone, of, why):
        """What the change was, and what its producer had asked for."""
        assert cause(Missing(((0, alone),), acks, True, True), change(**of), alone=alone) is why

    @pytest.mark.parametrize(
        ("acks", "placed", "ledger", "why"),
        [
            ("1", True, True, None),
            ("1", False, True, Cause.NEVER_RECEIVED),
            ("1", False, False, None),
            ("0", False, False, Cause.ACKS_0),
        ],
    )
    def test_without_change(self, acks, placed, ledger, why):
        """An alarm, but where its producer was never told that it had arrived."""
        assert cause(Missing((), acks, placed, ledger), None) is why


class TestClasses:
    def test_alarms_are_apart(self):
        """Those without cause are taken out of the lost ones of their partition."""
        found = examine(sought((0, LOST, 5), (1, STORED, 7), lost=[gone(3), gone(2, None)]), changes=[change()], history=True)
        assert {(row.partition, row.verdict): row.records for row in found.classes} == {
            (0, "lost"): 3,
            (0, ALARM): 2,
            (1, "stored"): 7,
        }
        assert (found.acked, found.lost_total) == (12, 5)

    def test_nothing_matches(self):
        """No record is called lost where no id of the topic was found, and others lie there."""
        none = frozenset({"t"})
        found = examine(sought((0, LOST, 5), (0, STRANGER, 9), unmatched=none))
        assert {row.verdict: row.records for row in found.classes} == {"cannot_tell": 5, "surplus": 9}
        assert answers(found)["lost"].status is Status.COULD_NOT_CHECK
        assert "Nothing matched" in answers(found)["lost"].title
        assert "id mapping" in answers(found)["lost"].settle


class TestUnmatched:
    def of(self, *counted, without_id=None):
        rows = [Counted(topic, 0, signature, 1) for topic, signature in counted]
        return message_loss.unmatched(rows, lambda: without_id or {})

    def test_strangers_only(self):
        """Records with other ids, or with none."""
        assert self.of(("t", LOST), ("t", STRANGER)) == {"t"}
        assert self.of(("t", LOST), without_id={("t", 3): 8}) == {"t"}

    def test_one_match(self):
        """With a single one the mapping is right."""
        assert not self.of(("t", LOST), ("t", STRANGER), ("t", STORED))

    def test_empty_topic(self):
        """Where nothing lies, nothing can match: all of it may really be gone."""
        assert not self.of(("t", LOST))

    def test_other_topic(self):
        """Each topic by itself."""
        assert self.of(("t", LOST), ("t", STRANGER), ("u", LOST), ("u", STORED)) == {"t"}


class TestFindings:
    def test_lost(self):
        """How many of how many, since when, and what would have prevented it."""
        found = answers(examine(sought((0, LOST, 5), (0, STORED, 5), lost=[gone(4, at=2000), gone(1, None)]), changes=[change()]))
        lost = found["lost"]
        assert (lost.status, lost.severity) == (Status.FINDING, Severity.CRITICAL)
        assert lost.title == "5 of 10 acknowledged records are lost; 1 has no explanation"
        assert lost.since == "1970-01-01T00:00:01.000Z"
        assert any("min.insync.replicas" in step.text for step in lost.next)
        assert found["outside_every_window"].severity is Severity.CRITICAL

    def test_none_lost(self):
        """Well, and said of how many."""
        found = answers(examine(sought((0, STORED, 10))))
        assert found["lost"].status is Status.OK
        assert "10" in found["lost"].title
        assert found["looked_everywhere"].status is Status.OK

    def test_half_of_it_read(self):
        """Loss is stated where it was looked for; for the rest nobody knows."""
        found = answers(examine(sought((0, STORED, 5), (1, NOT_SCANNED, 5))))
        assert found["lost"].status is Status.COULD_NOT_CHECK
        assert found["looked_everywhere"].status is Status.COULD_NOT_CHECK
        assert "5" in found["looked_everywhere"].title

    def test_failed_yet_stored(self):
        """Duplicates to come, no loss."""
        found = answers(examine(sought((0, FAILED_STORED, 3), (0, TWICE, 2))))
        assert found["stored_though_failed"].facts["stored_though_failed"] == 3
        assert found["stored_though_failed"].severity is Severity.INFO
        assert found["lost"].status is Status.OK

    def test_no_ledger(self):
        """Nothing is said of loss, and how to give one is."""
        found = examine(Sought())
        assert (found.acked, found.lost_total) == (None, None)
        for name in ("lost", "outside_every_window", "looked_everywhere", "ledger", "stored_though_failed"):
            assert answers(found)[name].status is Status.COULD_NOT_CHECK
            assert "ledger" in answers(found)[name].settle

    def test_nothing_read(self):
        """A ledger alone tells of no loss, and why nothing was read is told."""
        found = examine(Sought(told=told(), unread="No segment is here."))
        assert (found.lost_total, answers(found)["lost"].status) == (None, Status.COULD_NOT_CHECK)
        assert answers(found)["lost"].why == "No segment is here."

    def test_rows_left_out(self):
        """With their reason and an example."""
        rest = Unusable("it has no id", 3, "a.csv: ,,x")
        found = answers(examine(Sought(told=told(unusable=(rest,)))))["ledger"]
        assert (found.severity, found.facts["it has no id"]) == (Severity.WARNING, 3)
        assert "a.csv: ,,x" in found.why


class TestCauses:
    def rows(self, *lost, acks=("1",), history=True, logs=(1, 2), changes=None):
        found = examine(
            sought((0, LOST, 9), lost=lost, acks=frozenset(acks)),
            changes=[change()] if changes is None else changes, history=history, logs=logs,
        )  # fmt: skip
        return {row.cause: row for row in found.causes}

    def test_every_cause(self):
        """The alarm first, then all of them, also those that took nothing."""
        found = self.rows(gone(9))
        assert list(found) == [None, *Cause]
        assert found[Cause.DEPOSED_LEADER].records == 9
        assert found[Cause.DEPOSED_LEADER].proof == "k:3"

    def test_not_applicable(self):
        """With acks=1 alone no record goes by an ISR of one."""
        assert not self.rows(gone(9))[Cause.ISR_OF_ONE].applies
        assert self.rows(gone(9), acks=("1", "all"))[Cause.ISR_OF_ONE].applies

    def test_unknown(self):
        """Without logs, history or settings nobody can rule out what they would tell."""
        found = self.rows(gone(9, None), acks=(None,), history=False, logs=(), changes=[])
        for why in (Cause.DISK_LOST, Cause.UNCLEAN_ELECTION, Cause.ISR_OF_ONE, Cause.ACKS_0, Cause.DEPOSED_LEADER):
            assert found[why].records is None, why
            assert found[why].proves

    def test_unknown_isr(self):
        """Elections of which nobody knows who was in sync may have been unclean."""
        assert self.rows(gone(9), acks=("all",), changes=[change(unclean=None)])[Cause.UNCLEAN_ELECTION].records is None
