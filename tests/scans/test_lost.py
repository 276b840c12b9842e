"""Lost records and the changes of leader that took them: Spark against the definitions, record by record."""

import csv
import json
import random
from datetime import UTC, datetime

import pyarrow.parquet as pq
import pytest

from casebook.facts.cluster import instant
from casebook.facts.losses import LeaderChange
from casebook.facts.records import LEDGER, STORED
from casebook.findings import exports, tables
from casebook.questions.loss.analysis.causes import Missing, explained, in_solitude, takers
from casebook.questions.loss.scans.lost import Lost

TOPIC, PARTITIONS = "t", 3
HOSTILE = '=HYPERLINK("x")\n, "\u202e'


def change(number, partition, opened, rng):
    unclean = rng.choice((True, False, None))
    return LeaderChange(
        number=number, topic=TOPIC, partition=partition, opened=opened, closed=rng.choice((None, opened, opened + 3000)),
        since=opened - rng.randrange(5000), old_leader=1, new_leader=2, epoch=number, cut=rng.choice((None, rng.randrange(1000))),
        isr=(1,), alone=rng.choice((None, opened - 2000)), unclean=unclean, cut_at_start=unclean is False and rng.random() < 0.3,
        disk=rng.random() < 0.1, planned=False, opened_proof=f"o:{number}", closed_proof=f"c:{number}", cut_proof="",
    )  # fmt: skip


def history(seed, records):
    """Changes in order of time, and lost records: id, partition, offset, moment, acks, producer."""
    rng = random.Random(seed)
    times = sorted(rng.sample(range(1_000_000, 1_100_000), 8))
    changes = [change(number, rng.randrange(PARTITIONS), at, rng) for number, at in enumerate(times)]
    rows = [
        (
            f"r{n}" if n else HOSTILE,
            rng.choice((None, *range(PARTITIONS), PARTITIONS)),
            rng.choice((None, rng.randrange(1000))),
            rng.choice((None, rng.randrange(990_000, 1_110_000))),
            rng.choice((None, "0", "1", "all", "-1")),
            rng.choice((None, "a", "b")),
        )
        for n in range(records)
    ]
    return changes, rows


def expected(row, changes, *, told):
    """What explains it, with the changes that may have taken it: by the definitions."""
    _, partition, offset, moment, acks, _ = row
    own = [one if partition is not None else one._replace(cut=None) for one in changes if partition in (None, one.partition)]
    took = tuple((one.number, in_solitude(one, moment)) for one in takers(own, offset, moment))
    return explained(Missing(took, acks, offset is not None, told), dict(enumerate(changes)))


@pytest.fixture
def lost(scanning, tmp_path):
    """Makes the lost records of a history."""

    def make(changes, rows, *, told=True, there=()):
        records = [(TOPIC, partition, name) for name, partition, *_ in rows]
        ledger = [
            (name, TOPIC, partition, offset, moment and datetime.fromtimestamp(moment / 1000, UTC), "acked", acks, None, producer)
            for name, partition, offset, moment, acks, producer in rows
        ]
        columns = [column.split()[0] for column in LEDGER.split(",")]
        said = scanning.createDataFrame([_named(columns, row) for row in ledger], LEDGER).selectExpr("*", "id AS name")
        stored = scanning.createDataFrame(list(there), STORED)
        frame = "topic string, partition int, id string"
        return Lost(
            spark=scanning, records=scanning.createDataFrame(records, frame), ledger=said, stored=stored, changes=changes,
            offsets=told, folder=tmp_path,
        )  # fmt: skip

    return make


def _named(columns, values):
    names = ("id", "topic", "partition", "offset", "at", "outcome", "acks", "key", "producer")
    told = dict(zip(names, values, strict=True))
    return tuple(told.get(column) for column in columns)


