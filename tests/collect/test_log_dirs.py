"""Log dirs of a real broker, listed while it runs and after it stopped, and everything that can be wrong with one."""

import contextlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from casebook.case.case import Case
from casebook.collect.collection import collect_case
from casebook.collect.files import folders, inventory, segments
from casebook.errors import UsageError
from casebook.facts.disks import OFFSETS_TOPIC, LogDir, Replica
from casebook.formats.broker import indexes
from casebook.rehearsal import PlayedCluster
from casebook.rehearsal.servers.records import client_settings
from tests.transactions import transactional

KAFKA = "3.9.2"
SETTINGS = {
    "log.segment.bytes": "20000",
    "log.index.interval.bytes": "200",
    "log.cleaner.backoff.ms": "100",
    "log.initial.task.delay.ms": "100",
    "offsets.topic.num.partitions": "2",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
}
COMPACTED = {"cleanup.policy": "compact", "segment.bytes": "4000", "min.cleanable.dirty.ratio": "0"}
TRANSACTIONS, EACH = 6, 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Lived:
    """What a broker left: its log dir, and the case made while it ran."""

    data: Path
    running: Case


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Lived:
    """A broker that saw transactions, a group, a cleaned topic and a deleted one."""
    home = tmp_path_factory.mktemp("lived")
    with PlayedCluster(kafka=KAFKA, brokers=1, settings=SETTINGS) as cluster:
        connect = client_settings(bootstrap=cluster.bootstrap, kafka=KAFKA)
        for topic, config in (("orders", {}), ("compacted", COMPACTED), ("my-old.topic", {})):
            cluster.create_topic(topic, {0: (1,)}, config)
        _transactions(connect)
        _commit(connect)
        cluster.delete_topic("my-old.topic")
        data = cluster.server_properties(1).parent / "data"
        cluster.wait_until(lambda: list(data.glob("my-old.topic-0.*-delete")), what="the deletion")
        cluster.wait_until(lambda: "compacted" in (data / "cleaner-offset-checkpoint").read_text(), what="the cleaner")
        running = Case.open(collect_case(home / "case", log_dirs=[(None, str(data))]))
        cluster.stop(1)
        shutil.copytree(data, home / "data")
    return Lived(data=home / "data", running=running)


def _transactions(connect: dict[str, object]) -> None:
    producer = Producer({**connect, **transactional("t"), "linger.ms": 0, "batch.size": 400})
    producer.init_transactions(60)
    for number in range(TRANSACTIONS):
        producer.begin_transaction()
        for key in range(EACH):
            producer.produce("orders", partition=0, key=str(key), value=b"x" * 100)
            producer.produce("compacted", partition=0, key=str(key), value=b"x" * 100)
        producer.flush()
        (producer.abort_transaction if number % 2 else producer.commit_transaction)(60)


def _commit(connect: dict[str, object]) -> None:
    consumer = Consumer({**connect, "group.id": "g"})
    consumer.commit(offsets=[TopicPartition("orders", 0, 7)], asynchronous=False)
    consumer.close()


@pytest.fixture
def data(lived: Lived, tmp_path: Path) -> Path:
    """The stopped broker's log dir, to be broken."""
    return shutil.copytree(lived.data, tmp_path / "data")


def listed(folder: Path) -> LogDir:
    """The log dir as its own meta.properties name it."""
    return inventory.examine(folders.LocalFiles(str(folder)), str(folder), broker=None, listed_at=1)


def replica(log_dir: LogDir, topic: str) -> Replica:
    """The topic's first partition."""
    return next(found for found in log_dir.replicas if found.topic == topic)


def test_an_index_is_kept_whole_without_its_padding(lived: Lived) -> None:
    """As a broker preallocates it (``AbstractIndex.scala@3.9.0``)."""
    found = [path for path in (lived.data / "orders-0").iterdir() if path.suffix in (".index", ".timeindex")]
    contents = [(path.suffix, path.read_bytes()) for path in found]
    assert sum(len(content) for _, content in contents) > 0
    for suffix, content in contents:
        assert indexes.without_padding(content + bytes(10 << 20), suffix) == indexes.without_padding(content, suffix)
        assert content.startswith(indexes.without_padding(content, suffix))


