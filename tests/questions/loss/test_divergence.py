"""What is said of copies that differ, and what an election would cost, on copies that histories leave behind."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casebook.facts.copies import Absent, Compared, Copy, CopyContent, RecordRun
from casebook.findings.finding import Severity, Status
from casebook.questions.loss.analysis.divergence import DivergenceKind, agreement, divergences
from casebook.questions.loss.analysis.unclean_price import prices, start_prices
from tests.scans.copied_logs import all_agree, gone, random_copies, states

PLACE = ("t", 0)
HISTORIES = st.builds(lambda seed, brokers: random_copies(Random(seed), brokers), st.integers(0, 1 << 40), st.integers(2, 4))


def compared(logs):
    """What a scan brings of copies, a run for each offset at which not all agree."""
    copies = tuple(
        Copy(b, *PLACE, log.start, log.end, cleaned_to=log.cleaned_to, epoch=log.batches[-1][-1].epoch if log.batches else None)
        for b, log in logs.items()
    )
    offsets = sorted({offset for log in logs.values() for offset in log.records})
    return Compared(copies, tuple(run for offset in offsets if (run := _run(logs, offset))))


def _run(logs, offset):
    found, other_epochs = states(logs, offset)
    if all_agree(found, other_epochs):
        return None
    return RecordRun(
        *PLACE, offset, offset, tuple(_held(b, s, logs[b].records.get(offset)) for b, s in found.items()), other_epochs
    )


def _held(broker, state, record):
    if record is None:
        return CopyContent(broker, None, state)
    return CopyContent(broker, state, None, 1, 100, record.at, record.at, record.epoch, record.epoch)


class TestHistories:
    @given(HISTORIES)
    def test_prices_are_what_each_reader_would_miss(self, logs):
        """Any candidate against any leader: as many records as the leader's log has and the candidate's has not."""
        found = compared(logs)
        for leader in logs:
            for row in prices(found, {PLACE: logs}, leaders={PLACE: leader}):
                lost = gone(logs, leader, row.candidate)
                times = [logs[leader].records[offset].at for offset in lost]
                assert (row.records, row.from_offset) == (len(lost), min(lost, default=None))
                assert (row.from_time, row.to_time) == (min(times, default=None), max(times, default=None))

    @given(HISTORIES)
    def test_an_offset_with_two_records_is_never_missed(self, logs):
        """Where any two copies hold other records, that is what the row says, whatever the third holds."""
        rows = {row.first_offset: row for row in divergences(compared(logs))}
        for offset in {offset for log in logs.values() for offset in log.records}:
            held = {state for state in states(logs, offset)[0].values() if not isinstance(state, Absent)}
            assert (len(held) > 1) == (offset in rows and rows[offset].kind is DivergenceKind.DIFFERENT)

    @given(HISTORIES)
    def test_the_best_copy_costs_nothing(self, logs):
        """Without a known leader the measure is one of the copies, and that one has all that it has."""
        rows = prices(compared(logs), {PLACE: logs})
        assert [row.records for row in rows if row.candidate == row.best] == [0]


def run(first, last, *copies):
    return RecordRun(*PLACE, first, last, copies)


BEST, SHORT = Copy(1, *PLACE, 0, 30, epoch=1), Copy(2, *PLACE, 0, 10, epoch=0)
BURST = run(10, 29, CopyContent(1, 1, None, 20, 900, 5, 7, 1, 1, ("a", "b")), CopyContent(2, None, Absent.BEHIND))
LAGGING = Compared((BEST, SHORT), (BURST,))


class TestPrice:
    def test_examples_and_groups(self):
        """Keys of what would be gone, and the groups that have read it; one at the candidate's end has not."""
        committed = {"ahead": {PLACE: 30}, "at the end": {PLACE: 10}, "elsewhere": {("u", 0): 99}}
        (row,) = prices(LAGGING, {PLACE: [2]}, committed=committed)
        assert (row.records, row.bytes, row.from_time, row.to_time, row.best) == (20, 900, 5, 7, 1)
        assert (row.from_offset, row.end, row.keys) == (10, 10, ("a", "b"))
        assert [(group.group, group.offset, group.by) for group in row.groups] == [("ahead", 30, 20)]

    def test_commits_unknown(self):
        """Not given is not none."""
        (row,) = prices(LAGGING, {PLACE: [2]})
        assert row.groups is None

    @pytest.mark.parametrize(
        ("found", "more"),
        [
            (LAGGING, {"leaders": {PLACE: 3}}),
            (LAGGING, {"replicas": {PLACE: (1, 2, 3)}}),
            (Compared((SHORT,)), {}),
            (Compared((BEST,)), {}),
            (Compared((BEST, SHORT._replace(damaged_bytes=1)), (BURST,)), {}),
            (Compared((BEST._replace(damaged_bytes=1), SHORT), (BURST,)), {}),
            (Compared(), {}),
        ],
        ids=["no leader's copy", "a copy short", "alone", "not given", "damaged candidate", "damaged measure", "nothing"],
    )
    def test_could_not_tell(self, found, more):
        """A price that rests on a copy that is not there, or was not read, is none; never nothing."""
        (row,) = prices(found, {PLACE: [2]}, **more)
        assert row.records is row.bytes is row.from_time is None
        assert row.why

    def test_an_old_epoch_is_no_measure_however_long(self):
        """What a deposed leader still wrote is not what the partition holds."""
        zombie, elected = Copy(1, *PLACE, 0, 50, epoch=3), Copy(2, *PLACE, 0, 20, epoch=4)
        (row,) = prices(Compared((zombie, elected)), {PLACE: [1]})
        assert row.best == 2

    def test_start_first(self):
        """Each broker's partitions in sum; one without price leaves the sum unknown."""
        found = prices(LAGGING, {PLACE: [1, 2], ("u", 0): [2]})
        waits_for = {PLACE: (1, 2), ("u", 0): (2,)}
        assert [(row.broker, row.partitions, row.records, row.unknown) for row in start_prices(found, waits_for)] == [
            (1, 1, 0, 0),
            (2, 2, None, 1),
        ]


