"""What is stored: on segments of real brokers, against what was written there and what a client is shown."""

import hashlib
import json
import re

import pytest

from casebook.errors import ScanError
from casebook.facts.disks import Replica, SegmentFile
from casebook.facts.records import STORED, Limits
from casebook.formats.clients.record_ids import parse
from casebook.questions.loss.scans import stored
from casebook.questions.loss.scans.stored_extract import from_extract
from casebook.spark import copies, segments
from casebook.spark.copies import CopyChoice
from tests.scans.written_logs import RECORDS


def replica(folder, broker=1, **known):
    topic, _, partition = folder.name.rpartition("-")
    files = tuple(SegmentFile(int(file.stem), file.stat().st_size, None) for file in sorted(folder.glob("*.log")))
    return Replica(broker=broker, topic=topic, partition=int(partition), place=str(folder), item="", segments=files, **known)


def read(scanning, folder, identity, kept, *, compacted=False, own=(1,)):
    copy = replica(folder)
    return stored.from_segments(
        scanning,
        [CopyChoice(copy, "there is no other")],
        parse(identity),
        folder=kept,
        compacted={copy.topic: compacted},
        listed_at={1: 1234},
        own={(copy.topic, copy.partition): own},
    )


def copied(folder, to, change):
    """A copy of a partition with one segment, its bytes changed."""
    source = min(folder.glob("*.log"))
    (to / folder.name).mkdir()
    (to / folder.name / source.name).write_bytes(change(source.read_bytes()))
    return to / folder.name


def batches(data):
    """Where each batch of a segment begins."""
    at = 0
    while at < len(data):
        yield at
        at += int.from_bytes(data[at + 8 : at + 12]) + 12


def ids(found):
    return {row.offset: row.id for row in found.records.collect()}


class TestIdentity:
    @pytest.mark.parametrize("folder", ["none-0", "gzip.0.9.0-0"])
    def test_key_and_value(self, scanning, written, tmp_path, folder):
        """As the script wrote them: keys, numbers inside values, hashes; a record without is counted."""
        place = written["2.8.2"] / folder
        raw = {row.offset: (row.key, row.value) for row in segments(scanning, place).where("kind = 'data'").collect()}
        found = read(scanning, place, "key", tmp_path / "key", compacted=True)
        keys = {number: None if number % 11 == 0 else f"key {number % 50}" for number in range(RECORDS)}
        assert ids(found) == keys
        assert found.without_id() == {(place.name.removesuffix("-0"), 0): sum(key is None for key in keys.values())}
        rows = found.records.collect()
        assert ", ".join(f"{name} {kind}" for name, kind in found.records.dtypes) == re.sub(r"\s+", " ", STORED).strip()
        assert {row.offset for row in rows if row.tombstone} == set(range(0, RECORDS, 13))
        assert {row.offset for row in rows if row.key is None} == set(range(0, RECORDS, 11))
        assert len({row.key for row in rows}) == 51
        numbers = {number: None if number % 13 == 0 else str(number) for number in range(RECORDS)}
        assert ids(read(scanning, place, r"value:/^value (?P<id>\d+)/", tmp_path / "number")) == numbers
        hashes = {at: hashlib.sha256((key or b"") + b"\0" + (value or b"")).hexdigest() for at, (key, value) in raw.items()}
        assert ids(read(scanning, place, "hash", tmp_path / "hash")) == hashes
        plain = read(scanning, place, "offset", tmp_path / "offset").records
        assert {(row.id, row.tombstone) for row in plain.collect()} == {(None, None)}

    def test_headers(self, scanning, written, tmp_path):
        """The last header of the name counts; one that is empty or null is none."""
        found = ids(read(scanning, written["2.8.2"] / "none-0", "header:header", tmp_path / "kept"))
        assert found == {number: "x" * (number % 5) or None if number % 7 == 0 else None for number in range(RECORDS)}

    @pytest.mark.parametrize(
        ("identity", "key", "value", "expected"),
        [
            ("key", b"\xc3\xa9", None, "é"),
            ("key", b"\xff\xfe", None, None),
            ("key", b"", None, None),
            ("key", None, None, None),
            ("value:$.a.b", None, b'{"a": {"b": 17}}', "17"),
            ("value:$.a[1]['b c']", None, b'{"a": [0, {"b c": "x"}]}', "x"),
            ("value:$.a.b", None, b'{"a": {"b": null}}', None),
            ("value:$.a.b", None, b'{"a": {"b": 17', None),
            ("value:$.a.b", None, b"[" * 5000, None),
            ("value:$.a", None, b'{"a": "\xff"}', None),
            ("value:$.a", None, b'{"a": ' + b"9" * 5000 + b"}", None),
            ("value:$.a", None, None, None),
            ("value:/id=(\\w+)/", None, b"x id=y z", "y"),
            ("value:/\\d+/", None, b"id 42 43", "42"),
            ("value:/\\d+/", None, b"\xff 42", None),
        ],
    )
    def test_hostile(self, scanning, identity, key, value, expected):
        """What is found, or null: never an error."""
        rows = [(None if key is None else bytearray(key), None if value is None else bytearray(value))]
        frame = scanning.createDataFrame(rows, "key binary, value binary").select(stored.record_id(parse(identity)).alias("id"))
        assert frame.collect()[0].id == expected


