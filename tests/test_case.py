"""The case folder: written once, read many times, and never trusted blindly."""

import hashlib
import json
import os
from dataclasses import replace

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from casebook.case.case import Case
from casebook.case.folder import HISTORY, Item
from casebook.case.writer import CaseWriter
from casebook.errors import CaseError
from casebook.facts.cluster import Problem
from casebook.facts.logged import StatedVersion
from casebook.facts.proofs import ZNODES
from casebook.facts.znodes import Znode, ZnodeChange
from casebook.findings import evidence
from casebook.findings.finding import Status
from casebook.kafka.release import release
from casebook.kafka.releases import KafkaVersion
from casebook.kafka.settings import BUILT_IN, PRINTED, Settings
from casebook.questions.leadership.analysis import leadership
from tests.evidence import made, override, rows, state

TOPICS = {f"t{n}": {0: ([1, 2], state(1, [1, 2]))} for n in range(400)}
ROWS = sorted(rows(topics=TOPICS, extra=[override("t0", unclean_leader_election_enable="false")]), key=lambda row: row.path)


@pytest.fixture
def folder(tmp_path):
    """A small case of a healthy cluster."""
    with CaseWriter.create(tmp_path / "case", command="test") as case:
        case.znodes(ROWS, chroot="/kafka", servers=["zk:2181"])
        case.file("brokers/1/server.properties", b"min.insync.replicas=2\ninter.broker.protocol.version=0.9.0\n")
        case.file(
            "brokers/1/logs/server.log",
            [b"[x] INFO Kafka version : 0.8.2.1 (a)\n", b"?\n", b"[x] INFO Kafka version : 0.9.0.1 (a)\n"],
        )
        case.could_not_collect("/config/users", "denied")
        case.redacted("2 passwords")
    return tmp_path / "case"


def changed(folder, **fields):
    """Change fields of the manifest."""
    manifest = json.loads((folder / "case.json").read_text()) | fields
    (folder / "case.json").write_text(json.dumps(manifest))


def statuses(folder):
    """Status by check of everything that can be said of a case."""
    cluster = Case.open(folder).cluster()
    version = release(cluster)
    return {f.check: f.status for f in (*leadership.examine(cluster, version).findings, *evidence.checks(cluster, version))}


class TestRoundTrip:
    def test_read(self, folder):
        """What was written is read: znodes, files, and what is not there."""
        case = Case.open(folder)
        assert (case.name, case.chroot, case.redacted, case.damaged) == ("case", "/kafka", ("2 passwords",), ())
        assert list(case.znodes()) == ROWS
        assert case.could_not_collect == (Problem(path="/config/users", reason="denied"),)
        assert (case.items[ZNODES].rows, list(case.items)) == (
            len(ROWS),
            ["brokers/1/logs/server.log", "brokers/1/server.properties", ZNODES],
        )
        assert case.cluster().partitions == made(topics=TOPICS).partitions

    @pytest.mark.parametrize(
        ("servers", "name", "connect"),
        [
            (["zk1:2181", "zk2:2181"], "case", "zk1:2181,zk2:2181/kafka"),
            ([], "case", "HOST:2181/kafka"),
            (["127.0.0.1:30665"], "case", "HOST:2181/kafka"),
            (["localhost:2181"], "case", "HOST:2181/kafka"),
            (["127.0.0.1:30665"], "live:prod", "127.0.0.1:30665/kafka"),
        ],
    )
    def test_what_commands_connect_to(self, folder, servers, name, connect):
        """The servers of the case; those of the machine where it was collected only while that is this one."""
        changed(folder, zookeeper=servers)
        assert replace(Case.open(folder), name=name).cluster().connect == connect

    def test_stated_versions(self, folder):
        """The last start of a log counts; the properties state the protocol."""
        case = Case.open(folder)
        assert case.logged_versions() == (StatedVersion(broker=1, text="0.9.0.1", proof="brokers/1/logs/server.log:3"),)
        assert case.configured_versions() == (StatedVersion(broker=1, text="0.9.0", proof="brokers/1/server.properties"),)

    @settings(deadline=None, max_examples=20)
    @given(st.lists(st.tuples(st.text().map("/".__add__), st.none() | st.binary()).map(lambda drawn: Znode(*drawn))))
    def test_any_znodes(self, tmp_path_factory, znodes):
        """Any znode survives."""
        path = tmp_path_factory.mktemp("any") / "case"
        with CaseWriter.create(path, command="test") as case:
            case.znodes(znodes, chroot="", servers=[])
        assert list(Case.open(path).znodes()) == znodes


