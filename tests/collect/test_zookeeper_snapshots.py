"""Snapshots of ZooKeeper without the transactions between them: dated observations, all of them, and no history."""

import random

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from casebook.case.case import Case
from casebook.cli import cli
from casebook.collect.collection import collect_case
from casebook.errors import CaseError
from casebook.facts.history import HOLES
from casebook.findings.finding import Status
from casebook.formats.zookeeper.history_lines import BEGIN
from casebook.kafka.past_rows import WindowKind
from tests.collect.zookeeper_lives import BROKERS, Life, Told

BOUNDED = (WindowKind.LEADERLESS, WindowKind.UNDER_MIN_ISR)


@pytest.fixture
def life():
    """Leader 1 is lost, nobody leads, 3 leads, then 2; each with the zxid of the transaction that wrote it."""
    told = Life()
    told.begin()
    told.led = told.lead("t", 0, 1, [1])
    told.lost = told.lose(1, after=60_000)
    told.none = told.lead("t", 0, -1, [1], after=2000)
    told.later = told.lose(2, after=10_000)
    told.third = told.lead("t", 0, 3, [3], after=60_000)
    told.register(1, after=60_000)
    told.register(2)
    told.second = told.lead("t", 0, 2, [2, 3], after=30_000)
    return told


class TestCollected:
    def test_every_snapshot_is_an_observation(self, life, tmp_path):
        """In order, each with the moment of the last write in it; what is missing between is told once."""
        zxids = (life.led, life.later, life.third, life.second)
        told = Told(life.keep(tmp_path, logs=(), snapshots=zxids))
        changes = [one for one in told.happened if one.what == BEGIN]
        assert [one.zxid for one in changes] == list(zxids)
        assert [one.time for one in changes[:1] + changes[2:]] == [life.times[z] for z in (life.led, life.third, life.second)]
        assert life.times[life.none] <= changes[1].time <= life.times[life.later]
        (problem,) = told.data.problems
        assert (problem.path, "transactions are missing in 3 places" in problem.reason) == (HOLES, True)

    def test_before_and_between_logs(self, life, tmp_path):
        """A snapshot that no log goes on from is used wherever it lies; one that the logs reach tells nothing new."""
        folder = life.keep(
            tmp_path,
            logs=[(life.none, life.none), (life.second, life.second)],
            snapshots=(12, life.lost, life.none, life.third, life.second - 1),
        )
        told = Told(folder)
        assert [one.zxid for one in told.happened if one.what == BEGIN] == [12, life.lost, life.third, life.second - 1]
        assert told.past.there and len(told.past.breaks) == 3

    def test_a_snapshot_from_before_kafka(self, life, tmp_path):
        """It tells nothing of Kafka: the history does not begin with it."""
        told = Told(life.keep(tmp_path, logs=(), snapshots=(1, life.led)))
        assert [one.zxid for one in told.happened if one.what == BEGIN] == [life.led]
        assert not told.data.problems

    def test_a_torn_one_is_told_once(self, life, tmp_path):
        """The others are used."""
        folder = life.keep(tmp_path, logs=[(life.third, life.third)], snapshots=(life.led, life.none, life.second))
        torn = folder / f"snapshot.{life.none:x}"
        torn.write_bytes(torn.read_bytes()[:-30])
        told = Told(folder)
        assert [one.zxid for one in told.happened if one.what == BEGIN] == [life.led, life.second]
        assert len([problem for problem in told.data.problems if problem.path == torn.name]) == 1

    def test_what_was_taken(self, life, tmp_path):
        """Transactions and snapshots are counted apart, and a moment between two snapshots is refused."""
        folder = life.keep(tmp_path / "zookeeper", logs=(), snapshots=(life.led, life.none, life.second))
        done = CliRunner().invoke(cli, ["collect", "--zookeeper-data", str(folder), "--out", str(tmp_path / "case")])
        assert done.exit_code == 0, done.output
        assert "3 snapshots of ZooKeeper" in done.output and "transactions," not in done.output
        case = Case.open(tmp_path / "case")
        assert case.cluster(at=life.times[life.none]).live == {2, 3}
        with pytest.raises(CaseError, match="are missing"):
            case.cluster(at=life.times[life.later])
        whole = Case.open(
            collect_case(
                tmp_path / "whole",
                zookeeper_data=[life.keep(tmp_path / "more", logs=[(life.none, life.second)], snapshots=(life.lost,))],
            )
        )
        assert whole.history_size() == (life.second - life.none + 1, 1)