class TestAgreement:
    def test_lag_alone(self):
        """A copy that ends earlier is a row, and no alarm."""
        (row,) = divergences(LAGGING)
        assert (row.kind, row.silent, row.brokers) == (DivergenceKind.BEHIND, False, (1, 2))
        assert row.holds == {"1": "20 records, 900 B, epoch 1, end 30", "2": "nothing: its log ends earlier, end 10"}
        assert agreement(LAGGING, ()).status is Status.OK

    @pytest.mark.parametrize(("end", "severity"), [(30, Severity.CRITICAL), (31, Severity.WARNING)])
    def test_equal_ends_are_worse(self, end, severity):
        """Other records at the same offsets: what no lag shows is critical."""
        other = run(10, 29, CopyContent(1, 1, None, 20, 900), CopyContent(2, 2, None, 20, 900))
        answer = agreement(Compared((BEST, SHORT._replace(end=end)), (other,)), ())
        assert (answer.status, answer.severity) == (Status.FINDING, severity)

    def test_hole(self):
        """Records that lie neither before nor behind a copy, and were not compacted away."""
        hole = run(3, 4, CopyContent(1, 1, None, 2, 90), CopyContent(2, None, Absent.MISSING))
        answer = agreement(Compared((BEST, SHORT), (hole,)), ())
        assert answer.status is Status.FINDING
        unread = agreement(Compared((BEST, SHORT._replace(damaged_bytes=9)), (hole,)), ())  # they may be what could not be read
        assert unread.status is Status.COULD_NOT_CHECK

    def test_retention_is_no_divergence(self):
        """A log that begins later is not missing what it no longer keeps."""
        begun = run(0, 4, CopyContent(1, 1, None, 5, 90), CopyContent(2, None, Absent.BEFORE))
        assert divergences(Compared((BEST, SHORT), (begun,))) == ()

    @pytest.mark.parametrize(
        "copies", [(), (BEST,), (BEST, SHORT._replace(damaged_bytes=9))], ids=["nothing", "one copy", "damage"]
    )
    def test_could_not_check(self, copies):
        """One copy has nothing to agree with; what cannot be read may be anything."""
        assert agreement(Compared(copies), ()).status is Status.COULD_NOT_CHECK
