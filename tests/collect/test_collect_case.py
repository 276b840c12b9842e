"""From the outside world to a case folder."""

import gzip
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import zstandard

from casebook.case.case import Case
from casebook.cli import cli
from casebook.collect.collection import collect_case
from casebook.collect.zookeeper.ensemble import Credentials
from casebook.doctor import neighbours
from casebook.errors import CasebookError, CaseError, CollectError, UsageError
from casebook.facts.proofs import ZNODES
from casebook.findings.evidence import known_from
from casebook.kafka.release import release
from tests.collect.small_zookeeper import ZooKeeper, kafka

SECRET = "hunter2-Xyzzy"


def content(folder: Path) -> bytes:
    """Everything in a case, znodes unpacked."""
    files = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    case = Case.open(folder)
    return files + b"".join(znode.data or b"" for znode in (case.znodes() if ZNODES in case.items else ()))


class TestCollectCase:
    def test_whole(self, zookeeper: ZooKeeper, tmp_path: Path) -> None:
        """A case holds the cluster, the properties and the logs, and no secret from any of them."""
        zookeeper.tree(
            kafka({"t": {0: [1, 2]}}, chroot="/k")
            | {"/k/config/users/u": b'{"version":1,"config":{"SCRAM-SHA-256":"%s"}}' % SECRET.encode()}
        )
        properties, log, packed = tmp_path / "p", tmp_path / "server.log", tmp_path / "controller.log.gz"
        properties.write_text(f"broker.id=1\nssl.key.password={SECRET}\n")
        log.write_text(f"one\n\tpassword = {SECRET}\nthree\n")
        packed.write_bytes(gzip.compress(f"token={SECRET}\n".encode()))
        folder = collect_case(
            tmp_path / "case", zookeeper=zookeeper.address + "/k", properties={1: properties}, logs={1: [log, packed]}
        )
        case = Case.open(folder)
        assert {
            "zookeeper/znodes.jsonl.zst",
            "brokers/1/server.properties",
            "brokers/1/logs/server.log",
            "brokers/1/logs/controller.log",
        } == set(case.items)
        assert case.server_properties()[1]["broker.id"] == "1"
        assert (case.items["brokers/1/logs/server.log"].rows, case.chroot, case.could_not_collect) == (3, "/k", ())
        assert frozenset({1, 2}) == case.cluster().live
        assert len(case.redacted) == 4
        assert SECRET.encode() not in content(folder)

    @pytest.mark.parametrize("there", [True, False])
    def test_files_of_zookeeper_that_are_not_there(self, zookeeper: ZooKeeper, tmp_path: Path, there: bool) -> None:
        """ZooKeeper answers: only the history is missing, which is said."""
        zookeeper.tree(kafka({"t": {0: [1, 2]}}))
        data = tmp_path / "data"
        if there:
            data.mkdir()
        case = Case.open(collect_case(tmp_path / "case", zookeeper=zookeeper.address, zookeeper_data=[data]))
        assert frozenset({1, 2}) == case.cluster().live
        (problem,) = case.could_not_collect
        assert (problem.path, str(data) in problem.reason) == ("ZooKeeper's files", True)
        arguments = ["collect", "--zookeeper", zookeeper.address, "--zookeeper-data", str(data), "--out", str(tmp_path / "other")]
        with pytest.raises(CasebookError, match="Collected only in part; missing or cut: ZooKeeper's files."):
            cli.main(arguments, standalone_mode=False)

    def test_the_doctor_infers_the_same_release(self, zookeeper: ZooKeeper, tmp_path: Path) -> None:
        """From the same marks, in the report's words: topics of version 3 are written since 2.8.0 (ZkData.scala@2.8.0)."""
        znodes = kafka({"t": {0: [1, 2]}}) | {"/cluster/id": b'{"version":"1","id":"x"}', "/feature": b'{"version":1,"status":0}'}
        zookeeper.tree(
            {
                path: data.replace(b'"version": 2', b'"version": 5').replace(b'{"version": 1, "part', b'{"version": 3, "part')
                for path, data in znodes.items()
            }
        )
        version = release(Case.open(collect_case(tmp_path / "case", zookeeper=zookeeper.address)).cluster())
        examined = next(one for one in neighbours.ensemble(zookeeper.address) if one.what == "Kafka release")
        assert examined.found == f"{version.version}, {known_from(version)}"
        assert version.possible.startswith("2.8.0 to ")

    def test_files_that_are_not_there(self, zookeeper: ZooKeeper, tmp_path: Path) -> None:
        """Each is recorded with its reason; the rest is collected."""
        zookeeper.tree(kafka({"t": {0: [1]}}))
        torn, short = tmp_path / "torn.log.gz", tmp_path / "short.log.zst"
        torn.write_bytes(gzip.compress(b"line\n" * 9999)[:-9])
        short.write_bytes(zstandard.compress(b"".join(b"line %d\n" % n for n in range(99999)))[:-9])
        folder = collect_case(
            tmp_path / "case",
            zookeeper=zookeeper.address,
            properties={1: tmp_path / "none"},
            logs={2: [tmp_path / "none.log", torn, short]},
        )
        told = {problem.path: problem.reason for problem in Case.open(folder).could_not_collect}
        assert {f"brokers/2/logs/{log}.log" for log in ("none", "torn", "short")} | {"brokers/1/server.properties"} == set(told)
        assert "No such file" in told["brokers/1/server.properties"]
        assert "damaged" in told["brokers/2/logs/torn.log"]
        assert "damaged" in told["brokers/2/logs/short.log"]

    def test_folder_of_logs_and_equal_names(self, tmp_path: Path) -> None:
        """A folder stands for its files, and no log overwrites another."""
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "server.log").write_text(f"{name}\n")
        case = Case.open(collect_case(tmp_path / "case", logs={1: [tmp_path / "a", tmp_path / "b"]}))
        assert {"brokers/1/logs/server.log", "brokers/1/logs/b-server.log"} == set(case.items)

    def test_log_of_a_connect_worker(self, tmp_path: Path) -> None:
        """It stands in its broker's folder of logs, and is a client's."""
        for name in ("server.log", "connect.log", "connect.log.2024-06-12-09", "connectivity.log"):
            (tmp_path / name).write_text(f"{name}\n")
        case = Case.open(collect_case(tmp_path / "case", logs={1: [tmp_path]}))
        names = ["brokers/1/logs/connectivity.log", "brokers/1/logs/server.log"]
        assert sorted(case.items) == names + [f"clients/connect-1/logs/connect.log{rest}" for rest in ("", ".2024-06-12-09")]

    def test_long_line_is_cut(self, tmp_path: Path) -> None:
        """A line of any length costs bounded memory and ends as a line."""
        log = tmp_path / "server.log"
        log.write_bytes(b"x" * (3 << 20) + b"\nnext\n")
        case = Case.open(collect_case(tmp_path / "case", logs={1: [log]}))
        assert (case.items["brokers/1/logs/server.log"].rows, case.items["brokers/1/logs/server.log"].bytes) == (2, (1 << 20) + 6)

    def test_failure_leaves_nothing_behind(self, zookeeper: ZooKeeper, tmp_path: Path) -> None:
        """No folder of a case that could not be collected."""
        with pytest.raises(CollectError):
            collect_case(tmp_path / "case", zookeeper=zookeeper.address + "/nowhere")
        assert list(tmp_path.iterdir()) == []

    def test_existing_folder(self, zookeeper: ZooKeeper, tmp_path: Path) -> None:
        """A case is never overwritten."""
        zookeeper.tree(kafka({"t": {0: [1]}}))
        (tmp_path / "something").touch()
        with pytest.raises(CaseError):
            collect_case(tmp_path, zookeeper=zookeeper.address)

    def test_two_sources(self, tmp_path: Path) -> None:
        """Ensemble and dump exclude each other; a chroot stands in the connect string."""
        with pytest.raises(UsageError):
            collect_case(tmp_path / "case", zookeeper="h:2181", zookeeper_dump=tmp_path / "d")
        with pytest.raises(UsageError):
            collect_case(tmp_path / "case", zookeeper="h:2181", chroot="/k")

    def test_import_is_cheap(self) -> None:
        """kazoo is imported by who walks, and by nobody else."""
        code = "import sys, casebook.collect.collection; sys.exit('kazoo' in sys.modules)"
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class TestLedgers:
    """What applications wrote down of their records."""

    def test_copied(self, tmp_path: Path) -> None:
        """Below the client's name, line by line, unpacked, without secrets, and by no means as logs."""
        sent, packed = tmp_path / "sent.jsonl", tmp_path / "more.csv.gz"
        sent.write_text(f'{{"id": "a-1", "topic": "t"}}\n{{"id": "a-2", "token": "{SECRET}"}}\n')
        packed.write_bytes(gzip.compress(b"id,topic,offset\nb-1,t,7\n"))
        case = Case.open(collect_case(tmp_path / "case", ledgers={"billing": [sent], "refunds": [packed]}))
        assert case.ledgers() == (
            ("clients/billing/ledgers/sent.jsonl", "billing"),
            ("clients/refunds/ledgers/more.csv", "refunds"),
        )
        assert case.logs() == ()
        assert [case.items[path].rows for path, _ in case.ledgers()] == [2, 2]
        assert case.redacted == ("1 lines of clients/billing/ledgers/sent.jsonl",)
        assert (case.folder / "clients/refunds/ledgers/more.csv").read_text() == "id,topic,offset\nb-1,t,7\n"
        assert SECRET.encode() not in content(case.folder)

    @pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "zstd"])
    def test_parquet_is_refused(self, tmp_path: Path, codec: str) -> None:
        """It is named, with the way that there is, and what else was given is taken; alone it is an error."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({"id": ["a-1"]}), tmp_path / "sent", compression=codec)
        with pytest.raises(UsageError, match="is not text") as caught:
            collect_case(tmp_path / "case", ledgers={"billing": [tmp_path / "sent"]})
        assert "parameter ledger" in caught.value.try_
        assert not (tmp_path / "case").exists()
        (tmp_path / "good.csv").write_text("id,topic\n")
        case = Case.open(collect_case(tmp_path / "case", ledgers={"billing": [tmp_path / "sent", tmp_path / "good.csv"]}))
        (problem,) = case.could_not_collect
        assert problem.path == "clients/billing/ledgers/sent"
        assert "is not text" in problem.reason
        assert "parameter ledger" in problem.reason
        assert set(case.items) == {"clients/billing/ledgers/good.csv"}

    def test_too_large(self, tmp_path: Path) -> None:
        """More than is copied of segments either."""
        large = tmp_path / "sent.csv"
        with large.open("wb") as file:
            file.write(b"id\n" * 1000)
            file.truncate((1 << 30) + 1)
        with pytest.raises(CollectError, match=r"at most 1\.1 GB"):
            collect_case(tmp_path / "case", ledgers={"billing": [large]})

    def test_not_there(self, tmp_path: Path) -> None:
        """Recorded with its reason; nothing but that is an error."""
        with pytest.raises(CollectError, match="No such file"):
            collect_case(tmp_path / "case", ledgers={"billing": [tmp_path / "none.csv"]})
        (tmp_path / "there.csv").write_text("id,topic\n")
        case = Case.open(collect_case(tmp_path / "case", ledgers={"billing": [tmp_path / "none.csv", tmp_path / "there.csv"]}))
        assert [problem.path for problem in case.could_not_collect] == ["clients/billing/ledgers/none.csv"]


class TestCredentials:
    def test_file(self, tmp_path: Path) -> None:
        """Digest unless it says otherwise; the password is never shown."""
        (tmp_path / "c").write_text(f"username=me\npassword={SECRET}\n")
        credentials = Credentials.load(tmp_path / "c")
        assert (credentials.scheme, credentials.username, credentials.password) == ("digest", "me", SECRET)
        assert SECRET not in repr(credentials)

    @pytest.mark.parametrize(
        "text", ["", "username=me\n", f"password={SECRET}\n", f"username=me\npassword={SECRET}\nscheme=magic\n"]
    )
    def test_unusable(self, tmp_path: Path, text: str) -> None:
        """The error names the file and nothing in it."""
        (tmp_path / "c").write_text(text)
        with pytest.raises(CollectError) as caught:
            Credentials.load(tmp_path / "c")
        assert SECRET not in str(caught.value)

    def test_missing_file(self, tmp_path: Path) -> None:
        """Said so, before anything connects."""
        with pytest.raises(CollectError, match="No such file"):
            collect_case(tmp_path / "case", zookeeper="127.0.0.1:1", credentials=tmp_path / "none")

    @pytest.mark.skipif(find_spec("puresasl") is not None, reason="it is installed")
    def test_sasl_needs_its_package(self, tmp_path: Path) -> None:
        """A clear word instead of a refused session."""
        (tmp_path / "c").write_text(f"scheme=sasl\nusername=me\npassword={SECRET}\n")
        with pytest.raises(CollectError, match="SASL needs a package"):
            collect_case(tmp_path / "case", zookeeper="127.0.0.1:1", credentials=tmp_path / "c", timeout=0.5)
