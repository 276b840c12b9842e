"""Commits against what was processed: seeded histories, held against an oracle that goes through them commit by commit."""

from collections import Counter
from random import Random
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from casebook.facts.records import LEDGER, Limits
from casebook.questions.loss.analysis.unprocessed_rows import SkipKind, UnprocessedDoubt
from casebook.questions.loss.scans.commit_history import COMMITS
from casebook.questions.loss.scans.unprocessed import WorkEvidence, unprocessed
from tests.scans.test_reconciliation import frame

GROUPS, TOPICS = range(6), 5
OTHER = 5
"""The group whose ledger is of something else."""
MOST = 60
LIMITS = [
    Limits(f"t{number}.{topic}", partition, "broker 1", 0, 10**6)
    for number in GROUPS
    for topic in range(TOPICS)
    for partition in range(2)
    if topic or partition
]
"""Of every group one partition of its first topic was not read."""
READ = {(of.topic, of.partition) for of in LIMITS}
T0 = 1_795_168_800_000


class Record(NamedTuple):
    id: str | None
    topic: str
    partition: int
    offset: int
    state: str


class Done(NamedTuple):
    id: str
    topic: str
    partition: int | None
    offset: int | None
    at: int | None
    outcome: str


class Commit(NamedTuple):
    group: str
    topic: str
    partition: int
    offset: int
    at: int | None
    place: int
    life: int | None
    members: bool | None
    forgotten: bool
    cleaned: bool


class History(NamedTuple):
    """A group and all there is of it."""

    group: str
    records: list[Record]
    done: list[Done]
    commits: list[Commit]


def lived(number: int) -> History:
    """What a group did with a few topics: it polls, processes some of it, and commits now and then."""
    random, group, placed = Random(number), f"g{number}", number % 3 > 0
    records, done, commits, place = [], [], [], 0
    for topic, partition in ((f"t{number}.{topic}", partition) for topic in range(TOPICS) for partition in range(2)):
        own = [
            Record(
                None if random.random() < 0.1 else f"{topic}-{partition}-{offset}",
                topic,
                partition,
                offset,
                random.choices(("data", "open", "aborted"), (94, 3, 3))[0],
            )
            for offset in sorted(random.sample(range(2 * MOST), MOST))
        ]
        records += own
        moment, life, begins = T0 + random.randint(-200, 500), 0, random.choice((0, 0, 30))
        position = random.choice((0, own[0].offset, 20))
        for _ in range(random.randint(0, 9)):
            moment += random.randint(1, 50)
            place += random.randint(1, 3)
            life = place if random.random() < 0.3 else life
            position = max(0, position + random.choice((0, 5, 10, 20, 30, -15)))
            at = moment if random.random() < 0.9 else None
            members = random.choices((True, False, None), (6, 2, 2))[0]
            odd = (random.random() < 0.1 for _ in range(2))
            commits.append(Commit(group, topic, partition, position, at, place, life, members, *odd))
        for record in own:
            if record.offset >= begins and random.random() < 0.75:
                known = (partition, record.offset) if placed or random.random() < 0.5 else (None, None)
                at = T0 + 4 * record.offset + random.randint(-40, 40) if random.random() < 0.9 else None
                outcome = random.choices(("acked", "failed", "unknown"), (92, 5, 3))[0]
                done += [Done(record.id or "?", topic, *known, at, outcome)] * random.choices((1, 2), (9, 1))[0]
    if number == OTHER:
        done = [one._replace(id=f"other-{one.id}", offset=one.offset + 10**6) for one in done]
    return History(group, [one for one in records if (one.topic, one.partition) in READ], done, commits)


def expected(of: History):
    """By the definitions: what became of each stored record, and how."""
    worked = [one for one in of.done if one.outcome == "acked"]
    placed = all(one.offset is not None for one in worked)
    key = (lambda one: (one.topic, one.partition, one.offset)) if placed else (lambda one: (one.topic, one.id))
    times = Counter(map(key, worked))
    moments = {}
    for one in worked:
        if one.at is not None:
            moments[key(one)] = min(one.at, moments.get(key(one), one.at))
    untold = {key(one) for one in of.done if one.outcome == "unknown"}
    stored = [record for record in of.records if record.state != "aborted"]
    count = {record: times[key(record)] if placed or record.id else 0 for record in stored}
    ledger = [one.at for one in worked if one.at is not None]
    found = {}
    for place in sorted(READ):
        commits = sorted((one for one in of.commits if (one.topic, one.partition) == place), key=lambda one: one.place)
        passed = by_commit(commits)
        mine = [record for record in stored if (record.topic, record.partition) == place]
        work = {record: moments.get(key(record)) for record in mine if count[record]}
        for record in mine:
            if count[record]:
                found[record] = "twice" if count[record] > 1 else "processed"
            elif record.offset in passed:
                more = {"matched": any(count.values()), "placed": placed, "untold": key(record) in untold}
                found[record] = judged(record, commits, passed, work, ledger, **more)
    return found


def by_commit(commits):
    """The commit that passed each offset for good: what a later one goes back below must be passed again."""
    passed = {}
    for commit in commits:
        passed = {offset: by for offset, by in passed.items() if offset < commit.offset}
        passed |= {offset: commit for offset in range(commit.offset) if offset not in passed}
    return passed


