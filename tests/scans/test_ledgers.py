"""Ledgers read back as what was written, in whatever format; what cannot be used is counted, with an example."""

import bz2
import csv
import gzip
import io
import json
import os
import re
import tempfile
from collections import Counter
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from casebook.collect.files import plain
from casebook.errors import CasebookError, ScanError, UsageError
from casebook.facts.records import LEDGER, SendOutcome
from casebook.formats.clients.ledger_columns import LedgerColumns
from casebook.questions.loss.scans import ledgers
from casebook.rehearsal.ledger import LedgerEntry, write_ledger

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICRO = timedelta(microseconds=1)


class Row(NamedTuple):
    """A row of LEDGER; times in epoch microseconds."""

    id: str
    topic: str
    partition: int | None = None
    offset: int | None = None
    at: int | None = None
    outcome: str = "acked"
    acks: str | None = None
    key: str | None = None
    producer: str | None = None
    sent: int | None = None


def rows_of(ledger) -> Counter:
    frame = ledger.rows.selectExpr(
        "id", "topic", "partition", "offset", "unix_micros(at)", "outcome", "acks", "key", "producer", "unix_micros(sent)"
    )  # fmt: skip
    return Counter(Row(*row) for row in frame.collect())


def written(folder: Path, name: str, text: str | bytes) -> Path:
    data = text if isinstance(text, bytes) else text.encode()
    (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return folder / name


TEXT = st.text(st.characters(exclude_categories=("C", "Zl", "Zp")), min_size=1, max_size=8).filter(str.strip)
WORD = st.text("abcXYZ019-", min_size=1, max_size=8)
MICROS = st.integers(10**15, 4 * 10**15)


@st.composite
def ledger_rows(draw, texts: st.SearchStrategy[str] = TEXT) -> Row:
    return Row(
        id=draw(texts),
        topic=draw(st.text("abcXYZ._-019", min_size=1, max_size=9)),
        partition=draw(st.none() | st.integers(0, 2**31 - 1)),
        offset=draw(st.none() | st.integers(0, 2**63 - 1)),
        at=draw(st.none() | MICROS | MICROS.map(lambda at: at // 10**6 * 10**6)),
        outcome=draw(st.sampled_from(list(SendOutcome))),
        acks=draw(st.sampled_from([None, "0", "1", "all"])),
        key=draw(st.none() | texts),
        producer=draw(st.none() | texts),
        sent=draw(st.none() | MICROS),
    )


WORDS = {
    "acked": ["acked", "ACK", " ok ", "Success", "delivered", "true", "1"],
    "failed": ["failed", "ERROR", "timed_out", "Timed Out", "false", "0"],
    "unknown": ["", "sent", "pending", "acked?", None],
}
ROLES = ("id", "topic", "partition", "offset", "at", "outcome", "acks", "key", "producer", "sent")
USUAL = ("record_id", "Topic", "PARTITION", "kafka-offset", "timestamp", "Status", "acks", "messageKey", "client.id", "sent_at")
OWN = ("which one", "a.b", "c;d", "`e`", 'f"g', "h'i", "j,k", "ü", "$l", "m\\n")
NAMED = LedgerColumns(**dict(zip((role if role != "at" else "time" for role in ROLES), OWN, strict=True)))


def told_at(at: int | None, draw) -> str | None:
    """A moment in any way that applications write it."""
    if at is None:
        return draw(st.sampled_from(["", "null", "NaT", None]))
    exact = [1] + [1000] * (at % 1000 == 0) + [10**6] * (at % 10**6 == 0)
    zone = draw(st.sampled_from([0, 60, 330, -480]))
    moment = (EPOCH + at * MICRO).astimezone(timezone(timedelta(minutes=zone)))
    iso = moment.isoformat(sep=draw(st.sampled_from("T ")))
    without_zone = (EPOCH + at * MICRO).replace(tzinfo=None).isoformat(sep=" ")
    return draw(
        st.sampled_from([iso, iso.replace(".", ","), iso.replace("+00:00", "Z"), without_zone, f"{at}000"])
        | st.sampled_from(exact).map(lambda unit: str(at // unit))
    )


def as_texts(rows: list[Row], draw) -> list[list[str | None]]:
    """The cells of rows, as text, with what applications write where they know nothing."""
    return [
        [
            row.id,
            row.topic,
            draw(st.sampled_from(["", "-1", "NaN", None])) if row.partition is None else str(row.partition),
            draw(st.sampled_from(["", "-1", "-1001", None])) if row.offset is None else str(row.offset),
            told_at(row.at, draw),
            draw(st.sampled_from(WORDS[row.outcome])),
            draw(st.sampled_from(["all", "-1", "ALL"])) if row.acks == "all" else row.acks,
            row.key,
            row.producer,
            told_at(row.sent, draw),
        ]
        for row in rows
    ]


def as_csv(names: tuple[str, ...], cells: list[list[str | None]], separator: str) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\n").writerows([names, *cells])
    return text.getvalue()


def as_json(names: tuple[str, ...], cells: list[list[str | None]], draw) -> str:
    """Objects with their columns in any order, numbers as numbers or as text, and what is null left out or not.

    Each column stands in some row: one that stands in none does not exist, and a parameter that names it is refused.
    """
    lines = []
    complete = draw(st.integers(0, len(cells) - 1))
    for number, row in enumerate(cells):
        said = [number == complete or cell is not None or draw(st.booleans()) for cell in row]
        pairs = draw(st.permutations([pair for pair, is_said in zip(zip(names, row, strict=True), said, strict=True) if is_said]))
        plain = {
            name: int(cell) if name in (names[2], names[3]) and re.fullmatch("-?[0-9]+", cell or "") else cell
            for name, cell in pairs
        }
        lines.append(json.dumps(plain if draw(st.booleans()) else dict(pairs), ensure_ascii=draw(st.booleans())))
    return "".join(line + "\n" for line in lines)


def as_parquet(names: tuple[str, ...], rows: list[Row], unit: str, draw) -> bytes:
    """With the types that a Parquet file of an application has."""
    cells = dict(zip(names, zip(*as_texts(rows, draw), strict=True), strict=True))
    columns = {name: pa.array(cells[name], pa.string()) for name in names}
    columns[names[2]] = pa.array([row.partition for row in rows], pa.int32())
    columns[names[3]] = pa.array([row.offset for row in rows], pa.int64())
    at = [row.at for row in rows]
    moments = {
        "text": columns[names[4]],
        "us": pa.array(at, pa.int64()).cast(pa.timestamp("us", "UTC")),
        "naive": pa.array(at, pa.int64()).cast(pa.timestamp("us")),
        "ns": pa.array([one and one * 1000 for one in at], pa.int64()).cast(pa.timestamp("ns")),
        "number": pa.array(at, pa.int64()),
    }
    columns[names[4]] = moments[unit]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue().to_pybytes()


@settings(max_examples=4, deadline=None)
@given(
    rows=st.lists(ledger_rows(), min_size=1, max_size=12),
    form=st.sampled_from(["csv", "csv.gz", "tsv", "jsonl", "json.gz", "parquet"]),
    usual=st.booleans(),
    unit=st.sampled_from(["text", "us", "naive", "ns", "number"]),
    data=st.data(),
)
def test_any_format(scanning, rows, form, usual, unit, data) -> None:
    """Whatever a ledger is written as, and whatever its columns are called, the same rows come back, and all of them.

    Where no parameter names the time, one that was never told is when it was sent.
    """
    names = USUAL if usual else OWN
    if form == "parquet":
        content = as_parquet(names, rows, unit, data.draw)
    elif "csv" in form or form == "tsv":
        content = as_csv(names, as_texts(rows, data.draw), "\t" if form == "tsv" else data.draw(st.sampled_from(",;|\t")))
    else:
        content = as_json(names, as_texts(rows, data.draw), data.draw)
    rows = [row._replace(at=row.sent) if usual and row.at is None else row for row in rows]
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder), f"ledger.{form}", content)
        ledger = ledgers.read(scanning, path, LedgerColumns() if usual else NAMED)
        assert rows_of(ledger) == Counter(rows)
        told = ledger.told
    assert (told.rows, told.unusable, told.odd_times) == (len(rows), (), None)
    assert told.outcomes == {outcome: sum(row.outcome == outcome for row in rows) for outcome in SendOutcome}
    moments = [row.at // 1000 for row in rows if row.at is not None]
    assert (told.first, told.last) == (min(moments, default=None), max(moments, default=None))
    assert sum(word.rows for word in told.words) == len(rows)


@settings(max_examples=2, deadline=None)
@given(rows=st.lists(ledger_rows(WORD), min_size=1, max_size=12), data=st.data())
def test_a_log(scanning, rows, data) -> None:
    """Lines of an application that a pattern describes are rows; the others are counted."""
    lines = []
    for row in rows:
        at = "-" if row.at is None else (EPOCH + row.at * MICRO).isoformat(sep=" ").replace(".", ",")
        place = f"{row.topic}/{'' if row.partition is None else row.partition}@{'' if row.offset is None else row.offset}"
        word = data.draw(st.sampled_from([word for word in WORDS[row.outcome] if word and " " not in word]))
        lines += [f"{at} INFO [{row.producer or ''}] {row.id} ({row.key or ''}) to {place}: {word} acks={row.acks or ''}"]
    noise = data.draw(st.integers(0, 3))
    pattern = (
        r"^(-|(?P<at>\S+ \S+)) INFO \[(?<producer>.*?)\] (?P<id>\S+) \((?P<key>.*?)\) to (?P<topic>[^/]+)/(?P<partition>\d*)@"
        r"(?P<offset>\d*): (?P<outcome>\S+) acks=(?P<acks>\w*)$"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder), "app.log.1", "\n".join([*lines, *["WARN nobody knows"] * noise]))
        ledger = ledgers.read(scanning, path, LedgerColumns(), line_pattern=pattern)
        assert rows_of(ledger) == Counter(row._replace(sent=None) for row in rows)
        told = ledger.told
    assert told.rows == len(rows)
    assert [(bad.reason, bad.rows, bad.example) for bad in told.unusable] == (
        [("the line cannot be read as a row", noise, "app.log.1: WARN nobody knows")] if noise else []
    )


def test_the_columns_are_those_of_every_ledger(scanning, tmp_path) -> None:
    from pyspark.sql.types import StructType

    path = written(tmp_path, "one.csv", "id,topic,status\n1,t,ok\n")
    assert ledgers.read(scanning, path, LedgerColumns()).rows.schema.simpleString() == StructType.fromDDL(LEDGER).simpleString()


def test_our_own_ledger(scanning, tmp_path) -> None:
    """What a rehearsal's producer wrote is read without any parameter; never answered is unknown."""
    entries = [
        LedgerEntry(id="a", client="c", topic="t", partition=0, sent=1_700_000_000_001, acked=1_700_000_000_009, offset=7),
        LedgerEntry(id="b", client="c", topic="t", partition=1, sent=1_700_000_000_002, failed="_MSG_TIMED_OUT: late"),
        LedgerEntry(id="c", client="c", topic="t", partition=1, sent=1_700_000_000_003),
    ]
    write_ledger(entries, tmp_path / "ledger.jsonl")
    ledger = ledgers.read(scanning, tmp_path / "ledger.jsonl", LedgerColumns())
    assert rows_of(ledger) == Counter(
        (
            Row("a", "t", 0, 7, 1_700_000_000_009_000, "acked", producer="c", sent=1_700_000_000_001_000),
            Row("b", "t", 1, None, 1_700_000_000_002_000, "failed", producer="c", sent=1_700_000_000_002_000),
            Row("c", "t", 1, None, 1_700_000_000_003_000, "unknown", producer="c", sent=1_700_000_000_003_000),
        )
    )
    assert {(word.text, word.outcome, word.rows) for word in ledger.told.words} == {
        ("acked", "acked", 1), ("failed", "failed", 1), ("", "unknown", 1),
    }  # fmt: skip


FILLED = [
    ("2026-11-22 10:00:00", "", "acked"),
    ("true", "", "acked"),
    ("1700000000123", "false", "acked"),
    ("", "broken pipe", "failed"),
    ("false", "", "failed"),
    ("", "true", "failed"),
    ("true", "broken pipe", "unknown"),
    ("maybe", "", "unknown"),
    ("", "", "unknown"),
    ("", "false", "unknown"),
]


def test_outcomes_by_which_column_is_filled(scanning, tmp_path) -> None:
    """Both or neither is unknown, and so is a word that nobody knows; a record that has not failed may still be on its way."""
    lines = [f"{number},t,{acked},{failed}" for number, (acked, failed, _) in enumerate(FILLED)]
    path = written(tmp_path, "pair.csv", "\n".join(["id,topic,acked,failed", *lines]))
    ledger = ledgers.read(scanning, path, LedgerColumns())
    assert {row.id: row.outcome for row in rows_of(ledger)} == {str(number): o for number, (_, _, o) in enumerate(FILLED)}


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [("acked", {"a": "acked", "b": "failed", "c": "acked"}), ("error", {"a": "unknown", "b": "failed", "c": "acked"})],
)
def test_only_failures_are_told(scanning, tmp_path, outcome, expected) -> None:
    """The others were acknowledged if the parameter says so, or the column itself."""
    path = written(tmp_path, "l.csv", "id,topic,error\na,t,\nb,t,broken\nc,t,false\n")
    assert {row.id: row.outcome for row in rows_of(ledgers.read(scanning, path, LedgerColumns(outcome=outcome)))} == expected


def test_ids_within_a_text(scanning, tmp_path) -> None:
    """The first group of the pattern is the id; a text that it does not match is a row without one."""
    path = written(tmp_path, "l.csv", "note,topic,status\norder=17 of 3,t,ok\nno number,t,ok\n")
    ledger = ledgers.read(scanning, path, LedgerColumns(id="note", id_pattern=r"order=([0-9]+)"))
    assert rows_of(ledger) == Counter([Row("17", "t")])
    (bad,) = ledger.told.unusable
    assert bad.reason == "id_pattern does not match its id" and "no number" in bad.example


def test_zones(scanning, tmp_path) -> None:
    """A time without a zone is of the zone that is given, summer or winter, and is counted as assumed; the others have theirs."""
    times = {
        "winter": ("2026-01-10 10:00:00", "2026-01-10T09:00:00Z", 1),
        "summer": ("2026-07-10T10:00:00,250", "2026-07-10T08:00:00.250Z", 1),
        "own": ("2026-07-10 10:00:00.5 -0330", "2026-07-10T13:30:00.500Z", 0),
        "short": ("2026-07-10T10:00:00+05", "2026-07-10T05:00:00Z", 0),
        "text": ("1783674000.25", "2026-07-10T09:00:00.250Z", 0),
        "number": (1783674000.25, "2026-07-10T09:00:00.250Z", 0),
    }
    path = written(
        tmp_path, "l.jsonl", "".join(json.dumps({"id": i, "topic": "t", "time": t[0]}) + "\n" for i, t in times.items())
    )
    ledger = ledgers.read(scanning, path, LedgerColumns(outcome="acked"), zone="Europe/Berlin")
    expected = {i: round((datetime.fromisoformat(utc) - EPOCH) / MICRO) for i, (_, utc, _) in times.items()}
    assert {row.id: row.at for row in rows_of(ledger)} == expected
    told = ledger.told
    assert (told.assumed, told.zone, told.odd_times) == (2, "Europe/Berlin", None)


def test_times_that_are_none(scanning, tmp_path) -> None:
    """The row counts without its time, and is told; a time of the day alone is never taken for one of today."""
    odd = ["yesterday", "10:00:00", "2026-02-30 10:00:00", "2026-11-22", "-5", "1e99", "2026-11-22 25:00:00Z"]
    path = written(tmp_path, "l.csv", "id,topic,status,time\n" + "".join(f"{n},t,ok,{time}\n" for n, time in enumerate(odd)))
    ledger = ledgers.read(scanning, path, LedgerColumns())
    assert rows_of(ledger) == Counter(Row(str(n), "t") for n in range(len(odd)))
    found = ledger.told.odd_times
    assert (found.rows, found.example) == (len(odd), 'l.csv: {"id":"0","topic":"t","time":"yesterday","status":"ok"}')


BROKEN_JSON = [
    '{"id": "a", "topic": "t"',
    '{"id": "a", "topic": "t", "ok": 1} {"id": "b", "topic": "t"}',
    '{"id": "a", "topic": "t"}, {"id": "b", "topic": "t"}',
    '[{"id": "a", "topic": "t"}]',
    "17",
    "null",
    "plain words",
]


def test_broken_lines_of_json(scanning, tmp_path) -> None:
    """None is dropped, and of two records in a line not one alone is taken; types may change from line to line."""
    good = ['{"id": 5, "topic": "t", "offset": "7", "status": true}', '{"id": "x", "topic": "t", "offset": 8.0, "status": "ok"}']
    others = ['{"topic": "t"}', '{"id": "a", "topic": ""}', '{"id": "a", "topic": "t", "partition": {"n": 1}}']
    others += ['{"id": "a", "topic": "t", "offset": 1.5}', '{"id": "a", "topic": "t", "partition": 2147483648}', "", "  "]
    path = written(tmp_path, "l.ndjson", "\n".join([*good, *BROKEN_JSON, *others]))
    ledger = ledgers.read(scanning, path, LedgerColumns())
    assert rows_of(ledger) == Counter([Row("5", "t", None, 7), Row("x", "t", None, 8)])
    told = ledger.told
    assert [(bad.reason, bad.rows) for bad in told.unusable] == [
        ("the line cannot be read as a row", len(BROKEN_JSON)),
        ("it has no id", 1),
        ("it has no topic", 1),
        ("its partition is no number", 2),
        ("its offset is no number", 1),
    ]
    assert told.unusable[0].example == f"l.ndjson: {min(BROKEN_JSON)}"
    assert told.unusable[1].example == 'l.ndjson: {"topic": "t"}'


def test_broken_lines_of_csv(scanning, tmp_path) -> None:
    """Too few or too many cells, an open quote, a number that is none."""
    lines = ["a,t,0,1,ok", "b,t,0", "c,t,0,1,ok,more", ",t,0,1,ok", "d,,0,1,ok", "e,t,x,1,ok", "f,t,0,1x,ok", '"g,t,0,1,ok']
    path = written(tmp_path, "l.csv", "\r\n".join(["id,topic,partition,offset,status", *lines]))
    ledger = ledgers.read(scanning, path, LedgerColumns())
    assert rows_of(ledger) == Counter([Row("a", "t", 0, 1)])
    assert {bad.reason: (bad.rows, bad.example) for bad in ledger.told.unusable} == {
        "the line cannot be read as a row": (3, 'l.csv: "g,t,0,1,ok'),
        "it has no id": (1, 'l.csv: {"topic":"t","partition":"0","offset":"1","status":"ok"}'),
        "it has no topic": (1, 'l.csv: {"id":"d","partition":"0","offset":"1","status":"ok"}'),
        "its partition is no number": (1, 'l.csv: {"id":"e","topic":"t","partition":"x","offset":"1","status":"ok"}'),
        "its offset is no number": (1, 'l.csv: {"id":"f","topic":"t","partition":"0","offset":"1x","status":"ok"}'),
    }


def test_several_files_and_one_topic(scanning, tmp_path) -> None:
    """A pattern, or a folder with folders; the same id twice stays two rows; the topic is given where a row has none."""
    (tmp_path / "deep").mkdir()
    written(tmp_path, "1.csv", "id,status\na,ok\nb,ok\n")
    written(tmp_path / "deep", "2.csv.gz", "id,status\na,ok\n")
    expected = Counter({Row("a", "orders"): 2, Row("b", "orders"): 1})
    assert rows_of(ledgers.read(scanning, tmp_path, LedgerColumns(), topic="orders")) == expected
    uri = f"file://{tmp_path}/*.csv"
    assert rows_of(ledgers.read(scanning, uri, LedgerColumns(), topic="orders")) == Counter(Row(i, "orders") for i in "ab")


def test_a_column_that_comes_late(scanning, tmp_path) -> None:
    """JSON lines may name a column for the first time where few would look."""
    lines = ['{"id": 1, "topic": "t", "acked": "2026-11-22T10:00:00Z"}'] * 3_000 + ['{"id": 2, "topic": "t", "failed": "late"}']
    path = written(tmp_path, "l.jsonl", "\n".join(lines))
    assert ledgers.read(scanning, path, LedgerColumns()).told.outcomes == {"acked": 3_000, "failed": 1, "unknown": 0}


def test_numbers_with_gaps(scanning, tmp_path) -> None:
    """Whole numbers that a data frame made fractions of, because some were missing, are whole again."""
    columns = {"id": [1.0, 2.0], "topic": ["t", "t"], "partition": [3.0, None], "offset": [None, 9.0], "status": [True, False]}
    pq.write_table(pa.table(columns), tmp_path / "l.parquet")
    expected = [Row("1", "t", 3, None), Row("2", "t", None, 9, outcome="failed")]
    assert rows_of(ledgers.read(scanning, tmp_path / "l.parquet", LedgerColumns())) == Counter(expected)


GOOD = "id,topic,status\na,t,ok\n"


@pytest.mark.parametrize(
    ("files", "place", "columns", "said"),
    [
        ({}, "none/*.csv", {}, "No file matches"),
        ({"l.csv": ""}, "l.csv", {}, "is empty"),
        ({"l.csv": "id,topic,status\n"}, "l.csv", {}, "is empty"),
        ({"l.jsonl": "\n \n"}, "l.jsonl", {}, "No line of the ledger"),
        ({"l.json": '[\n{"id": 1},\n{"id": 2}\n]'}, "l.json", {"id": "number"}, "ledger_id names. Known: id."),
        ({"l.json": "[\n1,\n2\n]"}, "l.json", {}, "one JSON text over many lines"),
        ({"l.dat": GOOD}, "l.dat", {}, "does not show its format"),
        ({"l.csv": GOOD, "l.json": "{}"}, "l.*", {}, "has files of different formats"),
        ({"1.csv": GOOD, "2.csv": "topic,id,status\nt,b,ok\n"}, "*.csv", {}, "have different headers"),
        ({"l.csv": GOOD}, "l.csv", {"offset": "offst"}, "The ledger has no column offst"),
        ({"l.csv": "a,t,ok\nb,t,ok\n"}, "l.csv", {}, "It has a, t, ok. Set ledger_id"),
    ],
)
def test_what_cannot_be_a_ledger(scanning, tmp_path, files, place, columns, said) -> None:
    """Each says what it is, and what to do."""
    for name, text in files.items():
        written(tmp_path, name, text)
    with pytest.raises(UsageError, match=re.escape(said)) as caught:
        _ = ledgers.read(scanning, f"{tmp_path}/{place}", LedgerColumns(**columns)).told
    assert caught.value.try_


def test_a_named_column_that_stands_in_no_row(scanning, tmp_path) -> None:
    """Of JSON lines it does not exist, and no guess takes its place: the columns that are there are named, and what maps them."""
    path = written(tmp_path, "l.jsonl", '{"number": 1, "topic": "t", "ok": true}\n{"number": 2, "topic": "t", "offset": 7}\n')
    named = LedgerColumns(id="number", outcome="ok", offset="position")
    with pytest.raises(UsageError) as caught:
        ledgers.read(scanning, path, named)
    assert caught.value.what == "The ledger has no column position, which ledger_offset names."
    assert all(name in caught.value.try_ for name in ("number", "topic", "ok", "offset", "Set ledger_offset"))
    without = ledgers.read(scanning, path, LedgerColumns(id="number", outcome="ok"))
    assert rows_of(without) == Counter([Row("1", "t"), Row("2", "t", None, 7, outcome="unknown")])


@pytest.mark.parametrize(
    ("name", "content"), [("l.csv.gz", None), ("l.parquet", b"PAR1 is not enough"), ("nobody://host/l.csv", None)]
)
def test_what_cannot_be_read(scanning, tmp_path, name, content) -> None:
    """A file cut short, one that is no Parquet, and a place that Spark has no access to."""
    if name.endswith(".gz"):
        whole = gzip.compress(GOOD.encode() + b"".join(b"%d,t,ok\n" % (n * 7919 % 10**9) for n in range(200_000)))
        (tmp_path / name).write_bytes(whole[: len(whole) // 2])
    elif content:
        (tmp_path / name).write_bytes(content)
    place = name if "://" in name else tmp_path / name
    with pytest.raises(ScanError) as caught:
        _ = ledgers.read(scanning, place, LedgerColumns()).told
    assert caught.value.cause and "\n" not in caught.value.cause


@pytest.mark.parametrize(
    "asked", [{"zone": "Nowhere"}, {"line_pattern": "("}, {"line_pattern": "(?P<id>a)(?(1)b|c)"}, {"line_pattern": "no group"}]
)
def test_what_cannot_be_asked(scanning, tmp_path, asked) -> None:
    """A zone that does not exist, no pattern, one of Python's alone, one without an id."""
    path = written(tmp_path, "l.csv", GOOD)
    with pytest.raises(CasebookError) as caught:
        ledgers.read(scanning, path, LedgerColumns(), **asked)
    assert caught.value.try_


class TestDoors:
    """What a ledger must be before it is read."""

    @pytest.mark.parametrize(("suffix", "pack", "line"), [("gz", gzip.compress, b"{}\n"), ("bz2", bz2.compress, b" " * 64)])
    def test_a_pack_that_holds_too_much(self, spark, tmp_path, monkeypatch, suffix, pack, line):
        """It is named, whatever is in it, and however it is read; one as packs are is read."""
        monkeypatch.setattr(plain, "LEAST_UNPACKED", 100_000)
        monkeypatch.setattr(plain, "MOST_TIMES", 20)
        (tmp_path / f"sent.jsonl.{suffix}").write_bytes(pack(line * ((4 << 20) // len(line))))
        for pattern in (None, "(?P<id>.*)"):
            with pytest.raises(UsageError, match=rf"sent.jsonl.{suffix} unpacks to more than .* times its own size"):
                ledgers.read(spark, tmp_path, LedgerColumns(), topic="t", line_pattern=pattern)
        (tmp_path / f"sent.jsonl.{suffix}").write_bytes(pack(b'{"id": "a-1", "topic": "t", "status": "acked"}\n'))
        assert len(rows_of(ledgers.read(spark, tmp_path, LedgerColumns()))) == 1

    def test_no_file(self, spark, tmp_path):
        """Nobody waits at a FIFO for a ledger that never comes."""
        (tmp_path / "sent.jsonl").write_text('{"id": "a-1", "topic": "t", "status": "acked"}\n')
        os.mkfifo(tmp_path / "more.jsonl")
        for pattern in (None, "(?P<id>.*)"):
            with pytest.raises(UsageError, match=r"more.jsonl is not a file"):
                ledgers.read(spark, tmp_path, LedgerColumns(), topic="t", line_pattern=pattern)
