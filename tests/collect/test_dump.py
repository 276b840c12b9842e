"""Znode dumps: written by our own script from a real ZooKeeper, by others, and damaged."""

import gzip
import json
import subprocess
from pathlib import Path

import pytest
import zstandard
from kazoo.security import make_digest_acl

from casebook.case.case import Case
from casebook.collect.collection import collect_case
from casebook.collect.zookeeper.dump import Dump, read_dump
from casebook.errors import CollectError, UsageError
from casebook.facts.znodes import ReadOutcome, Stat, Znode
from casebook.rehearsal.servers import jars
from tests.collect.small_zookeeper import ZooKeeper, class_path, kafka, state_path

SCRIPT = Path(__file__).parents[2] / "docs" / "dump_znodes.java"


def write(path: Path, rows: list[dict | bytes]) -> Path:
    """A dump of these rows."""
    path.write_bytes(b"".join((row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in rows))
    return path


def plain_rows(znodes: dict[str, bytes]) -> list[dict]:
    """Rows without stat."""
    return [{"path": path, "data": data.decode()} for path, data in znodes.items()]


def by_path(dump: Dump) -> dict[str, Znode]:
    """The znodes by path."""
    return {znode.path: znode for znode in dump.znodes}


class TestScript:
    def test_its_case_equals_a_collected_one(self, zookeeper: ZooKeeper, tmp_path: Path) -> None:
        """The ten lines in docs, run on a real ZooKeeper, give the same znodes as a walk."""
        zookeeper.tree(
            kafka({"t": {0: [1, 2], 1: [2, 1]}, "odd": {0: [1]}}, chroot="/kafka")
            | {
                "/kafka/config/users/alice": b'{"version":1,"config":{"SCRAM-SHA-256":"salt=x"}}',
                "/kafka/consumers/g/owners": b"",
                "/kafka/consumers/g/offsets/t/0": b"17",
                "/other": b"",
            }
        )
        zookeeper.client.delete("/kafka" + state_path("t", 1))
        zookeeper.client.set("/kafka" + state_path("odd"), b"\xff\x00")
        zookeeper.client.delete("/kafka/controller")
        zookeeper.client.create("/kafka/admin/closed", acl=[make_digest_acl("x", "y", all=True)])
        dump = tmp_path / "znodes.jsonl"
        with dump.open("wb") as out:
            subprocess.run([jars.java(), "-cp", class_path(), str(SCRIPT), zookeeper.address, "/kafka"], stdout=out, check=True)
        live = collect_case(tmp_path / "live", zookeeper=zookeeper.address + "/kafka")
        dumped = collect_case(tmp_path / "dumped", zookeeper_dump=dump, chroot="/kafka")
        assert [znode._replace(read_at=None) for znode in Case.open(live).znodes()] == list(Case.open(dumped).znodes())
        assert Case.open(dumped).could_not_collect == ()

    def test_is_ten_lines(self) -> None:
        """It can be read before it is run."""
        assert len(SCRIPT.read_text().splitlines()) <= 10


class TestReadDump:
    def test_paths_are_below_the_chroot(self, tmp_path: Path) -> None:
        """What is beside the chroot is left out, also what only begins like it."""
        rows = plain_rows(kafka({"t": {0: [1]}}, chroot="/kafka") | kafka({"other": {0: [1]}}, chroot="/kafka2"))
        found = by_path(read_dump(write(tmp_path / "d", rows), chroot="/kafka/"))
        assert "/brokers/topics/t" in found
        assert "/brokers/topics/other" not in found

    def test_wrong_chroot_names_those_seen(self, tmp_path: Path) -> None:
        """Nothing below the chroot is an error, never an empty cluster."""
        path = write(tmp_path / "d", plain_rows(kafka({"t": {0: [1]}}, chroot="/kafka/prod")))
        for chroot in ("", "/kafka"):
            with pytest.raises(CollectError, match="/kafka/prod"):
                read_dump(path, chroot=chroot)
        with pytest.raises(UsageError):
            read_dump(path, chroot="/a//b")

    @pytest.mark.parametrize("pack", [("d.gz", gzip.compress), ("d.zst", zstandard.compress)])
    def test_packed(self, tmp_path: Path, pack: tuple) -> None:
        """gz and zst are unpacked; a torn one keeps its first lines and says so."""
        name, compress = pack
        plain = write(tmp_path / "d", plain_rows(kafka({f"t{n}": {0: [1]} for n in range(3000)})))
        (tmp_path / name).write_bytes(compress(plain.read_bytes()))
        assert read_dump(plain).znodes == read_dump(tmp_path / name).znodes
        (tmp_path / name).write_bytes(compress(plain.read_bytes())[:-2000])
        torn = read_dump(tmp_path / name)
        assert torn.znodes
        assert "could not be read" in torn.problems[0].reason

    def test_bad_lines_are_counted(self, tmp_path: Path) -> None:
        """Each is told by its number and cause, and costs nothing else."""
        rows = [
            b"not JSON",
            b"",
            b"[]",
            {"data": "x"},
            {"path": "/brokers/ids/1", "data_b64": "!"},
            *plain_rows(kafka({"t": {0: [1]}})),
        ]
        dump = read_dump(write(tmp_path / "d", rows))
        assert "4 lines could not be read: line 1 (not a JSON object), line 3" in dump.problems[0].reason
        assert state_path("t") in by_path(dump)

    def test_nothing_but_bad_lines(self, tmp_path: Path) -> None:
        """A file that is no dump is an error with its first complaint."""
        with pytest.raises(CollectError, match="line 1"):
            read_dump(write(tmp_path / "d", [b"\x00\xff" * 50]))
        with pytest.raises(CollectError, match="cannot be read: No such file"):
            read_dump(tmp_path / "none")

    def test_absurd_stat_is_unknown(self, tmp_path: Path) -> None:
        """Values that ZooKeeper cannot have become unknown, and are told; signed sessions stay."""
        stat = {"czxid": "1", "mzxid": 1.5, "ctime": -1, "version": 2**70, "ephemeralOwner": -5, "numChildren": None, "mtime": 7}
        dump = read_dump(write(tmp_path / "d", [{"path": "/brokers/ids/1", "data": "{}", "stat": stat}]))
        assert Stat(mtime=7, ephemeralOwner=-5) == by_path(dump)["/brokers/ids/1"].stat
        assert "/brokers/ids/1 (ctime, czxid, mzxid, version)" in dump.problems[0].reason

    def test_all_fields_but_path_may_be_missing(self, tmp_path: Path) -> None:
        """A path alone is a znode of unknown stat."""
        found = by_path(read_dump(write(tmp_path / "d", [{"path": "/brokers/ids/1"}])))
        assert Znode(path="/brokers/ids/1") == found["/brokers/ids/1"]
        assert Znode(path="/brokers/ids") == found["/brokers/ids"]


class TestAbsence:
    def test_missing_state(self, tmp_path: Path) -> None:
        """Of a dump that holds states, an assigned partition without one is missing."""
        znodes = kafka({"t": {0: [1], 1: [1]}})
        del znodes[state_path("t", 1)]
        assert by_path(read_dump(write(tmp_path / "d", plain_rows(znodes))))[state_path("t", 1)].outcome == ReadOutcome.MISSING

    def test_states_not_dumped(self, tmp_path: Path) -> None:
        """When there is none at all, or its parent counts it, or a line is unreadable, nobody can say."""
        znodes = kafka({"t": {0: [1], 1: [1]}})
        without = [row for row in plain_rows(znodes) if not row["path"].endswith("/state")]
        one = [*without, {"path": state_path("t", 0), "data": "{}"}]
        counted = [*one, {"path": "/brokers/topics/t/partitions/1", "stat": {"numChildren": 1}}]
        for rows in (without, counted, [b"?", *one]):
            assert by_path(read_dump(write(tmp_path / "d", rows)))[state_path("t", 1)].outcome == ReadOutcome.FAILED

    def test_missing_controller(self, tmp_path: Path) -> None:
        """The controller is missing from a dump of the whole tree, and unknown to one of /brokers alone."""
        znodes = kafka({"t": {0: [1]}})
        del znodes["/controller"]
        whole = by_path(read_dump(write(tmp_path / "d", plain_rows(znodes))))
        part = by_path(
            read_dump(write(tmp_path / "d", [row for row in plain_rows(znodes) if row["path"].startswith("/brokers")]))
        )
        assert whole["/controller"].outcome == ReadOutcome.MISSING
        assert "/controller" not in part

    def test_children_not_dumped_are_told(self, tmp_path: Path) -> None:
        """A list of brokers that is known to be short is said to be."""
        rows = plain_rows(kafka({"t": {0: [1]}}))
        rows = [row | {"stat": {"numChildren": 3}} if row["path"] == "/brokers/ids" else row for row in rows]
        (problem,) = read_dump(write(tmp_path / "d", rows)).problems
        assert (problem.path, problem.reason) == ("/brokers/ids", "the dump holds 2 of its 3 children")
