"""Ledger against stored records: histories with every fate, held against an oracle that goes through them one by one."""

from collections import Counter, defaultdict
from random import Random
from typing import NamedTuple
from uuid import uuid4

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from casebook.facts.records import LEDGER, STORED, Limits, Order, RecordVerdict, Signature
from casebook.questions.loss.analysis.loss import verdict
from casebook.questions.loss.scans import reconciliation
from casebook.questions.loss.scans.reconciliation import Reconciliation

T0 = 1_795_168_800_000
PARTITIONS = {"orders": 3, "clicks": 2, "balances": 2, "logs": 2, "visits": 2}
SCANNED_AT = T0 + 1_000_000
END = 1_000_000
UNREADABLE = (*((start, start + 3) for start in range(2000, 20_000, 10)), (25_000, None))
LIMITS = [
    *(Limits("orders", number, "broker 1", 0, END, T0, SCANNED_AT, False) for number in range(3)),
    Limits("clicks", 0, "broker 1", 1000, END, T0 + 100_000, SCANNED_AT, False, unreadable=UNREADABLE),
    Limits("clicks", 1, "broker 2", 2000, END, T0 + 300_000, SCANNED_AT, False),
    *(Limits("balances", number, "broker 1", 0, END, T0, SCANNED_AT, True, 3000) for number in range(2)),
    Limits("visits", 0, "broker 1", 1000, END, T0 + 100_000, SCANNED_AT, False),
    Limits("visits", 1, "broker 2", 2000, END, T0 + 300_000, SCANNED_AT, False),
    Limits("logs", 0, "broker 1", 0, END, T0, SCANNED_AT, False),  # the other partition was not given
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
    producer: str | None
    sent: int | None


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
    ledger, logs = [], defaultdict(list)
    next_offset = Counter()
    for number in range(records):
        topic = random.choice(list(PARTITIONS))
        partition = random.randrange(PARTITIONS[topic])
        if random.random() < 0.001:  # the next leader lacks what the last one took, and gives its offsets again
            cut = next_offset[topic, partition] = max(0, next_offset[topic, partition] - random.randrange(100))
            while (log := logs[topic, partition]) and log[-1].offset >= cut:
                log.pop()
        offset = next_offset[topic, partition]
        next_offset[topic, partition] += random.choice((1, 1, 1, 7))
        at = T0 + number * 1_100_000 // records  # the last of them after the scan
        sent = (at - random.choice((0, 0, 0, 200_000))) // 50_000 * 50_000  # many at once, and some taken late
        key = f"k{random.randrange(max(1, records // 4))}" if random.random() < 0.99 else None
        outcome = random.choices(("acked", "failed", "unknown"), (90, 6, 4))[0]
        knows = random.choices(("offset", "partition", "nothing"), (6, 2, 2))[0]
        told = Said(f"r{number}", topic, None if knows == "nothing" else partition, offset if knows == "offset" else None,
                    at if random.random() < 0.95 else None, outcome, key if random.random() < 0.9 else None,
                    random.choice(("billing", "web", None)), sent if random.random() < 0.95 else None)  # fmt: skip
        again = random.choices((0, 1, 2), (97, 2, 1))[0]
        if random.random() > 0.01:
            ledger += [told, *[told] * (again == 1), *[told._replace(sent=at)] * (again == 2)]
        where = (partition + 1) % PARTITIONS[topic] if random.random() < 0.01 else partition
        state = random.choices(("data", "aborted", "open", None), (85, 3, 2, 10))[0]
        expired = offset < (BY_PLACE[topic, partition].log_start if (topic, partition) in BY_PLACE else 0)
        if (state and not expired and (topic, where) in BY_PLACE and outcome != "failed") or random.random() < 0.01:
            kept = Kept(told.id, topic, where, offset, at, state or "data", key)
            logs[topic, where] += [kept] * random.choices((1, 2), (97, 3))[0]
    return ledger, [kept for log in logs.values() for kept in log]


def expected(ledger: list[Said], stored: list[Kept]) -> Counter:
    """The verdicts by the definitions, one record after the other."""
    kept, said, newest = {}, {}, {}
    for one in stored:
        kept.setdefault((one.topic, one.id), []).append(one)
        if one.state == "data" and one.key is not None:
            newest.setdefault((one.topic, one.partition, one.key), []).append(one)
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
            return RecordVerdict.SURPLUS
        if len(visible) > 1:
            return RecordVerdict.DUPLICATED
        if not acked:
            return RecordVerdict.UNKNOWN_STORED if "unknown" in outcomes else RecordVerdict.STORED_THOUGH_FAILED
        named = [one.partition for one in acked if one.partition is not None]
        return RecordVerdict.ELSEWHERE if named and named[0] != visible[0].partition else RecordVerdict.STORED
    if any(one.state == "open" for one in kept):
        return RecordVerdict.UNDECIDED
    if kept:
        return RecordVerdict.ABORTED
    places = {one.partition for one in said}
    (place,) = places
    possible = range(PARTITIONS[topic]) if place is None else [place]
    if any((topic, number) not in BY_PLACE for number in possible):
        return RecordVerdict.NOT_SCANNED
    if not acked:
        return RecordVerdict.UNKNOWN_NOT_STORED if "unknown" in outcomes else RecordVerdict.FAILED
    return missing(acked[0], [BY_PLACE[topic, number] for number in possible], newest)


def missing(record, limits, newest):
    """Of a record that was acknowledged and is nowhere; ``limits`` are of where it may lie."""
    expired = {below(record, of) for of in limits}
    if expired == {True}:
        return RecordVerdict.EXPIRED
    late = False if record.offset is not None else None if record.at is None else record.at > SCANNED_AT
    if late:
        return RecordVerdict.NOT_YET
    newer = covered(record, limits, newest)
    if newer:
        return RecordVerdict.COMPACTED
    ranges = [one for of in limits for one in of.unreadable]
    hidden = (
        ranges if record.offset is None else [1 for a, b in ranges if a <= record.offset and (b is None or record.offset < b)]
    )
    if hidden:
        return RecordVerdict.UNREADABLE
    return RecordVerdict.CANNOT_TELL if expired != {False} or late is None or newer is None else RecordVerdict.LOST


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
    later = [one for one in newest.get((record.topic, record.partition, record.key), []) if record.key is not None and (
        one.offset > record.offset if record.offset is not None else record.at is not None and one.at > record.at)]  # fmt: skip
    return True if later else None


def in_order(ledger: list[Said], stored: list[Kept]) -> list[Order]:
    """Each record with a key, sent once and stored once, held against each other of its partition, key and producer."""
    lies, sent = defaultdict(list), defaultdict(list)
    for one in stored:
        lies[one.topic, one.id] += [one] if one.state == "data" else []
    for one in ledger:
        sent[one.topic, one.id] += [one] if one.sent is not None else []
    comparable = defaultdict(list)
    for record, visible in lies.items():
        if len(visible) == 1 and visible[0].key is not None and len({one.sent for one in sent[record]}) == 1:
            (lie,), said = visible, sent[record][0]
            comparable[lie.topic, lie.partition, lie.key, said.producer].append((lie.offset, said.sent))
    told, reordered = Counter(), Counter()
    for (topic, partition, _, _), some in comparable.items():
        told[topic, partition] += len(some)
        reordered[topic, partition] += sum(any(b < a and later > sent for b, later in some) for a, sent in some)
    return [Order(*place, told[place], reordered[place]) for place in sorted(told)]


def frame(spark, schema, rows):
    """A data frame of rows of a subset of the columns."""
    from pyspark.sql.types import StructType

    names = [field.strip().split(" ")[0] for field in schema.replace("\n", " ").split(",")]
    types = {
        "at": pa.timestamp("ms", "UTC"),
        "sent": pa.timestamp("ms", "UTC"),
        "partition": pa.int32(),
        "offset": pa.int64(),
        "leader_epoch": pa.int32(),
        "tombstone": pa.bool_(),
    }
    columns = {}
    for name in names:
        values = [getattr(row, name, None) for row in rows]
        columns[name] = pa.array(values, types.get(name, pa.string()))
    made = spark.createDataFrame(pa.table(columns))
    return made.selectExpr(*(f"CAST(`{f.name}` AS {f.dataType.simpleString()}) AS `{f.name}`" for f in StructType.fromDDL(schema.strip()).fields
                             if f.name != "key" or "state" not in names), *(["IF(key IS NULL, NULL, xxhash64(CAST(key AS binary))) AS key"] if "state" in names else []))  # fmt: skip


def reconciled(spark, folder, ledger, stored, **more):
    given = {"limits": LIMITS, "partitions": PARTITIONS, "folder": folder} | more
    return Reconciliation(spark=spark, ledger=frame(spark, LEDGER, ledger), stored=frame(spark, STORED, stored), **given)


def verdicts(counts):
    found = Counter()
    for row in counts:
        found[row.topic, verdict(row.signature)] += row.records
    return found


@given(st.integers(0, 2**32), st.integers(2_000, 10_000))
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_history(scanning, tmp_path, seed, records):
    """Verdicts and order of a history, whatever happened in it."""
    ledger, stored = lived(Random(seed), records)
    asked = reconciled(scanning, tmp_path / str(uuid4()), ledger, stored)
    assert verdicts(asked.counts()) == expected(ledger, stored)
    assert asked.order() == in_order(ledger, stored)


@pytest.mark.parametrize("records", [100_000])
def test_as_one_by_one(scanning, tmp_path, records):
    """Every fate, as often as the oracle has it; 1,000,000 records were gone through by hand."""
    ledger, stored = lived(Random(records), records)
    asked = reconciled(scanning, tmp_path, ledger, stored)
    found = verdicts(asked.counts())
    assert found == expected(ledger, stored)
    order = asked.order()
    assert order == in_order(ledger, stored)
    assert {one for _, one in found} == set(RecordVerdict)
    assert any(0 < of.reordered < of.told for of in order)


def test_one_id_and_one_key_for_all(scanning, tmp_path):
    """Half of all rows are one record, and all have one key: what was overtaken by the last of them may have been compacted."""
    many = 50_000
    once = [Said(f"r{n}", "balances", 0, n, T0 + n, "acked", "k", "billing", T0 + (n if n % 2 else 0)) for n in range(many)]
    again = Said("again", "balances", 1, 0, T0, "acked", "k", "billing", T0)
    there = [Kept(one.id, "balances", 0, one.offset, one.at, "data", "k") for one in once[many // 2 :]]
    ledger = once + [again] * many
    stored = there + [Kept("again", "balances", 1, n, T0, "data", "k") for n in range(many)]
    limits = [Limits("balances", number, "broker 1", 0, many, T0, SCANNED_AT, True, many) for number in range(2)]
    asked = reconciled(scanning, tmp_path, ledger, stored, limits=limits)
    assert verdicts(asked.counts()) == Counter({
        ("balances", RecordVerdict.COMPACTED): many // 2, ("balances", RecordVerdict.STORED): many // 2, ("balances", RecordVerdict.DUPLICATED): 1,
    })  # fmt: skip
    assert asked.order() == [Order("balances", 0, many // 2, many // 4 - 1)]


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
