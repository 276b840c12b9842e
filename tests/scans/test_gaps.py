"""Missing offsets of scans: against an oracle that looks at every offset, and on segments of real brokers."""

import random
from collections import Counter
from itertools import groupby

import pytest

from casebook.facts.disks import EpochStart
from casebook.questions.loss.analysis.gaps import GapKind
from casebook.questions.loss.scans import gaps
from casebook.questions.loss.scans.gaps import Gaps, KnownCopy

RUNS = """
    topic string, partition int, segment bigint, position bigint, first bigint, end bigint, records bigint, epoch int,
    first_time timestamp, last_time timestamp, kind string
"""
ROWS = "kind string, topic string, partition int, offset bigint, gap_end bigint, at timestamp, leader_epoch int"


class Log:
    """A log made up batch by batch, with what becomes of each of its offsets."""

    def __init__(self, partition: int, chance: random.Random, *, committed: bool) -> None:
        self.rows, self.truth, self.partition = [], {}, partition
        self._committed = committed
        self.compacted = chance.choice((True, False, None))
        self.start = chance.choice((0, 7))
        self.truth.update(dict.fromkeys(range(self.start), GapKind.LOG_START))
        self._end, self._epoch, self.epochs = self.start, 0, [EpochStart(0, 0)]
        for _ in range(chance.randrange(1, 12)):
            self._skip(chance)
            self._batch(chance)
        self.end = self._end
        self.known = KnownCopy("made", partition, self.start, self.end, None, self.compacted, self.epochs)

    def _skip(self, chance: random.Random) -> None:
        """Sometimes nothing is missing before the next batch; else it was lost for one of the reasons there are."""
        size = chance.randrange(1, 9)
        match chance.choice(("nothing", "nothing", "lost", "damage", "truncated", "both epochs")):
            case "lost":
                label = GapKind.UNEXPLAINED
            case "damage":
                self._add(None, None, None, "damage")
                self._miss(size, GapKind.DAMAGE)
                return
            case "truncated" if self.rows:
                self._epoch += 1
                self.epochs.append(EpochStart(self._epoch, self._end + size))
                label = GapKind.TRUNCATION
            case "both epochs":
                self._epoch += 1
                self.epochs.append(EpochStart(self._epoch, self._end))
                label = GapKind.UNEXPLAINED
            case _:
                return
        if self.compacted:
            label = GapKind.COMPACTION
        elif self.compacted is None and label is GapKind.UNEXPLAINED:
            label = GapKind.CANNOT_TELL
        self._miss(size, label)

    def _miss(self, size: int, label: GapKind) -> None:
        self.truth.update(dict.fromkeys(range(self._end, self._end + size), label))
        self._end += size

    def _batch(self, chance: random.Random) -> None:
        kind = chance.choice(("data", "data", "control", "aborted", "open"))
        size = 1 if kind == "control" else chance.randrange(1, 9)
        gone = chance.randrange(size) if kind == "data" else 0
        first = self._end
        self._add(first, first + size, size - gone, kind)
        if kind == "control":
            self._miss(1, GapKind.CONTROL)
        elif kind == "aborted" and self._committed:
            self._miss(size, GapKind.ABORTED)
        else:
            self._miss(gone, GapKind.COMPACTION)
            self._end = first + size

    def _add(self, first: int | None, end: int | None, records: int | None, kind: str) -> None:
        epoch = None if first is None else self._epoch
        self.rows.append(("made", self.partition, 0, len(self.rows), first, end, records, epoch, None, None, kind))


@pytest.mark.parametrize("committed", [True, False])
def test_against_every_offset(scanning, committed):
    """Of two hundred random logs each missing offset has the label of what took it, and what may hide a record is unreadable."""
    chance = random.Random(f"gaps {committed}")
    logs = [Log(number, chance, committed=committed) for number in range(200)]
    rows = [row for log in logs for row in log.rows]
    chance.shuffle(rows)
    runs = scanning.createDataFrame(rows, RUNS)
    found = Gaps(spark=scanning, runs=runs, known=[log.known for log in logs], committed=committed)
    counted = {(gap.partition, gap.kind): gap.offsets for gap in found.counts()}
    assert counted == Counter((log.partition, label) for log in logs for label in log.truth.values())
    assert {label for _, label in counted} >= set(GapKind) - {GapKind.UNREAD} - (set() if committed else {GapKind.ABORTED})
    doubtful = {GapKind.DAMAGE, GapKind.TRUNCATION, GapKind.UNEXPLAINED, GapKind.CANNOT_TELL}
    unreadable = {("made", log.partition): ranges(at for at, label in log.truth.items() if label in doubtful) for log in logs}
    merged = {
        at: ranges(offset for first, end in some for offset in range(first, end)) for at, some in found.unreadable().items()
    }
    assert merged == {at: some for at, some in unreadable.items() if some}


