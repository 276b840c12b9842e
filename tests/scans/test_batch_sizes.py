"""The largest batch by headers alone: of whole copies all of it, of others at least what was seen."""

import struct
from types import SimpleNamespace

import pytest

from casebook.facts.cluster import Broker, Cluster, Partition, PartitionState
from casebook.facts.disks import OFFSETS_TOPIC, LogDir, Replica, SegmentFile
from casebook.facts.events import Event, LogFile
from casebook.kafka.releases import KafkaVersion, VersionInUse, VersionOrigin
from casebook.questions.coordinators.analysis.states import CoordinatorState
from casebook.questions.coordinators.evidence import OffsetsEvidence
from casebook.questions.offsets_topic.scans.batch_sizes import Largest, largest
from casebook.questions.triage.analysis import plan_groups


def batch(size):
    """A batch of so many bytes, header included."""
    return struct.pack(">qi", 7, size - 12) + b"x" * (size - 12)


@pytest.fixture
def copy(tmp_path):
    """Write segments and list them, each with the given size or its own."""

    def written(*contents, listed=None):
        files = []
        for number, content in enumerate(contents):
            (tmp_path / f"{number:020d}.log").write_bytes(content)
            files.append(SegmentFile(number, len(content) if listed is None else listed, 0))
        return Replica(1, OFFSETS_TOPIC, 0, str(tmp_path), "x", tuple(files))

    return written


def test_of_all_segments(copy):
    assert largest(copy(batch(40) + batch(900), batch(70))) == Largest(900, is_all=True)


@pytest.mark.parametrize("content", [batch(40) + b"\0" * 30, batch(40) + batch(900)[:-1], batch(40) + b"x"])
def test_what_cannot_be_read_may_be_larger(copy, content):
    """A header that makes no sense, a torn end: at least what was seen."""
    assert largest(copy(content)) == Largest(40, is_all=False)


def test_a_file_that_is_shorter_than_it_was(copy):
    assert largest(copy(batch(40), listed=80)) == Largest(40, is_all=False)


def test_an_empty_one(copy):
    assert largest(copy(b"")) == Largest(0, is_all=True)


def test_not_here(copy):
    """Nobody looks for segments that are elsewhere, or are too many for a first look."""
    here = copy(batch(40))
    assert largest(here._replace(place="/nowhere/at/all")) is None
    assert largest(here._replace(segments=(SegmentFile(0, 1 << 40, 0),))) is None
    assert largest(here._replace(segments=(*here.segments, SegmentFile(5, 10, 0)))) is None


@pytest.mark.parametrize(("size", "state"), [(900, CoordinatorState.LOADING_FOR_EVER), (300, CoordinatorState.LOADING)])
def test_a_first_look_knows_a_load_that_never_ends(copy, tmp_path, size, state):
    """Triage scans nothing, and need not: the headers of what is being loaded are enough."""
    at = 1_795_168_800_000
    log = "brokers/1/logs/server.log"
    lines = [Event("broker_starting", at - 9000, 1, log, 1), Event("loading", at - 900, 1, log, 2, None, None, OFFSETS_TOPIC, 0)]
    logs = SimpleNamespace(
        events=lambda kinds, topic=None: tuple(line for line in lines if line.kind in kinds),
        files=(LogFile(log, 1, at - 9000, at, 2, 2, 2),),
        unread=None,
    )
    dirs = (LogDir(1, str(tmp_path), at, (copy(batch(40), batch(size)),)),)
    case = SimpleNamespace(log_dirs=lambda: dirs, derived=lambda *_: tmp_path / "nothing")
    led = Partition(OFFSETS_TOPIC, 0, (1,), state=PartitionState(1, (1,), 1, 1))
    read = {1: {"broker.id": "1", "offsets.load.buffer.size": "300"}}
    cluster = Cluster(brokers={1: Broker(id=1)}, partitions=(led,), server_properties=read)
    version = VersionInUse(version=KafkaVersion.parse("0.9.0.1"), origin=VersionOrigin.PARAMETER)
    held = OffsetsEvidence(case, cluster, version, logs=logs, scan=False).coordinators
    assert held.partitions[0].judged.state is state
    assert next(plan_groups.loads(held)).text.startswith("Raise" if state is CoordinatorState.LOADING_FOR_EVER else "Wait")