def judged(record, commits, passed, work, ledger, *, matched, placed, untold):
    """``work`` are the processed records of the partition, with when."""
    commit = passed[record.offset]
    low, high = min((one.offset for one in work), default=None), max((one.offset for one in work), default=None)
    if not matched:
        return "unmatched"
    if not placed and record.id is None:
        return "without_id"
    if record.offset < min(one.offset for one in commits) and (low is None or record.offset < low):
        return "before_group"
    if record.state == "open":
        return "open"
    if untold:
        return "untold"
    if (low is None or record.offset < low) and (commit.at is None or not ledger or commit.at < min(ledger)):
        return "before_ledger"
    if commit.at > max(ledger) if commit.at is not None and ledger else high is None or record.offset > high:
        return "after_ledger"
    if commit.cleaned:
        return "cannot tell"
    same = {one: at for one, at in work.items() if passed.get(one.offset) is commit}
    tail = all(one.offset < record.offset for one in same)
    if (commit.members is False and tail) or (commit.forgotten and all(one.offset > record.offset for one in same)):
        return "skipped_by_reset"
    end = min(one.offset for one in commits if one.place >= commit.place)
    beyond = passed.get(end)
    if tail and beyond is not None and beyond.life != commit.life:
        return "crash"
    alike = [one for one, at in work.items() if at and one.offset in passed and passed[one.offset].life == commit.life]
    pairs = [work[late] < work[early] for early in alike for late in alike if early.offset < late.offset]
    if any(pairs):
        return "another_thread"
    timed = [at for at in same.values() if at is not None]
    if not timed or commit.at is None:
        return "cannot tell"
    if max(timed) > commit.at:
        return "committed_before_processing"
    return "passed_over" if pairs else "cannot tell"


@pytest.fixture(scope="module")
def histories():
    return [lived(number) for number in GROUPS]


@pytest.fixture(scope="module")
def found(scanning, histories, tmp_path_factory):
    def table(rows, columns):
        names, types = zip(*(column.replace("`", "").split() for column in columns.split(",")), strict=True)
        given = {"int": pa.int32(), "bigint": pa.int64(), "boolean": pa.bool_(), "string": pa.string()}
        arrays = [pa.array([row.get(name) for row in rows], given[kind]) for name, kind in zip(names, types, strict=True)]
        return scanning.createDataFrame(pa.table(arrays, names=names))

    more = {"log_partition": 3, "segment": 0}
    commits = [one._asdict() | more | {"source_offset": one.place} for of in histories for one in of.commits]
    records = [one._asdict() for of in histories for one in of.records]
    evidence = WorkEvidence(
        ledgers={of.group: frame(scanning, LEDGER, of.done) for of in histories},
        commits=table(commits, COMMITS),
        stored=table(records, "id string, topic string, partition int, offset bigint, state string"),
        limits=LIMITS,
    )
    return unprocessed(scanning, tmp_path_factory.mktemp("work"), evidence)


def test_as_record_by_record(found, histories):
    """The counts of every group and partition, doubts and all."""
    told, mine = Counter(), Counter()
    for of in histories:
        told.update((of.group, one.topic, one.partition, label) for one, label in expected(of).items())
    for row in found.work:
        if row.processed is not None:
            counts = {"processed": row.processed - row.twice, "twice": row.twice} | row.how | row.unknown
            mine.update({(row.group, row.topic, row.partition, label): count for label, count in counts.items() if count})
            assert row.unprocessed == sum(row.how.values())
    assert mine == told
    assert {label for *_, label in told} == {"processed", "twice", *SkipKind, *UnprocessedDoubt} - {
        UnprocessedDoubt.NOT_SCANNED,
        UnprocessedDoubt.UNREAD,
    }


def test_not_read_is_not_judged(found, histories):
    """A partition that was not scanned has no counts, but what was committed of it."""
    missing = {(one.topic, one.partition) for of in histories for one in of.commits} - READ
    rows = [row for row in found.work if row.processed is None]
    assert {(row.topic, row.partition) for row in rows} == missing != set()
    assert all(row.unknown == {UnprocessedDoubt.NOT_SCANNED: None} and row.unprocessed is None for row in rows)


def test_each_record_with_its_commit(found, histories):
    """The Parquet has every one of them, and the first are told; each with the commit that passed it for good."""
    told = {}
    for of in histories:
        for record, label in expected(of).items():
            if label in {*SkipKind}:
                place = record.topic, record.partition
                commits = sorted((one for one in of.commits if (one.topic, one.partition) == place), key=lambda one: one.place)
                told[of.group, *place, record.offset] = record.id, label, by_commit(commits)[record.offset].place
    rows = pq.read_table(found.records).to_pylist()
    assert {(r["group"], r["topic"], r["partition"], r["offset"]): (r["id"], r["how"], r["source_offset"]) for r in rows} == told
    assert {(r.group, r.topic, r.partition, r.offset): (r.id, r.how, r.source_offset) for r in found.first} == told
    assert all(row.since <= row.offset < row.until for row in found.first)
