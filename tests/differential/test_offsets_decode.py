"""``__consumer_offsets`` of real brokers, read by ``kafka_segments`` and by each release's own tools."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from casebook.facts.disks import OFFSETS_TOPIC
from casebook.questions.offsets_topic.scans.group_records import aggregate
from casebook.questions.offsets_topic.scans.offsets_topic import read
from casebook.rehearsal.servers.topics import Partition
from casebook.spark import segments
from tests.differential import group_life
from tests.differential.dump_log import Row, dump

VALUE_VERSIONS = {
    "0.9.0.1": {"commit": {1}, "group": {0}},
    "0.11.0.3": {"commit": {1}, "group": {1}},
    "1.1.1": {"commit": {1}, "group": {1}},
    "2.8.2": {"commit": {1, 3}, "group": {3}},
    "3.9.2": {"commit": {1, 3}, "group": {3}},
}
RELEASES = tuple(VALUE_VERSIONS)
RAW = {"key_size", "value_size", "sequence"}
BATCH = {"position", "timestamp", "magic", "codec", "producer_id", "producer_epoch", "transactional", "control_type"}
PLACE = {"log_partition", "segment", "log_offset"}
TIMES = ("timestamp", "commit_time", "expire_time", "state_time")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lived:
    """What a broker of a release left behind, and what was said of it.

    Args:
        folders: The partitions of the offsets topic.
        answers: What OffsetFetch answered in the end, by group and partition.
        dumped: Every record as the release's own DumpLogSegments prints it.
    """

    kafka: str
    folders: tuple[Path, ...]
    answers: Mapping[str, Mapping[Partition, int | None]]
    dumped: list[Row]


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    """Let groups live on a broker of a release, once."""

    @cache
    def once(kafka: str) -> Lived:
        data = tmp_path_factory.mktemp("data")
        with group_life.cluster(kafka) as cluster:
            answers = group_life.live(cluster)
            cluster.copy_data(data)
        folders = tuple(sorted(data.glob(f"broker-1/data/{OFFSETS_TOPIC}-*")))
        files = [file for folder in folders for file in sorted(folder.glob("*.log"))]
        return Lived(kafka=kafka, folders=folders, answers=answers, dumped=dump(kafka, files, "--offsets-decoder"))

    return once


@pytest.fixture(scope="module", params=RELEASES)
def lived(request, live) -> Lived:
    """That of one release."""
    return live(request.param)


@pytest.fixture(scope="module")
def decoded(lived, spark) -> list[Row]:
    """Its records by ``kafka_segments``, decoded."""
    return [_with_assigned(row) for row in _read(spark, lived, "group_records", TIMES)]


class TestOffsetsDecode:
    def test_the_same_records(self, lived, decoded):
        """Record by record, keys and values say what the release's own tool says, as far as that goes."""
        assert [_place(row) for row in decoded] == [_place(row) for row in lived.dumped]
        said = [{name: value for name, value in row.items() if name not in RAW} for row in lived.dumped]
        assert [{name: row[name] for name in names} for row, names in zip(decoded, said, strict=True)] == said

    def test_the_same_bytes(self, lived, spark):
        """The records as such are also those of the tool: their batches, times, producers and sizes."""
        rows = [_with_sizes(row) for row in _read(spark, lived, "records", ("timestamp",))]
        said = [{name: value for name, value in row.items() if name in RAW | BATCH | PLACE} for row in lived.dumped]
        assert [{name: row[name] for name in names} for row, names in zip(rows, said, strict=True)] == said

    def test_everything_was_there(self, lived, decoded):
        """The comparison is worth something: every codec, format and kind of record lies in these partitions."""
        assert {row["codec"] for row in decoded} == set(group_life.codecs(lived.kafka))
        assert {row["magic"] for row in decoded} == group_life.magics(lived.kafka)
        for kind, versions in VALUE_VERSIONS[lived.kafka].items():
            assert {row["value_version"] for row in decoded if row["kind"] == kind} == versions | {None}
        markers = {"commit", "abort"} if lived.kafka != "0.9.0.1" else set()
        assert {row["control_type"] for row in decoded if row["kind"] == "control"} == markers

    def test_commits_are_those_of_offset_fetch(self, live, spark, tmp_path):
        """Group by group, what is visible in the log of a release is what its coordinator answered."""
        for kafka in RELEASES:
            aggregate(spark, {1: live(kafka).folders}, f"file:{tmp_path / kafka}")
            visible = {(row.group, row.topic, row.partition): row.offset for row in read(tmp_path / kafka).commits}
            assert visible == _answered(live(kafka)), kafka


def _place(row: Row) -> tuple[int, int]:
    return row["log_partition"], row["log_offset"]


def _answered(lived: Lived) -> dict[tuple[str, str, int], int]:
    found = ((group, *partition, offset) for group, offsets in lived.answers.items() for partition, offset in offsets.items())
    return {tuple(key): offset for *key, offset in found if offset is not None}


def _read(spark, lived: Lived, mode: str, times: Iterable[str]) -> list[Row]:
    from pyspark.sql.functions import unix_millis

    frame = segments(spark, *lived.folders, mode=mode)
    if mode == "records":
        frame = frame.withColumnRenamed("offset", "log_offset")
    frame = frame.withColumns({time: unix_millis(time) for time in times})
    return [row.asDict(recursive=True) for row in frame.orderBy("log_partition", "log_offset").collect()]


def _with_assigned(row: Row) -> Row:
    """With what each member is assigned as tools before 3.9 print it."""
    if row["members"] is not None:
        row["members"].sort(key=lambda member: member["member_id"])
        row["assigned"] = {member["member_id"]: _assigned(member["assignment"]) for member in row["members"]}
    return row


def _with_sizes(row: Row) -> Row:
    sizes = {f"{part}_size": None if row[part] is None else len(row[part]) for part in ("key", "value")}
    return row | sizes


def _assigned(assignment: list[Row] | None) -> frozenset[str] | None:
    if assignment is None:
        return None
    return frozenset(f"{one['topic']}-{partition}" for one in assignment for partition in one["partitions"])
