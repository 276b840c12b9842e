"""Ledger against stored records: histories with every fate, held against an oracle that goes through them one by one."""

from collections import Counter
from datetime import UTC, datetime
from random import Random
from typing import NamedTuple

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from casebook.analysis.loss import verdict
from casebook.loss import LEDGER, STORED, Limits, Signature, Verdict
from casebook.scans import reconciliation
from casebook.scans.reconciliation import Reconciliation

T0 = 1_795_168_800_000
PARTITIONS = {"orders": 3, "clicks": 2, "balances": 2, "logs": 2, "visits": 2}
SCANNED_AT = T0 + 1_000_000
UNREADABLE = (*((start, start + 3) for start in range(2000, 20_000, 10)), (25_000, None))
LIMITS = [
    *(Limits("orders", number, "broker 1", 0, 10**9, T0, SCANNED_AT, False) for number in range(3)),
    Limits("clicks", 0, "broker 1", 1000, 10**9, T0 + 100_000, SCANNED_AT, False, unreadable=UNREADABLE),
    Limits("clicks", 1, "broker 2", 2000, 10**9, T0 + 300_000, SCANNED_AT, False),
    *(Limits("balances", number, "broker 1", 0, 10**9, T0, SCANNED_AT, True, 3000) for number in range(2)),
    Limits("visits", 0, "broker 1", 1000, 10**9, T0 + 100_000, SCANNED_AT, False),
    Limits("visits", 1, "broker 2", 2000, 10**9, T0 + 300_000, SCANNED_AT, False),
    Limits("logs", 0, "broker 1", 0, 10**9, T0, SCANNED_AT, False),  # the other partition was not given
]
BY_PLACE = {(of.topic, of.partition): of for of in LIMITS}


class Said(NamedTuple):
    """A row of a ledger."""

    id: str
    topic: str
    partition: int | None
    offset: int | None
    at: int | None
    outcome: str
    key: str | None


class Kept(NamedTuple):
    """A stored record."""

    id: str | None
    topic: str
    partition: int
    offset: int
    at: int
    state: str
    key: str | None


def lived(random: Random, records: int) -> tuple[list[Said], list[Kept]]:
    """What an application says it produced, and what is stored: nearly all went well, and everything else happened as well."""
    ledger, stored = [], []
    next_offset = dict.fromkeys(((topic, number) for topic, many in PARTITIONS.items() for number in range(many)), 0)
    for number in range(records):
        topic = random.choice(list(PARTITIONS))
        partition = random.randrange(PARTITIONS[topic])
        offset = next_offset[topic, partition]
        next_offset[topic, partition] += random.choice((1, 1, 1, 7))
        at = T0 + number * 1_100_000 // records  # the last of them after the scan
        key = f"k{random.randrange(max(1, records // 4))}"
        outcome = random.choices(("acked", "failed", "unknown"), (90, 6, 4))[0]
        knows = random.choices(("offset", "partition", "nothing"), (6, 2, 2))[0]
        told = Said(f"r{number}", topic, None if knows == "nothing" else partition, offset if knows == "offset" else None,
                    at if random.random() < 0.95 else None, outcome, key if random.random() < 0.9 else None)  # fmt: skip
        ledger += [told] * random.choices((1, 2), (98, 2))[0] if random.random() > 0.01 else []
        where = (partition + 1) % PARTITIONS[topic] if random.random() < 0.01 else partition
        state = random.choices(("data", "aborted", "open", None), (85, 3, 2, 10))[0]
        expired = offset < (BY_PLACE[topic, partition].log_start if (topic, partition) in BY_PLACE else 0)
        if (state and not expired and (topic, where) in BY_PLACE and outcome != "failed") or random.random() < 0.01:
            kept = Kept(told.id, topic, where, offset, at, state or "data", key)
            stored += [kept] * random.choices((1, 2), (97, 3))[0]
    return ledger, stored


def expected(ledger: list[Said], stored: list[Kept]) -> Counter:
    """The verdicts by the definitions, one record after the other."""
    kept, said, newest = {}, {}, {}
    for one in stored:
        kept.setdefault((one.topic, one.id), []).append(one)
        if one.state == "data":
            newest.setdefault((one.topic, one.key), []).append(one)
    for one in ledger:
        said.setdefault((one.topic, one.id), []).append(one)
    return Counter(
        (topic, judged(topic, said.get((topic, one), []), kept.get((topic, one), []), newest))
        for topic, one in kept.keys() | said.keys()
    )


