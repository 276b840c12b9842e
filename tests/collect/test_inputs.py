"""One bad input does not end a collection: what else was given is taken, the bad one is named, the exit code says partly."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from casebook.case import folder as case_folder
from casebook.case.case import Case
from casebook.collect.collection import collect_case
from tests.collect.zookeeper_files import life, write_log

KRAFT = "This is a KRaft log dir (node 1); casebook does not read KRaft metadata yet; segments of topics are read."


def folder(path: Path, files: dict[str, str]) -> Path:
    """A folder with files."""
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    return path


def empty_snapshot(path: Path) -> dict:
    """What once ended a collection and lost its log dirs."""
    (path / "zookeeper").mkdir()
    (path / "zookeeper" / "snapshot.5").touch()
    return {"zookeeper_data": [path / "zookeeper"]}


def nobodys_log_dir(path: Path) -> dict:
    """Nothing tells whose it is."""
    (path / "nobodys").mkdir()
    return {"log_dirs": [(1, str(path / "good-log-dir")), (None, str(path / "nobodys"))]}


BAD: dict[str, tuple[Callable[[Path], dict], str, str]] = {
    "ZooKeeper is away": (lambda _p: {"zookeeper": "127.0.0.1:1"}, "ZooKeeper", "No ZooKeeper server answered"),
    "its credentials": (
        lambda p: {"zookeeper": "127.0.0.1:1", "credentials": p / "none"}, "ZooKeeper", "credentials in"),
    "its dump": (lambda p: {"zookeeper_dump": p / "none"}, "the znode dump", "No such file"),
    "a dump of something else": (
        lambda p: {"zookeeper_dump": folder(p / "d", {"f": "x\n"}) / "f"}, "the znode dump", "holds no Kafka znodes"),
    "its files": (lambda p: {"zookeeper_data": [p / "none"]}, "ZooKeeper's files", "neither a snapshot nor"),
    "an empty snapshot": (empty_snapshot, "ZooKeeper's files", "No snapshot of ZooKeeper is complete"),
    "another chroot": (
        lambda p: {"zookeeper_data": [write_log(p / "z", list(life())).parent], "chroot": "/nowhere"},
        "ZooKeeper's files", "no Kafka cluster below /nowhere"),
    "properties": (lambda p: {"properties": {7: p / "none"}}, "brokers/7/server.properties", "No such file"),
    "a log": (lambda p: {"logs": {7: [p / "none.log"]}}, "brokers/7/logs/none.log", "No such file"),
    "host metrics": (lambda p: {"metrics": {7: [p / "none.txt"]}}, "brokers/7/metrics/none.txt", "No such file"),
    "a ledger": (lambda p: {"ledgers": {"l": [p / "none.csv"]}}, "clients/l/ledgers/none.csv", "No such file"),
    "a client's file": (lambda p: {"clients": {"c": [p / "none.yml"]}}, "clients/c/config/none.yml", "No such file"),
    "a log dir": (
        lambda p: {"log_dirs": [(1, str(p / "good-log-dir")), (7, str(p / "none"))]}, "brokers/7/log_dirs.json", "cannot be listed"),
    "nobody's log dir": (nobodys_log_dir, "log dirs", "The broker of log dir"),
    "segments": (lambda _p: {"copy_segments": ["nothing"]}, "segments of nothing", "none of the log dirs holds any"),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_each_for_itself(tmp_path: Path, what: str) -> None:
    """Whichever is bad, all others are in the case, whole; it is named with its reason, and the case says what it is without."""
    folder(tmp_path, {"good.properties": "broker.id=1\n", "good.log": "x\n", "good.csv": "id,topic\n", "good.yml": "acks: all\n",
                      "good-log-dir/t-0/leader-epoch-checkpoint": "0\n1\n0 0\n", "good-log-dir/meta.properties": "broker.id=1\n"})  # fmt: skip
    make, part, reason = BAD[what]
    good = {
        "properties": {1: tmp_path / "good.properties"},
        "logs": {1: [tmp_path / "good.log"]},
        "ledgers": {"good": [tmp_path / "good.csv"]},
        "clients": {"good": [tmp_path / "good.yml"]},
        "log_dirs": [(1, str(tmp_path / "good-log-dir"))],
    }
    given = {}
    for name, value in make(tmp_path).items():
        given[name] = good[name] | value if name in good and isinstance(value, dict) else value
    case = Case.open(collect_case(tmp_path / "case", **good | given))
    assert {
        "brokers/1/server.properties", "brokers/1/logs/good.log", "clients/good/ledgers/good.csv", "clients/good/config/good.yml",
        "brokers/1/log_dirs.json",
    } <= set(case.items)  # fmt: skip
    assert [len(log_dir.replicas) for log_dir in case.log_dirs()] == [1]
    assert reason in " ".join(problem.reason for problem in case.could_not_collect if problem.path == part)
    manifest = case_folder.manifest(case_folder.manifest_bytes(case.folder), case.folder)
    assert case_folder.left_out(manifest) == (part,)
    assert case.damaged == ()
    assert {str(path.relative_to(case.folder)) for path in case.folder.rglob("*") if path.is_file()} == {*case.items, "case.json"}


def test_zookeepers_files_in_the_place_of_zookeeper(tmp_path: Path) -> None:
    """When it does not answer, its files tell the last state."""
    data = write_log(tmp_path / "version-2", list(life("/k"))).parent
    case = Case.open(collect_case(tmp_path / "case", zookeeper="127.0.0.1:1/k", zookeeper_data=[data]))
    assert (case.chroot, case.cluster().live) == ("/k", {1})
    assert [problem.path for problem in case.could_not_collect] == ["ZooKeeper"]


@pytest.mark.parametrize(
    "files",
    [
        {"meta.properties": "version=1\nnode.id=1\ncluster.id=x\n"},
        {"meta.properties": "version=0\nbroker.id=1\n", f"__cluster_metadata-0/{0:020d}.log": ""},
    ],
)
def test_kraft(tmp_path: Path, files: dict[str, str]) -> None:
    """Said once, in one sentence, and by the exit code; its topics are listed."""
    log_dir = folder(tmp_path / "kraft", {f"t-0/{0:020d}.log": "", **files})
    settings = folder(tmp_path, {"server.properties": "process.roles=broker,controller\nnode.id=1\n"}) / "server.properties"
    code = "from casebook.cli import main; main()"
    command = [sys.executable, "-c", code, "collect", "--log-dirs", str(log_dir), "--properties", f"1={settings}", "--out", str(tmp_path / "case")]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert f"could not collect KRaft metadata: {KRAFT}" in done.stderr
    assert done.stderr.count("does not read KRaft metadata") == 1
    assert "t" in {replica.topic for replica in Case.open(tmp_path / "case").log_dirs()[0].replicas}


@pytest.mark.parametrize("line", ["process.roles=controller\n", " process.roles : broker\n"])
def test_kraft_by_its_settings_alone(tmp_path: Path, line: str) -> None:
    """Where no log dir was given."""
    path = folder(tmp_path, {"p": line, "old": "#process.roles=broker\nbroker.id=2\n"}) / "p"
    case = Case.open(collect_case(tmp_path / "case", properties={4: path, 2: tmp_path / "old"}))
    (problem,) = case.could_not_collect
    assert problem.path == "KRaft metadata"
    assert problem.reason.startswith("This is a KRaft node (node 4); ")