class TestWriting:
    def test_never_overwritten(self, folder):
        """A case is not written where something is."""
        with pytest.raises(CaseError, match="already holds something"), CaseWriter.create(folder, command="test"):
            pass

    def test_all_or_nothing(self, tmp_path):
        """When collecting fails, nothing is left."""
        with pytest.raises(ZeroDivisionError), CaseWriter.create(tmp_path / "case", command="test") as case:
            case.file("x", b"")
            _ = 1 / 0
        assert list(tmp_path.iterdir()) == []

    def test_the_disk_refuses(self, tmp_path):
        """A place that cannot be written is named."""
        (tmp_path / "file").write_text("")
        with pytest.raises(CaseError, match="cannot be written"), CaseWriter.create(tmp_path / "file" / "case", command="test"):
            pass

    @pytest.mark.parametrize("name", ["/etc/x", "../x", "a/../../x", ""])
    def test_paths_stay_inside(self, tmp_path, name):
        """No file is written outside of the case."""
        with pytest.raises(CaseError, match="not a path inside"), CaseWriter.create(tmp_path / "case", command="test") as case:
            case.file(name, b"")


class TestNoCase:
    @pytest.mark.parametrize(
        ("content", "words"),
        [
            ('{"schema": 2}', "schema 2; this casebook reads up to 1"), ("", "is damaged"), ("[]", "is damaged"), ("[" * 100_000, "is damaged"),
            ('{"schema": "1"}', "is damaged"), ('{"schema": true}', "is damaged"), (None, "is not a case"),
        ],
    )  # fmt: skip
    def test_manifest(self, tmp_path, content, words):
        """A newer schema, a damaged manifest or none is an error that says what to do."""
        if content is not None:
            (tmp_path / "case.json").write_text(content)
        with pytest.raises(CaseError, match=words) as caught:
            Case.open(tmp_path)
        assert caught.value.try_

    def test_no_folder(self, tmp_path):
        """A folder that is not there, or is a file, is no case."""
        (tmp_path / "file").write_text("")
        for path in (tmp_path / "nothing", tmp_path / "file"):
            with pytest.raises(CaseError):
                Case.open(path)


