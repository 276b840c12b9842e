"""How fast a broker loads, and when the rest will end."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casebook.kafka.load_rate import Measured, TimeRange, rate
from casebook.kafka.load_work import File, Opened, Work

MIB = 1 << 20


def work(mebibytes, records=None):
    """A partition of that size."""
    return Work(1, int(mebibytes * MIB), records)


def measured(*loads):
    """Finished loads: (MiB, ms)."""
    return [Measured(work(size), took) for size, took in loads]


class TestRate:
    def test_loads_of_one_speed_foretell_that_speed(self):
        """Ten equal loads: the middle is exact, the interval holds it and is not wide."""
        low, mid, high = rate(measured(*[(10, 1000)] * 10)).takes(work(10))
        assert mid == pytest.approx(1000)
        assert 700 < low < 1000 < high < 1400

    def test_few_loads_are_doubted_more(self):
        """One load says less than ten."""
        one, ten = (rate(measured(*[(10, 1000)] * n)).takes(work(10)) for n in (1, 10))
        assert one.high - one.low > ten.high - ten.low

    def test_rates_of_others_are_doubted_more(self):
        """Another broker's disk is another one."""
        own, others = (rate(measured((10, 1000)), own=own).takes(work(10)) for own in (True, False))
        assert others.high > own.high

    def test_loads_that_differ_are_doubted_more(self):
        """The spread of the loads is in the interval."""
        alike, unlike = rate(measured((9, 900), (10, 1000))), rate(measured((9, 300), (10, 3000)))
        assert unlike.takes(work(10)).high > alike.takes(work(10)).high

    def test_records_count_more_than_bytes(self):
        """The same records in three times the bytes take hardly longer."""
        found = rate([Measured(work(10, 150_000), 1500), Measured(work(20, 300_000), 3000)])
        small, large = found.takes(work(10, 150_000)).mid, found.takes(work(30, 150_000)).mid
        assert small < large < 1.5 * small

    def test_a_load_that_lasts_is_foretold_from_what_it_has_lasted(self):
        """No part of the interval lies in the past, and the middle moves on."""
        found = rate(measured((10, 1000), (10, 1200)))
        fresh, late = found.takes(work(10)), found.takes(work(10), elapsed=1300)
        assert late.low >= 1300 > fresh.mid
        assert late.mid > fresh.mid

    @given(lasted=st.floats(0, 1), ends=st.floats(0, 1))
    def test_what_was_told_before_it_began_holds_at_every_moment_of_it(self, lasted, ends):
        """One that ends when it may is in the interval, whenever somebody asks, also in the moment before it ends."""
        found = rate(measured((10, 1000), (10, 1200), (9, 950)))
        fresh = found.takes(work(10))
        took = fresh.low + ends * (fresh.high - fresh.low)
        told = found.takes(work(10), elapsed=lasted * took)
        assert told.low <= took <= told.high

    def test_one_that_lasts_far_too_long_has_no_end(self):
        """Only that it is not over is known."""
        assert rate(measured(*[(10, 1000)] * 5)).takes(work(10), elapsed=60_000) == TimeRange(60_000, None, None)

    def test_nothing_is_known_without_a_load_of_some_size(self):
        """An empty partition shows nothing."""
        assert rate([]) is None
        assert rate(measured((0.01, 3))) is None

    def test_one_after_the_other(self):
        """Lengths of time add up; without bound stays without bound."""
        assert TimeRange(1, 2, 3) + TimeRange(10, 20, 30) == TimeRange(11, 22, 33)
        assert TimeRange(1, 2, None) + TimeRange(10, 20, inf) == TimeRange(11, 22, None)


class TestThen:
    """What a load met, when the partition has grown since."""

    GROWN = Work(1, 400, 40, files=(File(1000, 100, 0, 10), File(2000, 200, 10, 30), File(4000, 100, 30, 40)))

    def test_nothing_was_written_since(self):
        """All that is there was there."""
        assert self.GROWN.then(4000) is self.GROWN
        assert work(10).then(0) == work(10)

    def test_the_active_segment_has_grown_evenly(self):
        """Half of the time between the last append to the segment before it and its own: half of its bytes."""
        then = self.GROWN.then(3000)
        assert (then.bytes, then.records) == (350, 35)
        assert self.GROWN.then(1500).bytes == 200

    def test_before_the_first_segment_was_full(self):
        """Nobody knows since when it was written to; least of all that its load was one of today's bytes."""
        assert self.GROWN.then(999) is None

    def test_since_the_partition_was_created(self):
        """From then on its first segment has grown."""
        young = self.GROWN._replace(created=500)
        assert [young.then(at).bytes for at in (500, 750, 1000)] == [0, 50, 100]
        assert young.then(499) is None

    def test_times_that_are_not_known(self):
        """Unknown is not old."""
        assert Work(1, 100, 10, files=(File(None, 100, 0, 10),)).then(5000) is None

    def test_what_the_process_found_when_it_started_was_there(self):
        """A broker that was down for long, and whose partition got one more record after the load: all but that was loaded."""
        then = self.GROWN.then(3900, Opened(at=3500, end=39))
        assert (then.bytes, then.records) == (398, 40)
        assert self.GROWN.then(3500, Opened(at=3500, end=39)).bytes == 390
        young = Work(1, 100, 10, files=(File(4000, 100, 0, 10),))
        assert young.then(3900, Opened(at=3500, end=5)).bytes == 90

    @pytest.mark.parametrize("opened", [Opened(at=3999, end=39), Opened(at=3500, end=50), Opened(at=3500, end=20)])
    def test_what_it_found_of_another_life_or_log_is_not_heeded(self, opened):
        """Later than the load, beyond the log's end (it was cut or made anew since), or before its active segment."""
        assert self.GROWN.then(3600, opened) == self.GROWN.then(3600)