class TestInventory:
    def test_running(self, lived: Lived) -> None:
        """While the broker runs: its partitions, what its cleaner has done, and what waits to be deleted."""
        (log_dir,) = lived.running.log_dirs()
        assert {"orders", "compacted", OFFSETS_TOPIC, "__transaction_state"} == {found.topic for found in log_dir.replicas}
        assert (log_dir.broker, log_dir.clean_shutdown, log_dir.problems) == (1, False, ())
        assert replica(log_dir, "compacted").cleaner_point > 0
        assert replica(log_dir, "orders").cleaner_point is None
        aside = [left for left in log_dir.leftovers if left.kind == "-delete"]
        assert [(left.topic, left.partition, left.cut) for left in aside] == [("my-old.topic", 0, False)]

    def test_stopped(self, lived: Lived) -> None:
        """After a clean stop every point is at the end of the log, and each size is the file's."""
        log_dir = listed(lived.data)
        orders, folder = replica(log_dir, "orders"), lived.data / "orders-0"
        end = TRANSACTIONS * (EACH + 1)
        assert (orders.recovery_point, orders.high_watermark, log_dir.clean_shutdown) == (end, end, True)
        assert {path.name: path.stat().st_size for path in folder.glob("*.log")} == {
            f"{segment.base_offset:020d}.log": segment.bytes for segment in orders.segments
        }
        assert all({".index", ".timeindex"} <= set(segment.beside) for segment in orders.segments)
        assert (len(orders.topic_id), [tuple(epoch) for epoch in orders.epochs]) == (22, [(0, 0)])
        assert log_dir.meta["broker.id"] == "1"
        assert (folder / f"{orders.segments[0].base_offset:020d}.log").stat().st_mtime_ns // 1_000_000 == orders.segments[
            0
        ].modified

    def test_leftovers(self, data: Path) -> None:
        """Whatever the cleaner or a deletion left, and an index without segment; a snapshot may stand alone."""
        orders = data / "orders-0"
        for name in ("0.log.deleted", "0.log.cleaned", "0.index.swap", "77777.timeindex", "77777.snapshot"):
            (orders / name).write_bytes(b"x" * 5)
        found = {left.path: (left.kind, left.bytes) for left in listed(data).leftovers if left.path.startswith("orders-0/")}
        assert found == {
            "orders-0/0.log.deleted": (".deleted", 5),
            "orders-0/0.log.cleaned": (".cleaned", 5),
            "orders-0/0.index.swap": (".swap", 5),
            "orders-0/77777.timeindex": ("orphan", 5),
        }

    def test_damaged(self, data: Path) -> None:
        """Each problem with its file; the rest is there."""
        (data / "cleaner-offset-checkpoint").write_bytes(b"\0" * 40)
        (data / "log-start-offset-checkpoint").unlink()
        (data / "orders-0" / "leader-epoch-checkpoint").write_text("0\n5\n0 0\n")
        (data / "orders-0" / "leader").symlink_to("nowhere")
        (data / "backup").mkdir()
        log_dir = listed(data)
        assert {"cleaner-offset-checkpoint", "orders-0/leader-epoch-checkpoint", "orders-0/leader", "backup"} == {
            problem.path for problem in log_dir.problems
        }
        orders = replica(log_dir, "orders")
        assert (orders.cleaner_point, orders.log_start, orders.high_watermark) == (None, None, TRANSACTIONS * (EACH + 1))

    def test_what_cannot_be_read_makes_a_part_of_a_case(self, data: Path, tmp_path: Path) -> None:
        """A run on it cannot end as one that read all; a folder that is no partition's is only told."""
        (data / "backup").mkdir()
        odd = Case.open(collect_case(tmp_path / "odd", log_dirs=[(1, str(data))]))
        (data / "cleaner-offset-checkpoint").write_bytes(b"\0" * 40)
        part = Case.open(collect_case(tmp_path / "part", log_dirs=[(1, str(data))]))
        assert [case.cluster().unreadable for case in (odd, part)] == [(), ("brokers/1/log_dirs.json",)]
        assert odd.could_not_collect

    def test_files_that_come_and_go(self, data: Path) -> None:
        """A folder that vanishes between its listing and its reading, as when its topic is deleted, is told."""

        class Vanishing(folders.LocalFiles):
            def entries(self, path: str) -> list[folders.Entry]:
                if path == "compacted-0":
                    shutil.rmtree(data / path)
                return super().entries(path)

        log_dir = inventory.examine(Vanishing(str(data)), str(data), broker=1, listed_at=1)
        assert [problem.path for problem in log_dir.problems] == ["compacted-0"]
        assert replica(log_dir, "orders").segments

    @pytest.mark.parametrize(("times", "missing"), [(1, []), (4, []), (9, ["compacted-0/00000000000000000007.log.deleted"])])
    def test_removed_during_the_listing(
        self, data: Path, monkeypatch: pytest.MonkeyPatch, times: int, missing: list[str]
    ) -> None:
        """A folder is listed again while files vanish from it, as after the cleaner's work; one that never rests is recorded."""
        churn, scan, left = data / "compacted-0" / "00000000000000000007.log.deleted", os.scandir, [times]

        def meanwhile(folder: int) -> object:
            if left[0] and os.path.samestat(os.fstat(folder), churn.parent.stat()):
                left[0] -= 1
                churn.write_bytes(b"")
            found = list(scan(folder))
            churn.unlink(missing_ok=True)
            return contextlib.nullcontext(found)

        monkeypatch.setattr(os, "scandir", meanwhile)
        log_dir = inventory.examine(folders.LocalFiles(str(data)), str(data), broker=1, listed_at=1)
        assert [problem.path for problem in log_dir.problems] == missing
        assert replica(log_dir, "compacted").segments

    def test_deleted_folder_that_is_gone(self, data: Path) -> None:
        """Kafka had dropped the partition before; nothing is missing."""
        (data / "old-0.0123456789abcdef0123456789abcdef-delete").mkdir()

        class Vanishing(folders.LocalFiles):
            def entries(self, path: str) -> list[folders.Entry]:
                if path.endswith("-delete"):
                    shutil.rmtree(data / path)
                return super().entries(path)

        assert inventory.examine(Vanishing(str(data)), str(data), broker=1, listed_at=1).problems == ()

    def test_partition_folder_in_place_of_log_dir(self, data: Path, tmp_path: Path) -> None:
        """Said, with where to look."""
        case = Case.open(collect_case(tmp_path / "case", log_dirs=[(1, str(data / "orders-0"))]))
        assert "the folder above it" in case.could_not_collect[0].reason