class TestDamage:
    def test_changed(self, folder):
        """A file that was changed after collection is named, and no partition is called well."""
        packed = (folder / ZNODES).read_bytes()
        (folder / ZNODES).write_bytes(packed + b"\0")
        assert [problem.path for problem in Case.open(folder).damaged] == [ZNODES]
        found = statuses(folder)
        assert found["evidence.complete"] is found["leadership.offline"] is Status.COULD_NOT_CHECK

    @pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
    def test_truncated(self, folder, share):
        """However much of the znodes is left: no traceback, and no all-clear."""
        packed = (folder / ZNODES).read_bytes()
        (folder / ZNODES).write_bytes(packed[: int(len(packed) * share)])
        found = statuses(folder)
        assert found["evidence.complete"] is found["leadership.offline"] is Status.COULD_NOT_CHECK
        assert Status.OK not in {
            found[check] for check in ("leadership.under_replicated", "leadership.under_min_isr", "leadership.brokers")
        }

    @pytest.mark.parametrize("frames", [1, 2, 3])
    @pytest.mark.parametrize("item", [ZNODES, HISTORY])
    def test_cut_where_no_hash_tells(self, tmp_path, item, frames):
        """At every byte, between frames too: whoever reads it to its end is told, also where the manifest was written anew."""
        znodes = ROWS[:6]
        with CaseWriter.create(tmp_path / "case", command="test") as case:
            case.znodes(znodes, chroot="", servers=[])
            case.history([ZnodeChange(n, n, None, "setData", None, (znode,)) for n, znode in enumerate(znodes)])
        path = tmp_path / "case" / item
        lines = zstandard.ZstdDecompressor().stream_reader(path.read_bytes()).read().splitlines(keepends=True)
        packed = b"".join(
            zstandard.compress(b"".join(lines[frame * 6 // frames : (frame + 1) * 6 // frames])) for frame in range(frames)
        )
        manifest = json.loads((tmp_path / "case" / "case.json").read_text())
        for size in range(len(packed) + 1):
            path.write_bytes(packed[:size])
            digest = hashlib.sha256(packed[:size]).hexdigest()
            changed(
                tmp_path / "case", items=[row | ({"sha256": digest} if row["path"] == item else {}) for row in manifest["items"]]
            )
            case = Case.open(tmp_path / "case")
            assert case.damaged == ()
            read = case.znodes if item == ZNODES else case.history
            if size == len(packed):
                assert len(list(read())) == 6
            else:
                with pytest.raises(CaseError, match="cannot be read to its end"):
                    list(read())

    def test_file_gone(self, folder):
        """A file that is listed and not there is named."""
        (folder / ZNODES).unlink()
        assert Case.open(folder).damaged == (
            Problem(path=ZNODES, reason="listed in case.json and cannot be read: No such file or directory"),
        )
        assert statuses(folder)["leadership.offline"] is Status.COULD_NOT_CHECK

    def test_a_bad_line(self, folder):
        """A line that is no znode ends the reading, and is named."""
        lines = zstandard.ZstdDecompressor().stream_reader((folder / ZNODES).read_bytes()).read().splitlines(keepends=True)
        (folder / ZNODES).write_bytes(zstandard.compress(b"".join([*lines[:3], b"{}\n", *lines[3:]])))
        reasons = [problem.reason for problem in Case.open(folder).cluster().missing_parts]
        assert f"{ZNODES}, line 4: no path that begins with /." in reasons

    def test_hash_removed(self, folder):
        """A file without hash is not trusted."""
        items = json.loads((folder / "case.json").read_text())["items"]
        changed(folder, items=[{"path": item["path"]} for item in items])
        assert {problem.reason for problem in Case.open(folder).damaged} == {"has no hash in case.json"}

    @pytest.mark.parametrize("path", ["../../etc/passwd", "/etc/passwd", "a/../../b", "", "x\0y", 5])
    def test_path_that_leads_out(self, folder, path):
        """A path that leads out of the case is told and never opened."""
        changed(folder, items=[{"path": path, "sha256": "0"}, "junk"])
        case = Case.open(folder)
        assert (dict(case.items), [problem.path for problem in case.damaged]) == ({}, ["case.json", "case.json"])

    def test_link_that_leads_out(self, folder, tmp_path):
        """Nor is a symbolic link followed out of it."""
        (tmp_path / "secret").write_text("password=x")
        (folder / "brokers/1/server.properties").unlink()
        (folder / "brokers/1/server.properties").symlink_to(tmp_path / "secret")
        assert Case.open(folder).server_properties() == {}

    def test_what_is_no_file(self, folder):
        """A FIFO, a link to a device, one that leads round in a circle, a name that no file can have: told, never waited for."""
        logs = folder / "brokers/1/logs"
        os.mkfifo(logs / "fifo.log")
        (logs / "device.log").symlink_to("/dev/zero")
        (logs / "circle.log").symlink_to("circle.log")
        names = ("fifo.log", "device.log", "circle.log", "\ud800.log")
        changed(folder, items=[{"path": f"brokers/1/logs/{name}", "sha256": "0"} for name in names])
        case = Case.open(folder)
        assert (dict(case.items), [problem.path for problem in case.damaged]) == ({}, ["case.json"] * 4)
        (folder / ZNODES).unlink()
        os.mkfifo(folder / ZNODES)
        with pytest.raises(CaseError, match="not a regular file"):
            list(case.znodes())

    @pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
    def test_a_manifest_that_is_no_file(self, folder, make):
        """Nor is a manifest waited for, or read without end."""
        (folder / "case.json").unlink()
        make(folder / "case.json")
        with pytest.raises(CaseError, match="not a regular file"):
            Case.open(folder)

    @pytest.mark.parametrize("name", ["²", "٣", "-1", "x", "9" * 200])
    def test_broker_that_is_none(self, tmp_path, name):
        """A folder that no broker can have is left out."""
        with CaseWriter.create(tmp_path / "case", command="test") as case:
            case.file(f"brokers/{name}/server.properties", b"a=1")
            case.file(f"brokers/{name}/logs/server.log", b"INFO Kafka version : 0.9.0.1 (x)")
        case = Case.open(tmp_path / "case")
        assert (case.server_properties(), case.logged_versions()) == ({}, ())
        assert all(isinstance(item, Item) for item in case.items.values())


class TestLogFiles:
    def test_lines(self, folder):
        """Each log with its broker, its path and its lines."""
        (found,) = [(broker, path, list(lines)) for broker, path, lines in Case.open(folder).log_files()]
        assert found[:2] == (1, "brokers/1/logs/server.log")
        assert found[2][1] == "?\n"


def printed(broker, at, **settings):
    """What a broker prints when it starts."""
    told = "".join(f"\t{name.replace('_', '.')} = {value}\n" for name, value in settings.items())
    return f"[{at},000] INFO KafkaConfig values: \n\tbroker.id = {broker}\n{told} (kafka.server.KafkaConfig)\n"


class TestPrintedSettings:
    @pytest.fixture
    def case(self, tmp_path):
        """Of broker 1 there is a file; broker 2 started twice, the second time in a rolled log's successor, and in a log of 3."""
        early, late = (printed(2, f"2026-01-0{day} 10:00:00", min_insync_replicas=day) for day in (1, 2))
        with CaseWriter.create(tmp_path / "case", command="test") as case:
            case.file("brokers/1/server.properties", b"min.insync.replicas=3\n")
            case.file("brokers/1/logs/server.log", printed(1, "2026-01-03 10:00:00", min_insync_replicas=9).encode())
            case.file("brokers/2/logs/server.log", b"INFO x\n" + late.encode())
            case.file("brokers/2/logs/server.log.1", early.encode())
            case.file("brokers/3/logs/server.log", early.encode())
        return Case.open(tmp_path / "case")

    def test_the_last_of_each_broker(self, case):
        """Under the id that it prints; a file that is there counts instead."""
        told = case.printed_settings()
        assert {broker: one.settings["min.insync.replicas"] for broker, one in told.items()} == {2: "2"}
        assert told[2].proof == "brokers/2/logs/server.log:2"
        assert case.cluster().started_with == {
            1: {"min.insync.replicas": "3"}, 2: {"broker.id": "2", "min.insync.replicas": "2"}
        }  # fmt: skip

    @pytest.mark.parametrize(
        ("place", "starts", "left"),
        [
            ("/copies/old", ("/data/old", "/data/new,C:\\logs\\more"), True),
            ("/copies/more", ("/data/more", "/data/new,C:\\logs\\more"), False),
            ("/copies/new/", ("/data/old", "/data/new"), False),
            ("/copies/of-broker-2", ("/data/old", "/data/new"), False),
            ("/copies/old", ("/data/old",), False),
        ],
        ids=["left", "one of two", "in use", "of a name of its own", "started once"],
    )
    def test_a_log_dir_that_its_broker_left(self, tmp_path, place, starts, left):
        """What it holds is no copy of that broker any more; the case says so, and what the broker uses instead."""
        with CaseWriter.create(tmp_path / "case", command="test") as case:
            for day, dirs in enumerate(starts, start=1):
                case.file(f"brokers/2/logs/server.log.{day}", printed(2, f"2026-01-0{day} 10:00:00", log_dirs=dirs).encode())
            listed = json.dumps({"row": "log_dir", "place": place, "listed_at": 9})
            case.file("brokers/2/log_dirs.json", f"{listed}\n".encode())
        case = Case.open(tmp_path / "case")
        assert [one.place for one in case.log_dirs()] == ([] if left else [place])
        said = [part.reason for part in case.cluster().missing_parts if part.path == "brokers/2/log_dirs.json"]
        assert said == ([f"lists {place}; at its last start, broker 2 used /data/new, C:\\logs\\more instead"] if left else [])

    def test_what_counts(self, case):
        """As the broker's own file would, and no default is assumed."""
        settings = Settings(case.cluster(), KafkaVersion.parse("2.8.2"))
        own, default = (settings.of_broker(key, 2) for key in ("min.insync.replicas", "unclean.leader.election.enable"))
        assert (own.value, own.origin, default.origin) == ("2", PRINTED, BUILT_IN)


class TestDerived:
    def test_no_evidence(self, folder):
        """A result is kept with the case and found again; it is not in the manifest and damages nothing."""
        before = Case.open(folder)
        result = before.derived("segments", "0123abc")
        assert not result.exists()
        result.mkdir()
        (result / "part-0.parquet").write_text("x")
        after = Case.open(folder)
        assert (after.digest, after.damaged, after.derived("segments", "0123abc")) == (before.digest, (), result)
        assert result.is_relative_to(folder)

    def test_case_that_cannot_be_written_to(self, folder, monkeypatch):
        """A new result goes to a temporary folder; one that is there is used."""
        case = Case.open(folder)
        case.derived("segments", "old").mkdir()
        monkeypatch.setattr("os.access", lambda *_: False)  # the tests may run as root, who may write everywhere
        assert case.derived("segments", "old").is_relative_to(folder)
        new = case.derived("segments", "new")
        assert not new.is_relative_to(folder)
        assert (new.parent.is_dir(), new, new.exists()) == (True, case.derived("segments", "new"), False)

    def test_link_out_of_the_case(self, folder, tmp_path):
        """A case from elsewhere does not choose where we write."""
        (folder / "derived").symlink_to(tmp_path)
        assert not Case.open(folder).derived("segments", "key").resolve().is_relative_to(tmp_path)
        assert not (tmp_path / "segments").exists()

    @pytest.mark.parametrize("key", ["", "..", "a/b", "../../x", "a b"])
    def test_key_that_is_no_name(self, folder, key):
        """Nor does a key."""
        with pytest.raises(CaseError):
            Case.open(folder).derived("segments", key)
