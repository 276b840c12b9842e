"""Events that lie in Parquet answer as those in memory do."""

from dataclasses import replace

import pytest

from casebook.collect import sources
from casebook.facts.cluster import Cluster
from casebook.kafka import release
from casebook.questions.timeline.analysis import timeline
from casebook.questions.timeline.analysis.selection import HeldEvents, Selection
from casebook.questions.timeline.scans import logs
from casebook.questions.timeline.scans.stored_events import StoredEvents


@pytest.fixture(scope="module")
def both():
    """The same events, once in memory, with a clock that is off by 7 s."""
    case = sources.open_source("sample:leader_minus_one", evidence=None)
    told = logs.read(case)
    version = release.release(Cluster(), logged=case.logged_versions(), configured=())
    found = timeline.examine(case.cluster(), version, events=told.events(), files=told.files)
    clocks = tuple(clock._replace(skew=7000) if clock.broker == 2 else clock for clock in found.clocks)
    off = {clock.broker: clock.skew or 0 for clock in clocks}
    rows = [row._replace(at=row.time - off[row.broker]) for row in found.rows]
    return HeldEvents(sorted(rows, key=lambda row: (row.at, row.file, row.line))), StoredEvents(
        told, replace(found, clocks=clocks)
    )


def chosen(held):
    first, last = held.extent
    middle = (first + last) // 2
    return [
        Selection(),
        Selection(since=middle),
        Selection(since=first + 2000, until=middle),
        Selection(broker=2),
        Selection(broker=1, since=middle, until=last),
        Selection(topic="payments"),
        Selection(topic="payments", partition=0, until=middle),
        Selection(group="nobody"),
    ]


class TestStored:
    def test_rows(self, both):
        """The first of them, and how many there are."""
        held, stored = both
        for wanted in chosen(held):
            for most in (1, 7, 10_000):
                rows, total = held.rows(wanted, most)
                assert stored.rows(wanted, most) == (list(rows), total), (wanted, most)

    def test_counts(self, both):
        """By log, kind and bin."""
        held, stored = both
        for wanted in chosen(held):
            stored_counts, held_counts = (sorted(events.counts(wanted, *held.extent, 40)) for events in (stored, held))
            assert stored_counts == held_counts

    def test_extent(self, both):
        held, stored = both
        assert stored.extent[0] <= held.extent[0]
        assert stored.extent[1] >= held.extent[1]