class TestTold:
    def test_a_history_without_transactions_is_none(self, life, tmp_path):
        """Nothing is ok of time that nobody saw."""
        told = Told(life.keep(tmp_path, logs=(), snapshots=(life.led - 1, life.second)))
        for check in ("leaderless", "two_leaders", "under_min_isr", "root"):
            assert told.finding(check).status is not Status.OK
        assert not told.past.there and told.past.observed
        assert "2 snapshots from" in next(gap.what for gap in told.timeline.silences if gap.kind == "no_history")

    def test_an_outage_between_snapshots(self, life, tmp_path):
        """It began after the last moment with a leader, and held until it was seen last; the next write ended it, if not before."""
        told = Told(life.keep(tmp_path, logs=(), snapshots=(life.led, life.later, life.second)))
        (window,) = [one for one in told.windows("leaderless") if one.partition == 0]
        seen = life.times[life.none]  # the last write in the snapshot in which nobody leads
        assert (window.opened_earliest, window.opened) == (life.times[life.led], life.times[life.none])
        assert (window.closed_earliest, window.closed) == (seen, life.times[life.second])
        said = told.finding("leaderless")
        assert said.title.endswith("the longest that is known to have ended lasted at most 3 min 45 s")
        assert "From between 2019-10-12 " in said.why and said.at_latest
        assert "longest_ms_at_least" in said.facts

    def test_a_version_tells_that_nothing_was_missed(self, life, tmp_path):
        """Between two states whose znode's versions follow one another none is missing: the end is exact."""
        told = Told(life.keep(tmp_path, logs=(), snapshots=(life.later, life.third)))
        (window,) = [one for one in told.windows("leaderless") if one.partition == 0 and one.opened == life.times[life.none]]
        assert (window.closed, window.closed_earliest) == (life.times[life.third], None)

    def test_a_state_that_another_snapshot_refutes(self, tmp_path):
        """The mtime of a state does not begin an outage of a leader that was seen since."""
        told = Life()
        told.begin()
        seen = told.lead("t", 1, 2, [1, 2, 3])
        seen = told.lead("t", 0, 1, [1], after=1000)
        told.create("/config/topics/x", {"version": 1, "config": {}}, after=9_000_000)
        still = len(told.records)
        gone = told.lose(1, after=9_000_000)
        told.create("/config/topics/y", {"version": 1, "config": {}}, after=5000)
        found = Told(told.keep(tmp_path, logs=(), snapshots=(still, gone + 1)))
        (window,) = [one for one in found.windows("leaderless") if one.partition == 0]
        assert window.closed is None
        assert window.opened_earliest == told.times[still] and window.opened == told.times[gone + 1]
        assert told.times[seen] < window.opened_earliest

    def test_deleted_between_snapshots(self, tmp_path):
        """A partition that is not there any more is not without leader to the end."""
        told = Life()
        told.begin(("t", "u"))
        none = told.lead("u", 0, -1, [1], after=1000)
        told.delete("u")
        found = Told(told.keep(tmp_path, logs=(), snapshots=(none, len(told.records))))
        (window,) = found.windows("leaderless")
        assert window.closed is not None and window.closed_earliest == told.times[none]

    def test_a_possible_window_stands(self, life, tmp_path):
        """Without a log of the old leader its window is bounded by its return to the ISR, else its end is open."""
        told = Told(life.keep(tmp_path, logs=[(1, len(life.records))], snapshots=()))
        rows = {(one.old_leader, one.new_leader): one for one in told.timeline.possible}
        assert rows[1, 3].closed is None and rows[1, 3].opened == life.times[life.third]
        assert rows[3, 2].closed is None and all(one.possible for one in rows.values())
        assert not told.windows("two_leaders")
        back = life.lead("t", 0, 2, [2], after=1000)
        life.lead("t", 0, 2, [2, 3], after=7000)
        told = Told(life.keep(tmp_path / "on", logs=[(1, len(life.records))], snapshots=()))
        rows = {(one.old_leader, one.new_leader): one for one in told.timeline.possible}
        assert (rows[3, 2].closed_earliest, rows[3, 2].closed) == (life.times[life.second], life.times[back] + 7000)
        said = told.finding("two_leaders")
        assert said.status is Status.COULD_NOT_CHECK