class TestTransactions:
    def states(self, found):
        return {row.offset: row.state for row in found.records.collect()}

    def expected(self, *, aborted=(2, 5), last=None):
        """By the script: twenty records and a marker each time, every third one aborted."""
        states = {21 * number + at: "aborted" if number in aborted else "data" for number in range(6) for at in range(20)}
        return {offset: last if last and offset >= 105 else state for offset, state in states.items()}

    def test_as_they_ended(self, scanning, written, tmp_path):
        """Every third transaction is aborted; markers are no records; everything was read."""
        found = read(scanning, written["2.8.2"] / "transactions-0", "key", tmp_path / "kept")
        assert self.states(found) == self.expected()
        assert {row.leader_epoch for row in found.records.collect()} == {0}
        (limits,) = found.limits
        first = (
            segments(scanning, written["2.8.2"] / "transactions-0")
            .where("offset = 0")
            .selectExpr("unix_millis(timestamp)")
            .first()[0]
        )
        assert limits == Limits("transactions", 0, "broker 1", 0, 126, first, 1234, compacted=False)

    def test_open(self, scanning, written, tmp_path):
        """Without its marker, the last one is open."""
        place = copied(written["2.8.2"] / "transactions-0", tmp_path, lambda data: data[: list(batches(data))[-1]])
        assert self.states(read(scanning, place, "key", tmp_path / "kept")) == self.expected(last="open")

    def test_unreadable_marker(self, scanning, written, tmp_path):
        """When a marker cannot be read, the producer's next one says nothing of that transaction."""

        def damage(data):
            at = next(at for at in batches(data) if int.from_bytes(data[at : at + 8]) == 62)  # of the third, which was aborted
            return data[: at + 60] + bytes([data[at + 60] ^ 1]) + data[at + 61 :]

        found = read(scanning, copied(written["2.8.2"] / "transactions-0", tmp_path, damage), "key", tmp_path / "kept")
        expected = {offset: "open" if 42 <= offset < 62 else state for offset, state in self.expected().items()}
        assert self.states(found) == expected
        assert found.limits[0].unreadable == ((62, 63),)


class TestCopies:
    @pytest.fixture
    def two(self, written, tmp_path):
        """A whole copy, and one of another broker that ends earlier."""
        whole = written["2.8.2"] / "none-0"
        return [replica(copied(whole, tmp_path, lambda data: data[: list(batches(data))[-1]]), 2), replica(whole, 1)]

    def test_leader_or_longest(self, scanning, two):
        """The leader's copy where it is here, however short; else the longest; why is told."""
        for leader, broker, why in ((2, 2, "broker 2 leads it"), (3, 1, "broker 3, is missing"), (None, 1, "offset 200")):
            ((copy, told),) = copies.chosen(scanning, two, {"none"}, {("none", 0): leader})
            assert copy.broker == broker and why in told
        assert copies.chosen(scanning, two, {"other"}, {}) == []

    def test_gone(self, scanning, two, tmp_path):
        """A copy whose folder is elsewhere is not chosen."""
        ((copy, told),) = copies.chosen(
            scanning, [two[1], two[0]._replace(place=str(tmp_path / "gone"))], {"none"}, {("none", 0): 2}
        )
        assert copy.broker == 1 and "no other copy" in told


class TestExtract:
    def test_lines(self, scanning, tmp_path):
        """What it says is taken; what is missing between its offsets nobody can tell; where it begins and ends, it does not say."""
        rows = [{"Topic": "orders", "partition": 0, "offset": at, "key": f"k{at}", "timestamp": 1000 + at} for at in (3, 4, 7)]
        file = tmp_path / "rows.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        found = from_extract(scanning, scanning.read.json(f"file:{file}"), "rows.jsonl", parse("key"), folder=tmp_path / "kept")
        assert {(row.offset, row.id, row.state) for row in found.records.collect()} == {
            (at, f"k{at}", "data") for at in (3, 4, 7)
        }
        assert found.limits == (Limits("orders", 0, "rows.jsonl", None, 8, 1003, unreadable=((5, 7),)),)

    def test_text(self, scanning, tmp_path):
        """Columns of a CSV are text; ids of its own count; a word that is no number is unknown."""
        file = tmp_path / "rows.csv"
        file.write_text("topic,partition,offset,id,timestamp\norders,0,5,a,2026-01-02T03:04:05Z\norders,x,,b,later\n")
        frame = scanning.read.csv(f"file:{file}", header=True)
        rows = from_extract(scanning, frame, "rows.csv", parse("key"), folder=tmp_path / "kept").records.orderBy("id").collect()
        assert [(row.partition, row.offset, row.id) for row in rows] == [(0, 5, "a"), (None, None, "b")]
        assert [row.at and row.at.isoformat() for row in rows] == ["2026-01-02T03:04:05", None]

    def test_columns_missing(self, scanning, tmp_path):
        """It is said which."""
        frame = scanning.createDataFrame([("orders",)], "topic string")
        with pytest.raises(ScanError, match="no column value"):
            from_extract(scanning, frame, "rows", parse("value:$.id"), folder=tmp_path)
