"""The log dirs of a broker as JSON lines."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from casebook.facts.cluster import Problem
from casebook.facts.disks import EpochStart, LeftoverFile, LogDir, Replica, SegmentFile
from casebook.formats.broker import log_dir_rows

LONGS = st.integers(-(2**63), 2**63 - 1)
MAYBE = st.none() | LONGS
WORDS = st.sampled_from(["", "word", "zwei Wörter", 'a "quoted"\nline', "\u2028", "\0"])
TOPICS = st.sampled_from(["t", "my-topic", "__consumer_offsets", "a.b_c"])
SEGMENTS = st.builds(SegmentFile, LONGS, LONGS, MAYBE, st.lists(st.sampled_from([".index", ".timeindex"]), max_size=3).map(tuple))
REPLICAS = st.builds(
    Replica, broker=st.just(7), topic=TOPICS, partition=st.integers(0, 99), place=st.just(""), item=st.just(""),
    segments=st.lists(SEGMENTS, max_size=3).map(tuple), log_start=MAYBE, recovery_point=MAYBE, high_watermark=MAYBE,
    cleaner_point=MAYBE, epochs=st.lists(st.builds(EpochStart, LONGS, LONGS), max_size=3).map(tuple),
    topic_id=st.none() | WORDS, log_end=MAYBE, magic=MAYBE, copied=st.booleans(),
)  # fmt: skip
LOG_DIRS = st.builds(
    LogDir, broker=st.just(7), place=st.just("/data"), listed_at=st.none() | LONGS, replicas=st.lists(REPLICAS, max_size=3).map(tuple),
    leftovers=st.lists(st.builds(LeftoverFile, WORDS, WORDS, LONGS, MAYBE, st.none() | WORDS, MAYBE, st.booleans()), max_size=3).map(tuple),
    checkpoints=st.dictionaries(WORDS, MAYBE, max_size=3), meta=st.none() | st.dictionaries(WORDS, WORDS, max_size=3),
    clean_shutdown=st.booleans(), broker_epoch=MAYBE,
    without_folder=st.lists(st.tuples(TOPICS, st.integers(0, 99)), max_size=2).map(tuple),
    problems=st.lists(st.builds(Problem, path=WORDS, reason=WORDS), max_size=3).map(tuple),
)  # fmt: skip


def decoded(lines):
    """What a case would read."""
    return log_dir_rows.decode(lines, broker=7, item="log_dirs.json", copies="/case/segments")


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(LOG_DIRS, max_size=2))
def test_round_trip(log_dirs):
    """What is written is read, each partition with its line as proof, and with the place where its segments are."""
    lines = [line for log_dir in log_dirs for line in log_dir_rows.encode(log_dir)]
    number = 0
    for wanted, found in zip(log_dirs, decoded(lines), strict=True):
        number += 1
        replicas = []
        for replica in wanted.replicas:
            number += 1
            folder = f"{'/case/segments' if replica.copied else '/data'}/{replica.topic}-{replica.partition}"
            replicas.append(replica._replace(item=f"log_dirs.json:{number}", place=folder))
        number += len(wanted.leftovers) + len(wanted.problems)
        assert found == wanted._replace(replicas=tuple(replicas))


HEAD = '{"row":"log_dir","place":"/data","listed_at":1}'
REPLICA = '{"row":"replica","topic":"t","partition":0,'


@pytest.mark.parametrize(
    "line",
    [
        "",
        "[]",
        "[" * 100_000,
        '{"row":"news"}',
        '{"row":"log_dir","place":"/data"}',
        REPLICA + '"segments":[[1]]}',
        REPLICA + '"segments":[["1",2,3,[]]]}',
        REPLICA + '"log_start":1e99}',
        '{"row":"replica","topic":"../../etc","partition":0}',
        '{"row":"leftover","path":"p"}',
    ],
)
def test_damaged_line(line):
    """It is told with its number, and the others are read; nothing leads out of the log dir."""
    (log_dir,) = decoded([HEAD, line, REPLICA + '"high_watermark":5}'])
    assert [problem.path for problem in log_dir.problems] == ["log_dirs.json:2"]
    assert [replica.high_watermark for replica in log_dir.replicas] == [5]


@settings(deadline=None)
@given(st.text())
def test_any_line(line):
    """Nothing raises."""
    decoded([line])