class TestAgainstTheDefinitions:
    @pytest.mark.parametrize("told", [True, False])
    def test_each_record(self, lost, told):
        """Change, cause, window and evidence of each, with unknown offsets, moments, partitions and settings among them."""
        changes, rows = history(7 + told, 3000)
        found = {row["id"]: row for row in lost(changes, rows, told=told).rows.collect()}
        assert len(found) == len(rows)
        for row in rows:
            why, got = expected(row, changes, told=told), found[row[0]]
            assert (got["cause"], got["window"], got["evidence"]) == (why.cause, why.window, why.evidence)
            assert got["change"] == next(iter(why.changes), None)
            assert tuple(got["either"]) == (why.changes if len(why.changes) > 1 else ())
        assert len({found[row[0]]["cause"] for row in rows}) > 5
        assert any(found[row[0]]["either"] for row in rows)

    def test_counts(self, lost):
        """Every record is counted once."""
        changes, rows = history(3, 2000)
        made = lost(changes, rows)
        counts = made.counts()
        assert sum(row.records for row in counts) == len(rows)
        alarms = sum(expected(row, changes, told=True).cause is None for row in rows)
        assert sum(row.records for row in counts if row.cause is None) == alarms > 0

    def test_shown(self, lost):
        """Of many the alarms are kept."""
        changes, rows = history(5, 3000)
        alarms = {row[0] for row in rows if expected(row, changes, told=True).cause is None}
        shown = lost(changes, rows).shown()
        assert len(shown) == 1000
        assert len(alarms & {row.id for row in shown}) == min(1000, len(alarms))
        moments = [row.acked_at for row in shown if row.acked_at is not None]
        assert moments == sorted(moments)


class TestNearest:
    def test_no_change_at_all(self, lost):
        """A record of a partition that never changed its leader is an alarm, and nothing is near."""
        (row,) = lost([], [("a", 0, 5, 1_000_000, "1", None)]).shown()
        assert (row.cause, row.change, row.nearest, row.evidence) == (None, None, None, "no change of leader explains it")

    @pytest.mark.parametrize(("moment", "nearest"), [(900_000, 98_000), (1_200_000, -197_000)])
    def test_away(self, lost, moment, nearest):
        """To the begin of a later window, or from the end of an earlier one."""
        one = change(0, 0, 1_000_000, random.Random(1))._replace(cut=800, since=998_000, closed=1_003_000)
        (row,) = lost([one], [("a", 0, 5, moment, "1", None)]).shown()
        assert (row.cause, row.nearest) == (None, nearest)


def test_there_now(lost):
    """What lies at its offset today, whoever wrote it."""
    there = [
        ("new", TOPIC, 0, 5, None, None, False, "data", 9),
        ("no", TOPIC, 0, 6, None, None, False, "aborted", 9),
        ("no", TOPIC, 1, 5, None, None, False, "data", 9),
    ]
    first, second = lost([], [("a", 0, 5, 1, "1", None), ("b", 0, 6, 2, "1", None)], there=there).shown()
    assert (first.there_id, first.there_epoch) == ("new", 9)
    assert (second.there_id, second.there_epoch) == (None, None)


def test_exports(lost, tmp_path):
    """All three formats hold every record, in order of time; only CSV guards what a spreadsheet would compute."""
    changes, rows = history(11, 500)
    made = lost(changes, rows)
    exports.write(tmp_path / "out", made.table)
    table = pq.read_table(tmp_path / "out" / "lost.parquet")
    assert table.column_names == [column.name for column in tables.columns("lost")]
    lines = [json.loads(line) for line in (tmp_path / "out" / "lost.jsonl").read_text().splitlines()]
    assert lines == table.to_pylist()
    assert {(line["id"], line["acked_at"]) for line in lines} == {(row[0], instant(row[3])) for row in rows}
    times = [line["acked_at"] for line in lines if line["acked_at"]]
    assert times == sorted(times)
    with (tmp_path / "out" / "lost.csv").open(newline="") as file:
        read = list(csv.DictReader(file))
    assert [row["id"].removeprefix("'") for row in read] == [line["id"] for line in lines]
    assert "'" + HOSTILE in {row["id"] for row in read}