@st.composite
def lesser(draw):
    """A life, and which of its transactions and snapshots are left."""
    seed = draw(st.integers(0, 2**32))
    life = Life()
    life.begin()
    base = len(life.records)
    life.live(random.Random(seed), draw(st.integers(2, 14)))
    last = len(life.records)
    ends = sorted(draw(st.lists(st.integers(base, last), max_size=6)))
    logs = [(first, until) for first, until in zip(ends[::2], ends[1::2], strict=False) if first < until]
    snapshots = set(draw(st.lists(st.integers(base, last), min_size=1, max_size=6)))
    snapshots |= {first - 1 for first, _ in logs if draw(st.booleans())}
    snapshots.add(draw(st.sampled_from([base, last, last])))
    return life, [one for at, one in enumerate(logs) if not at or one[0] > logs[at - 1][1]], sorted(snapshots)


@settings(max_examples=25, deadline=None)
@given(lesser())
def test_less_never_says_otherwise(tmp_path_factory, kept):
    """No window outside the bounds of the truth, and no ok where the truth has a finding, whatever is left out."""
    life, logs, snapshots = kept
    whole = Told(life.keep(tmp_path_factory.mktemp("whole"), logs=[(1, len(life.records))], snapshots=()))
    less = Told(life.keep(tmp_path_factory.mktemp("less"), logs=logs, snapshots=snapshots))
    for check in ("leaderless", "under_min_isr", "two_leaders", "root"):
        ours, true = less.finding(check).status, whole.finding(check).status
        assert not (ours is Status.OK and true is Status.FINDING), check
        if check in BOUNDED:
            assert not (ours is Status.FINDING and true is Status.OK), check
    for window in less.timeline.windows:
        assert window.kind not in BOUNDED or any(_fits(window, one, less) for one in whole.timeline.windows), window
    for window in less.timeline.possible:
        assert any(_is_of(window, one) for one in whole.timeline.possible), window
    alone = {(row.topic, row.partition): row.milliseconds for row in whole.alone}
    for row in less.alone:
        assert row.milliseconds <= alone.get((row.topic, row.partition), 0), row


def _fits(ours, true, less) -> bool:
    """Whether a window that is true is within the bounds of one that was found, and that one's core within it.

    What is gone by the last snapshot was gone by then, and of when that was its last write is all that is known.
    """
    if (ours.kind, ours.topic, ours.partition) != (true.kind, true.topic, true.partition):
        return False
    last = less.past.last[0]
    end = last if ours.closed is None else ours.closed if ours.closed_earliest is None else ours.closed_earliest
    if (true.opened > ours.opened and ours.opened < last) or (true.closed is not None and true.closed < end):
        return False
    if ours.closed is not None and ours.closed < last and (true.closed is None or true.closed > ours.closed):
        return False
    earliest = ours.opened if ours.opened_earliest is None else ours.opened_earliest
    return true.opened >= earliest or _is_first(ours, earliest, less)


def _is_first(window, earliest, less) -> bool:
    """Whether nothing is known of the partition before: that it was so before its state was written cannot be told."""
    first = next(row for row in less.timeline.partition_history if (row.topic, row.partition) == window[1:3])
    return earliest <= max(first.time, less.past.first)


def _is_of(ours, true) -> bool:
    earliest = ours.opened if ours.opened_earliest is None else ours.opened_earliest
    return ours[1:3] == true[1:3] and ours.new_leader == true.new_leader and earliest <= true.opened <= ours.opened


def test_the_life_of_brokers():
    """The generator's brokers are those that lead."""
    told = Life()
    told.begin()
    assert {int(path.rpartition("/")[2]) for path in told.tree.paths() if path.startswith("/brokers/ids/")} == set(BROKERS)
