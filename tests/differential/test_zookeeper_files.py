"""The files of real ZooKeepers: as rows, as their own tools print them, and as the tree that a client sees."""

import os
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pyarrow
import pytest

from casebook.facts.znodes import Znode
from casebook.formats.zookeeper import changes, log, snapshot
from casebook.formats.zookeeper.records import FileHead
from casebook.formats.zookeeper.snapshot import Session, SnapshotEnd, StoredZnode
from casebook.formats.zookeeper.tree import NEW, Rules, replay
from casebook.rehearsal.servers import jars
from casebook.rehearsal.servers.processes import Guarded
from tests.collect import small_zookeeper
from tests.collect.small_zookeeper import QUICK_START, ZooKeeper
from tests.differential import zookeeper_fuzzy, zookeeper_life, zookeeper_tools
from tests.differential.zookeeper_tools import LOG_FORMATTER, LOG_TOOLKIT, SNAPSHOT_FORMATTER
from tests.formats import zookeeper_bytes

_UNSNAP = pyarrow.Codec("snappy").decompress


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A release of ZooKeeper.

    Args:
        kafka: The Kafka whose servers carry it; ``None`` for the one that pyspark carries.
        rules: How it applies transactions to a fuzzy snapshot.
        log_tool: What prints its logs.
        compression: What its snapshots are written in.
    """

    kafka: str | None
    rules: Rules = Rules.V3_6
    log_tool: str = LOG_TOOLKIT
    compression: str | None = None

    @property
    def class_path(self) -> str:
        """Its jars."""
        return small_zookeeper.class_path() if self.kafka is None else ":".join(map(str, jars.jars(self.kafka)))

    @property
    def newer_operations(self) -> bool:
        """It knows the operations that came with 3.5."""
        return self.rules is not Rules.V3_4


RELEASES = {
    "3.4.6": Release(kafka="0.9.0.1", rules=Rules.V3_4, log_tool=LOG_FORMATTER),
    "3.8.4": Release(kafka="3.9.2", compression="snappy"),
    "3.9": Release(kafka=None, compression="gz"),
}
RULES = {"3.4.6": RELEASES["3.4.6"], "3.5.9": Release(kafka="2.8.2", rules=Rules.V3_5), "3.8.4": RELEASES["3.8.4"]}
SEED = int(os.environ.get("CASEBOOK_SEED", "20"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Lived:
    """What a ZooKeeper left behind.

    Args:
        release: Of the server.
        logs: The oldest first.
        snapshots: The oldest first.
        tree: What a client saw in the end, by path.
        zxid: The last one that the client knew then.
    """

    release: Release
    logs: tuple[Path, ...]
    snapshots: tuple[Path, ...]
    tree: Mapping[str, Znode]
    zxid: int


@pytest.fixture(scope="module", params=RELEASES)
def lived(request, tmp_path_factory) -> Lived:
    """A ZooKeeper of each release, after :mod:`tests.differential.zookeeper_life`."""
    release = RELEASES[request.param]
    folder = tmp_path_factory.mktemp("zookeeper")
    with _serving(release, folder) as server:
        zookeeper_life.live(server.address, server.client, create2=release.newer_operations)
        tree = {znode.path: znode for znode in zookeeper_life.walk(server.client)}
        zxid = server.client.last_zxid
    logs, snapshots = (_by_zxid((folder / "version-2").glob(f"{kind}.*")) for kind in ("log", "snapshot"))
    return Lived(release=release, logs=logs, snapshots=snapshots, tree=tree, zxid=zxid)


@contextmanager
def _serving(release: Release, folder: Path) -> Iterator[ZooKeeper]:
    class_path = release.class_path
    options = [*QUICK_START, f"-Dzookeeper.snapCount={zookeeper_life.SNAPSHOT_AFTER}", "-Dzookeeper.extendedTypesEnabled=true"]
    if release.compression:
        options.append(f"-Dzookeeper.snapshot.compression.method={release.compression}")
    with closing(Guarded()) as guarded, pytest.MonkeyPatch.context() as patched:
        patched.setattr(small_zookeeper, "class_path", lambda: class_path)
        with closing(ZooKeeper(folder, guarded, java_options=options)) as server:
            yield server


def _by_zxid(paths: Iterator[Path]) -> tuple[Path, ...]:
    return tuple(sorted(paths, key=_zxid))


def _zxid(path: Path) -> int:
    return int(path.name.split(".")[1], 16)


def _log(path: Path) -> list[log.Row]:
    with path.open("rb") as stream:
        return list(log.read(stream))


def _snapshot(path: Path) -> list[snapshot.Row]:
    with path.open("rb") as stream:
        return list(snapshot.read(stream, unsnap=_UNSNAP))


class TestLogs:
    def test_nothing_is_lost(self, lived):
        """Written again from its rows, a file is what it was, up to the zeros at its end."""
        for path in lived.logs:
            head, *rows = _log(path)
            content = path.read_bytes()
            again = zookeeper_bytes.LOG_HEAD + b"".join(map(zookeeper_bytes.transaction, rows))
            assert (head, again) == (FileHead(2, 0), content[: len(again)])
            assert not content[len(again) :].strip(b"\0")

    def test_as_its_own_tool_prints_them(self, lived):
        """Every field of every transaction."""
        tool = lived.release.log_tool
        for path, said in zip(lived.logs, zookeeper_tools.printed(lived.release.class_path, tool, lived.logs), strict=True):
            assert zookeeper_tools.transactions(said) == [zookeeper_tools.as_printed(tool, row) for row in _log(path)[1:]]

    def test_they_are_worth_something(self, lived):
        """They hold every change, in more than one file."""
        made = [row.change for path in lived.logs for row in _log(path)[1:]]
        wanted = {"create", "delete", "setData", "setACL", "multi", "createSession", "closeSession", "error"}
        assert wanted - {change.operation for change in made} == set()
        assert {change.failed for change in made if isinstance(change, changes.Multi)} == {True, False}
        assert len(lived.logs) > 1


class TestSnapshots:
    def test_sealed(self, lived):
        """Whole, and every checksum fits."""
        ends = [_snapshot(path)[-1] for path in lived.snapshots]
        assert [isinstance(end, SnapshotEnd) and end.sealed for end in ends] == [True] * len(ends)

    def test_as_its_own_tool_prints_them(self, lived):
        """Every znode with its stat, and every session."""
        all_said = zookeeper_tools.printed(lived.release.class_path, SNAPSHOT_FORMATTER, lived.snapshots)
        for path, said in zip(lived.snapshots, all_said, strict=True):
            rows = _snapshot(path)
            znodes = {row.path: zookeeper_tools.znode_as_printed(row) for row in rows if isinstance(row, StoredZnode)}
            assert zookeeper_tools.znodes(said) == znodes
            assert zookeeper_tools.sessions(said) == {row.id: row.timeout for row in rows if isinstance(row, Session)}


class TestReplay:
    def test_ends_in_the_tree_that_a_client_sees(self, lived):
        """From every snapshot on, fuzzy ones among them, and from nothing: all znodes, their data and their full stat."""
        rows = [row for path in lived.logs for row in _log(path)]
        begins = {_zxid(path): _snapshot(path) for path in lived.snapshots}
        for zxid, begin in ({0: NEW} | begins).items():
            tree = replay(begin, rows, zxid=zxid, until=lived.zxid)
            assert {znode.path: znode for znode in tree.znodes()} == lived.tree
        assert begins

    @pytest.mark.parametrize("name", RULES)
    def test_by_the_rules_of_a_release(self, name, tmp_path):
        """What a server makes of a fuzzy snapshot when it starts, right or wrong: ``CASEBOOK_SEED`` chooses another one."""
        release = RULES[name]
        data = tmp_path / "version-2"
        data.mkdir()
        zookeeper_fuzzy.write(data, Random(SEED), newer_operations=release.newer_operations)
        rows = _snapshot(data / f"snapshot.{zookeeper_fuzzy.FIRST - 1:x}"), _log(data / f"log.{zookeeper_fuzzy.FIRST:x}")
        with _serving(release, tmp_path) as server:
            seen = {znode.path: znode for znode in zookeeper_life.walk(server.client) if not _is_of_zookeeper(znode.path)}
        tree = replay(*rows, zxid=zookeeper_fuzzy.FIRST - 1, rules=release.rules)
        assert {znode.path: znode for znode in tree.znodes() if not _is_of_zookeeper(znode.path)} == seen


def _is_of_zookeeper(path: str) -> bool:
    """What a server keeps there comes and goes as it starts."""
    return path == "/" or path.startswith("/zookeeper")