def judged(topic, said, kept, newest):
    visible = [one for one in kept if one.state == "data"]
    outcomes = {one.outcome for one in said}
    acked = [one for one in said if one.outcome == "acked"]
    if visible:
        if not said:
            return Verdict.SURPLUS
        if len(visible) > 1:
            return Verdict.DUPLICATED
        if not acked:
            return Verdict.UNKNOWN_STORED if "unknown" in outcomes else Verdict.STORED_THOUGH_FAILED
        named = [one.partition for one in acked if one.partition is not None]
        return Verdict.ELSEWHERE if named and named[0] != visible[0].partition else Verdict.STORED
    if any(one.state == "open" for one in kept):
        return Verdict.UNDECIDED
    if kept:
        return Verdict.ABORTED
    places = {one.partition for one in said}
    (place,) = places
    possible = range(PARTITIONS[topic]) if place is None else [place]
    if any((topic, number) not in BY_PLACE for number in possible):
        return Verdict.NOT_SCANNED
    if not acked:
        return Verdict.UNKNOWN_NOT_STORED if "unknown" in outcomes else Verdict.FAILED
    return missing(acked[0], [BY_PLACE[topic, number] for number in possible], newest)


def missing(record, limits, newest):
    """Of a record that was acknowledged and is nowhere; ``limits`` are of where it may lie."""
    expired = {below(record, of) for of in limits}
    if expired == {True}:
        return Verdict.EXPIRED
    late = False if record.offset is not None else None if record.at is None else record.at > SCANNED_AT
    if late:
        return Verdict.NOT_YET
    newer = covered(record, limits, newest)
    if newer:
        return Verdict.COMPACTED
    ranges = [one for of in limits for one in of.unreadable]
    hidden = (
        ranges if record.offset is None else [1 for a, b in ranges if a <= record.offset and (b is None or record.offset < b)]
    )
    if hidden:
        return Verdict.UNREADABLE
    return Verdict.CANNOT_TELL if expired != {False} or late is None or newer is None else Verdict.LOST


def below(record, limits):
    if record.offset is not None:
        return record.offset < limits.log_start
    if limits.log_start == 0:
        return False
    return None if record.at is None else record.at < limits.first_time


def covered(record, limits, newest):
    if not limits[0].compacted:
        return False
    if record.offset is not None and record.offset >= limits[0].clean_end:
        return False
    later = [one for one in newest.get((record.topic, record.key), []) if record.key is not None and (
        one.offset > record.offset if record.offset is not None else record.at is not None and one.at > record.at)]  # fmt: skip
    return True if later else None


def frame(spark, schema, rows):
    """A data frame of rows of a subset of the columns."""
    from pyspark.sql.types import StructType

    names = [field.strip().split(" ")[0] for field in schema.replace("\n", " ").split(",")]
    types = {
        "at": pa.timestamp("us", "UTC"),
        "partition": pa.int32(),
        "offset": pa.int64(),
        "leader_epoch": pa.int32(),
        "tombstone": pa.bool_(),
    }
    columns = {}
    for name in names:
        values = [getattr(row, name, None) for row in rows]
        values = [None if v is None else datetime.fromtimestamp(v / 1000, UTC) for v in values] if name == "at" else values
        columns[name] = pa.array(values, types.get(name, pa.string()))
    made = spark.createDataFrame(pa.table(columns))
    return made.selectExpr(*(f"CAST(`{f.name}` AS {f.dataType.simpleString()}) AS `{f.name}`" for f in StructType.fromDDL(schema.strip()).fields
                             if f.name != "key" or "state" not in names), *(["xxhash64(CAST(key AS binary)) AS key"] if "state" in names else []))  # fmt: skip


def reconciled(spark, ledger, stored, **more):
    given = {"limits": LIMITS, "partitions": PARTITIONS} | more
    return Reconciliation(spark=spark, ledger=frame(spark, LEDGER, ledger), stored=frame(spark, STORED, stored), **given)


def verdicts(counts):
    found = Counter()
    for row in counts:
        found[row.topic, verdict(row.signature)] += row.records
    return found


@pytest.mark.parametrize(("seed", "records"), [(1, 200), (2, 20_000), (3, 100_000)])
def test_as_one_by_one(scanning, seed, records):
    """Every fate, as often as the oracle has it."""
    ledger, stored = lived(Random(seed), records)
    found = verdicts(reconciled(scanning, ledger, stored).counts())
    assert found == expected(ledger, stored)
    if records >= 20_000:
        assert {one for _, one in found} == set(Verdict)


@given(
    st.builds(
        Signature,
        *(st.booleans() for _ in range(3)),
        st.integers(0, 2),
        *(st.booleans() for _ in range(2)),
        st.sampled_from([None, False, True]),
        st.booleans(),
        *(st.sampled_from([None, False, True]) for _ in range(2)),
        st.booleans(),
        st.sampled_from([None, False, True]),
    )
)
def test_signatures_are_written_as_numbers(signature):
    assert reconciliation._signature(reconciliation._number(signature)) == signature
