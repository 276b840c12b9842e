"""What stands beside a segment, from any bytes. That real files are read right is shown in tests/collect/test_log_dirs.py."""

import struct
from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from casebook.formats.broker import indexes
from casebook.formats.broker.indexes import AbortedTransaction, OffsetEntry, TimeEntry

STEPS = st.lists(st.tuples(st.integers(1, 1000), st.integers(1, 1000)), max_size=50)
HEAD = struct.Struct(">hIi")
PRODUCER = struct.Struct(">qhiqiqiq")


def rising(steps):
    """Two columns that rise together."""
    return list(accumulate(steps, lambda last, step: (last[0] + step[0], last[1] + step[1])))


def snapshot(*producers, version=1, count=None):
    """A snapshot as a broker writes it."""
    body = struct.pack(">i", len(producers) if count is None else count) + b"".join(PRODUCER.pack(*p) for p in producers)
    return struct.pack(">hI", version, indexes.crc32c(body)) + body


class TestOffsetIndex:
    @settings(deadline=None)
    @given(STEPS, st.integers(0, 2**40), st.integers(0, 100))
    def test_round_trip(self, steps, base, padding):
        """Every entry is read, and the zeros behind them are none."""
        entries = rising(steps)
        content = b"".join(struct.pack(">ii", *entry) for entry in entries) + bytes(8 * padding)
        assert indexes.offset_index(content, base_offset=base) == (tuple(OffsetEntry(base + o, p) for o, p in entries), ())
        trimmed = indexes.without_padding(content, ".index")
        assert (len(trimmed), content.startswith(trimmed)) == (8 * len(entries), True)

    def test_torn(self):
        """Half an entry is none."""
        found = indexes.offset_index(struct.pack(">iii", 1, 80, 2), base_offset=5)
        assert found == ((OffsetEntry(6, 80),), ("ends within an entry: 4 of 8 bytes",))

    def test_goes_back(self):
        """What a broker would throw away is read up to where it breaks."""
        found = indexes.offset_index(struct.pack(">6i", 1, 80, 0, 0, 2, 90), base_offset=0)
        assert found == ((OffsetEntry(1, 80),), ("goes back at entry 2: the rest was not read",))


class TestTimeIndex:
    @settings(deadline=None)
    @given(STEPS, st.integers(0, 2**40))
    def test_round_trip(self, steps, base):
        """Every entry is read."""
        entries = rising(steps)
        content = b"".join(struct.pack(">qi", *entry) for entry in entries)
        assert indexes.time_index(content + bytes(120), base_offset=base).rows == tuple(
            TimeEntry(t, base + o) for t, o in entries
        )


class TestAbortedTransactions:
    def test_unknown_version(self):
        """What follows an entry of another version is not read, and said."""
        entry = struct.Struct(">hqqqq")
        found = indexes.aborted_transactions(entry.pack(0, 7, 1, 5, 6) + entry.pack(9, 7, 8, 9, 9) + entry.pack(0, 7, 1, 5, 6))
        assert found == ((AbortedTransaction(7, 1, 5, 6),), ("entry 2 makes no sense: 2 were not read",))


class TestProducerSnapshot:
    def test_nothing_known(self):
        """A producer of which only a marker is known has no sequence and no offset: not -1."""
        (row,), problems = indexes.producer_snapshot(snapshot((5, 0, -1, -1, 0, 99, -1, -1)))
        assert (row.last_sequence, row.last_offset, row.coordinator_epoch, row.transaction_starts, problems) == (*[None] * 4, ())

    @pytest.mark.parametrize(
        ("content", "problem"),
        [
            (b"\0\1", "ends after 2 bytes, within its head"),
            (snapshot(version=2), "is of version 2, which is not known"),
            (snapshot(count=2**31 - 1), "announces 2147483647 producers and holds 0"),
            (snapshot((1,) * 8)[:-1], "ends within an entry: 45 of 46 bytes"),
            (snapshot((1,) * 8)[:-1] + b"\7", "does not have the checksum that it states"),
        ],
    )
    def test_damaged(self, content, problem):
        """Said in words; a length is never believed."""
        assert problem in indexes.producer_snapshot(content).problems

    def test_checksum(self):
        """CRC-32C by its standard's own test value (RFC 3720, B.4: 32 bytes of zeros)."""
        assert indexes.crc32c(bytes(32)) == 0x8A9136AA


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes(content):
    """Nothing raises, and bytes that were not understood are told."""
    indexes.offset_index(content, base_offset=0)
    indexes.time_index(content, base_offset=0)
    aborted = indexes.aborted_transactions(content)
    assert aborted.problems or len(aborted.rows) * 34 == len(content)
    snapshot = indexes.producer_snapshot(content)
    assert snapshot.problems or len(snapshot.rows) * 46 + HEAD.size == len(content)