class TestCollect:
    def test_several_brokers(self, data: Path, tmp_path: Path) -> None:
        """Broker by meta.properties or as given, several log dirs each; a wrong number is told."""
        shutil.copytree(data, tmp_path / "other")
        (tmp_path / "other" / "meta.properties").unlink()
        given = [(None, str(data)), (1, f"file://{tmp_path}/other"), (7, str(data)), (8, str(tmp_path / "none"))]
        case = Case.open(collect_case(tmp_path / "case", log_dirs=given))
        log_dirs = case.log_dirs()
        assert [(found.broker, found.place) for found in log_dirs] == [
            (1, str(data)), (1, str(tmp_path / "other")), (7, str(data))]  # fmt: skip
        assert case.damaged == ()
        assert {problem.path: problem.reason.split(": ")[-1] for problem in case.could_not_collect} == {
            "brokers/8/log_dirs.json": "No such file or directory",
            "brokers/7/log_dirs.json": "meta.properties says broker 1; the log dir was given as broker 7's",
        }
        assert f'"topic":"{log_dirs[2].replicas[0].topic}"' in case.line(log_dirs[2].replicas[0].item)

    def test_nobodys(self, tmp_path: Path) -> None:
        """Without broker and meta.properties there is nothing to file it under."""
        with pytest.raises(UsageError, match="The broker of log dir"):
            collect_case(tmp_path / "case", log_dirs=[(None, str(tmp_path))])
        assert list(tmp_path.iterdir()) == []

    def test_copied_segments(self, data: Path, tmp_path: Path) -> None:
        """They are found in the case, whole, wherever it is moved to and whatever becomes of the log dir."""
        logs = data.glob(f"{OFFSETS_TOPIC}-*/*.log")
        content = {f"{path.parent.name}/{path.name}": path.read_bytes() for path in logs}
        with (data / f"{OFFSETS_TOPIC}-0" / f"{0:020d}.index").open("ab") as preallocated:
            preallocated.write(bytes(8 << 10))
        collect_case(tmp_path / "case", log_dirs=[(None, str(data))], copy_segments=[OFFSETS_TOPIC, "nothing"])
        shutil.rmtree(data)
        case = Case.open((tmp_path / "case").rename(tmp_path / "moved"))
        (log_dir,) = case.log_dirs()
        found = [one for one in log_dir.replicas if one.topic == OFFSETS_TOPIC]
        assert {one.topic for one in log_dir.replicas if one.copied} == {OFFSETS_TOPIC}
        assert content == {f"{Path(one.place).name}/{s.base_offset:020d}.log": Path(one.place, f"{s.base_offset:020d}.log").read_bytes()
                           for one in found for s in one.segments}  # fmt: skip
        assert Path(found[0].place, f"{0:020d}.index").stat().st_size < 8 << 10
        assert [problem.path for problem in case.could_not_collect] == ["segments of nothing"]
        assert case.damaged == ()

    def test_segment_gone_before_it_was_copied(self, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The case says so, and its inventory holds what the case holds."""
        few = segments.few

        def late(*arguments: object) -> object:
            (data / "orders-0" / f"{0:020d}.log").unlink()
            return few(*arguments)

        monkeypatch.setattr(segments, "few", late)
        case = Case.open(collect_case(tmp_path / "case", log_dirs=[(None, str(data))], copy_segments=["orders"]))
        orders = replica(case.log_dirs()[0], "orders")
        assert orders.segments[0].base_offset > 0
        assert f"orders-0/{0:020d}.log was not copied: No such file" in case.could_not_collect[0].reason

    def test_too_much_to_copy(self, data: Path, tmp_path: Path) -> None:
        """Nothing is copied, which is told, and the log dir is listed; a hole in a file counts as its size says."""
        with (data / "orders-0" / f"{0:020d}.log").open("r+b") as log:
            log.truncate(segments.COPY_LIMIT)
        case = Case.open(collect_case(tmp_path / "case", log_dirs=[(None, str(data))], copy_segments=["orders"]))
        assert "orders: 1.1 GB" in {problem.path: problem.reason for problem in case.could_not_collect}["segments of orders"]
        assert set(case.items) == {"brokers/1/log_dirs.json"}
        assert not any(replica.copied for replica in case.log_dirs()[0].replicas)
