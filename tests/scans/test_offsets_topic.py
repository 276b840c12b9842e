"""The rows about the offsets topic against a loader written down line for line, on random logs."""

from collections import defaultdict
from random import Random

import pytest

from casebook.questions.offsets_topic.scans import offsets_topic
from casebook.questions.offsets_topic.scans.deletions import deletions
from casebook.questions.offsets_topic.scans.offsets_rows import OffsetsRows
from tests.scans import group_logs
from tests.scans.group_logs import Record, load, random_log, rows, without

LOGS = 400


@pytest.fixture(scope="module")
def logs():
    random = Random(4)
    return [random_log(random, transactions=n % 3 > 0) for n in range(LOGS)]


@pytest.fixture(scope="module")
def folder(spark, tmp_path_factory, logs):
    """All of them, each as a partition of its own, as the reader flushes them early now and then."""
    flush = Random(5)
    raw = [row for number, log in enumerate(logs) for row in rows(log, partition=number, flush=flush)]
    return group_logs.written(spark, tmp_path_factory.mktemp("derived"), raw)


@pytest.fixture(scope="module")
def scanned(folder):
    return offsets_topic.read(folder)


@pytest.fixture(scope="module")
def deleted(logs):
    """A random set of segments of each log."""
    random = Random(6)
    segments = [sorted({r.segment for r in log}) for log in logs]
    return [set(random.sample(some, random.randint(0, len(some)))) for some in segments]


@pytest.fixture(scope="module")
def answers(folder, scanned, deleted):
    places = {"x": [(1, number, base) for number, some in enumerate(deleted) for base in some]}
    return {one.partition: one for one in deletions(folder, places, scanned.segments)}


def safe_of(scanned):
    found = defaultdict(set)
    for segment in scanned.segments:
        if segment.safe_to_do_without:
            found[segment.partition].add(segment.base_offset)
    return found


class TestLoaded:
    def test_commits(self, scanned, logs):
        """The visible commits are the loader's, log by log."""
        found = defaultdict(dict)
        for row in scanned.commits:
            found[row.log_partition][row.group, row.topic, row.partition] = row.source_offset
        for number, log in enumerate(logs):
            assert {key[1:]: offset for key, offset in load(log)[0].items()} == found[number], log

    def test_groups(self, scanned, logs):
        """The latest metadata of a group, and none after its tombstone."""
        found = defaultdict(dict)
        for row in scanned.groups:
            if row.source_offset is not None:
                found[row.partition][row.group] = row.source_offset
        for number, log in enumerate(logs):
            assert load(log)[2] == found[number], log

    def test_sums(self, scanned, logs):
        """Bytes and records of a partition are those of its segments, and those of its groups."""
        for number, log in enumerate(logs):
            segments = [s for s in scanned.segments if s.partition == number]
            assert sum(s.bytes for s in segments) == sum(r.size for r in log if r.kind != "damage")
            assert sum(s.markers for s in segments) == sum(r.kind == "control" for r in log)
            written = sum(row.bytes for row in scanned.group_bytes if row.partition == number)
            assert written == sum(r.size for r in log if r.kind in ("commit", "group", "newer") and r.group is not None)


class TestDeletion:
    def test_totals(self, answers, logs, deleted):
        """Lost, fallen back, revived; groups left without any; metadata lost: counted as a loader shows them."""
        for number, (log, some) in enumerate(zip(logs, deleted, strict=True)):
            if some:
                (before, _, metadata), (after, _, left) = load(log), load(without(log, some))
                answer = answers[number]
                assert answer.lost == len(before.keys() - after.keys()), (log, some)
                assert answer.fell_back == sum(key in after and after[key] != offset for key, offset in before.items())
                assert answer.revived == len(after.keys() - before.keys())
                assert answer.groups_emptied == len({k[1] for k in before} - {k[1] for k in after})
                assert answer.metadata_lost == sum(left.get(group) != offset for group, offset in metadata.items())
                assert answer.bytes == sum(r.size for r in log if r.segment in some and r.kind != "damage")

    def test_by_group(self, answers, logs, deleted):
        """A group is named when an answer of its changes, with how many."""
        for number, (log, some) in enumerate(zip(logs, deleted, strict=True)):
            if some:
                before, after = load(log)[0], load(without(log, some))[0]
                changed = {key[1] for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
                assert {loss.group for loss in answers[number].by_group} == changed

    def test_by_commit(self, answers, logs, deleted):
        """Each commit whose answer changes is named, with what becomes of it."""
        for number, (log, some) in enumerate(zip(logs, deleted, strict=True)):
            if some:
                before, after = load(log)[0], load(without(log, some))[0]
                told = {(one.group, one.topic, one.partition): one.change for one in answers[number].by_commit}
                keys = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
                change = {key: "comes back" if key not in before else "falls back" if key in after else "lost" for key in keys}
                assert told == {tuple(key[1:]): said for key, said in change.items()}
                assert all((one.offset is None) == (one.change == "comes back") for one in answers[number].by_commit)
                assert all((one.remains is None) == (one.change == "lost") for one in answers[number].by_commit)

    def test_nothing(self, folder, scanned):
        """An empty set has no answer."""
        assert deletions(folder, {"nothing": []}, scanned.segments) == []


class TestSafe:
    def test_changes_nothing(self, scanned, logs):
        """Without the safe segments a loader knows the same; and the active one is never among them."""
        safe = safe_of(scanned)
        for number, log in enumerate(logs):
            assert max(r.segment for r in log) not in safe[number]
            assert load(log) == load(without(log, safe[number])), (log, safe[number])
        assert sum(map(len, safe.values())) > LOGS / 4

    def test_greatest(self, spark, tmp_path):
        """Without transactions, and a tombstone a key at most, no other segment could go as well."""
        random = Random(7)
        logs = [_one_tombstone(random_log(random, transactions=False)) for _ in range(200)]
        raw = [row for number, log in enumerate(logs) for row in rows(log, partition=number)]
        safe = safe_of(offsets_topic.read(group_logs.written(spark, tmp_path, raw)))
        for number, log in enumerate(logs):
            segments = {r.segment for r in log}
            for other in segments - safe[number] - {max(segments)}:
                assert load(without(log, safe[number] | {other})) != load(log), (log, safe[number], other)

    def test_never(self, spark, tmp_path):
        """A segment with damage, or with records nobody can decode, is not safe, nor is the active one."""
        later = Record(offset=90, segment=90, value=9)
        odd = [
            [Record(offset=1, segment=1, value=1), Record(offset=2, segment=1, kind=kind, group=None), later]
            for kind in ("damage", "unknown", "newer")
        ]
        raw = [row for number, log in enumerate([*odd, [odd[0][0], later]]) for row in rows(log, partition=number)]
        assert safe_of(offsets_topic.read(group_logs.written(spark, tmp_path, raw))) == {3: {1}}


def _one_tombstone(log):
    seen, kept = set(), []
    for record in log:
        if record.value is None and record.key in seen:
            continue
        if record.value is None:
            seen.add(record.key)
        kept.append(record)
    return kept


def test_an_aggregate_of_nothing(tmp_path):
    """Spark may leave no file at all: nothing was read, and that is no error."""
    assert OffsetsRows(tmp_path).groupless == {}
    assert list(OffsetsRows(tmp_path).groups()) == []