def ranges(offsets):
    """Runs of neighbours."""
    placed = enumerate(sorted(offsets))
    runs = [[offset for _, offset in some] for _, some in groupby(placed, key=lambda pair: pair[1] - pair[0])]
    return [(run[0], run[-1] + 1) for run in runs]


def test_runs_of_offsets(scanning):
    """Offsets in any order become their runs, epoch by epoch, beyond 64 and at its edges; a gap that was told stays one."""
    chance = random.Random(5)
    offsets = {chance.randrange(700) for _ in range(500)} | set(range(1000, 1300)) | {2**40 + 63, 2**40 + 64}
    rows = [("data", "made", 0, offset, None, None, int(offset >= 100)) for offset in offsets]
    rows += [("gap", "made", 1, 5, 9, None, None)]
    chance.shuffle(rows)
    found = gaps.of_offsets(scanning, scanning.createDataFrame(rows, ROWS)).collect()
    expected = [(*run, epoch) for epoch in (0, 1) for run in ranges(at for at in offsets if (at >= 100) == epoch)]
    told = Gaps(
        spark=scanning, runs=gaps.of_offsets(scanning, scanning.createDataFrame(rows, ROWS)), known=[KnownCopy("made", 0, 0)]
    )
    together = ranges(offset for row in found if row.kind == "data" for offset in range(row.first, row.end))
    assert together == ranges(offsets) and {row.records for row in found if row.kind == "data"} <= set(range(1, 65))
    assert {(row.first, row.end, row.epoch) for row in found if row.kind == "data" and row.end <= 64} <= set(expected)
    assert [(gap.kind, gap.offsets) for gap in told.counts() if gap.partition == 1] == [(GapKind.UNREAD, 4)]
    missing = sum(gap.offsets for gap in told.counts() if gap.partition == 0)
    assert missing == max(offsets) + 1 - len(offsets)


class TestRealSegments:
    def counted(self, scanning, place, *known):
        runs = gaps.of_segments(scanning, [place], known).cache()
        found = Gaps(spark=scanning, runs=runs, known=known)
        return {gap.kind: (gap.ranges, gap.offsets, gap.first, gap.end) for gap in found.counts()}, found.unreadable()

    @pytest.mark.parametrize("version", ["2.8.2", "0.9.0.1"])
    def test_nothing_is_missing(self, scanning, written, version):
        """In no format or codec: also where a batch does not state its first offset. Of transactions just their markers are."""
        ends = {folder.name.removesuffix("-0"): 200 for folder in written[version].glob("[!_]*-0")}
        ends |= {"transactions": 126} if "transactions" in ends else {}
        known = [KnownCopy(topic, 0, 0, end, None, False) for topic, end in ends.items()]
        assert len(known) > 3
        markers = {GapKind.CONTROL: (6, 6, 20, 126)} if "transactions" in ends else {}
        assert self.counted(scanning, written[version] / "[!_]*-0", *known) == (markers, {})

    def test_damage_and_missing_segments(self, scanning, written, tmp_path):
        """A flipped byte takes just its batch's offsets; a file that lacks its begin lacks them unexplained."""
        source = min((written["2.8.2"] / "none-0").glob("*.log"))
        whole = source.read_bytes()
        first, second = (int.from_bytes(whole[at + 8 : at + 12]) + 12 for at in (0, int.from_bytes(whole[8:12]) + 12))
        records = int.from_bytes(whole[first + 57 : first + 61])
        begin = int.from_bytes(whole[first : first + 8])
        folder = tmp_path / "none-0"
        folder.mkdir()
        copy = folder / source.name
        at = first + second - 1
        copy.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        known = KnownCopy("none", 0, 0, 200, None, False)
        damaged = {GapKind.DAMAGE: (1, records, begin, begin + records)}
        assert self.counted(scanning, folder, known) == (damaged, {("none", 0): ((begin, begin + records),)})
        copy.write_bytes(whole[first:])
        counts, unreadable = self.counted(scanning, folder, known)
        assert counts == {GapKind.UNEXPLAINED: (1, begin, 0, begin)} and unreadable == {("none", 0): ((0, begin),)}
        copy.write_bytes(whole[: first + second - 9])
        counts, unreadable = self.counted(scanning, folder, known)
        assert counts == {GapKind.DAMAGE: (1, None, begin, None)} and unreadable == {("none", 0): ((begin, None),)}
