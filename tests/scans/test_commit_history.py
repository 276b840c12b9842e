"""The history of commits out of logs of the offsets topic, held against a loader that goes through them record by record."""

from dataclasses import replace
from random import Random

import pytest

from casebook.questions.loss.scans.commit_history import of_records
from tests.scans import group_logs

SEEDS = range(60)
GROUPS = [f"{group}{seed}" for seed in SEEDS for group in "gh"]


def logs():
    """By partition of the offsets topic, each with groups of its own."""
    return {seed: group_logs.random_log(Random(seed), most=60) for seed in SEEDS}


def replayed(log):
    """Every commit that a loader ever came to know, with the one before it of its key: as it goes through the log."""
    loaded, pending, found, lost = {}, {}, [], set()

    def apply(key, record):
        before = loaded.get(key)
        last = next((one for one in reversed(found) if one[0] == key), None)
        found.append((key, record.offset, record.value, last and last[2], key in lost and last is not None))
        lost.discard(key)
        loaded[key] = record.offset
        assert before is None or before < record.offset

    for record in log:
        if record.kind == "control":
            for key, waiting in pending.pop(record.producer, {}).items():
                if record.control == "commit" and loaded.get(key, -1) < waiting.offset:
                    apply(key, waiting)
        elif record.kind == "commit":
            if record.transactional and record.value is None:
                pending.setdefault(record.producer, {}).pop(record.key, None)
            elif record.transactional:
                pending.setdefault(record.producer, {})[record.key] = record
            elif record.value is None:
                loaded.pop(record.key, None)
                lost.add(record.key)
            else:
                apply(record.key, record)
    assert loaded == group_logs.load(log)[0]
    return found


def states(log, group, before):
    """The last state of a group below an offset: its offset, and whether it has members."""
    found = [one for one in log if one.kind == "group" and one.group == group and one.offset < before]
    return (found[-1].offset, False) if found else (None, None)


@pytest.fixture(scope="module")
def found(scanning):
    raw = [
        row
        for seed, log in logs().items()
        for one in log
        for row in group_logs.rows([replace(one, group=one.group and f"{one.group}{seed}")], partition=seed)
    ]
    frame = of_records(scanning, scanning.createDataFrame(raw, group_logs.SCHEMA), GROUPS, cleaned=dict.fromkeys(SEEDS, 10))
    return frame.orderBy("log_partition", "group", "topic", "partition", "place", "source_offset").collect()


def test_as_a_loader_comes_to_know_them(found):
    """Commits, what was committed before, and whether it had been forgotten since; transactions by their markers."""
    for seed, log in logs().items():
        rows = [row for row in found if row.log_partition == seed]
        told = {}
        for key, *more in replayed(log):
            told.setdefault((f"{key[1]}{seed}", key[2], key[3]), []).append(tuple(more))
        mine = {}
        for row in rows:
            one = (row.source_offset, row.offset, row.before, row.forgotten)
            mine.setdefault((row.group, row.topic, row.partition), []).append(one)
        assert mine == told, seed


def test_states_and_compaction(found):
    """Each has the state its group was in when it was written, and whether others may have been compacted away before it."""
    whole = logs()
    for row in found:
        state = states(whole[row.log_partition], row.group.rstrip("0123456789"), row.source_offset)
        assert ((row.life, row.members), row.cleaned) == (state, row.source_offset < 10)


def test_what_could_not_be_read(scanning):
    """Of a log with damage other commits may stand anywhere; one that ends within a batch was only copied while it was written."""
    raw = [
        row
        for seed, log in logs().items()
        for row in group_logs.rows([replace(one, group=one.group and f"{one.group}{seed}") for one in log], partition=seed)
    ]
    first, second = sorted(SEEDS)[:2]
    for seed, tail in ((first, False), (second, True)):
        raw.append(dict.fromkeys(group_logs.NAMES) | {"kind": "damage", "log_partition": seed, "tail": tail})
    whole = dict.fromkeys(SEEDS, 0)
    found = of_records(scanning, scanning.createDataFrame(raw, group_logs.SCHEMA), GROUPS, cleaned=whole)
    told = {(row.log_partition, row.torn, row.cleaned) for row in found.select("log_partition", "torn", "cleaned").collect()}
    assert {(seed, torn) for seed, torn, _ in told} == {(seed, seed == first) for seed, *_ in told}
    assert all(torn == cleaned for _, torn, cleaned in told)
    assert {first, second} <= {seed for seed, *_ in told}
