"""The doors: what comes in from the outside, and what does not. Each is tried from the front: by what a collection makes of it."""

import gzip
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from casebook.case import folder as case_folder
from casebook.case.case import Case
from casebook.collect import outside
from casebook.collect.collection import collect_case
from casebook.collect.files import files, plain
from casebook.errors import CasebookError
from tests.collect.zookeeper_files import life, write_log, write_snapshot

SECRET = "only-for-me-7341"


def collected(tmp_path: Path, **given: object) -> Case:
    """A case, beside a file that is always there."""
    (tmp_path / "server.properties").write_text("broker.id=9\n")
    return Case.open(collect_case(tmp_path / "case", properties={9: tmp_path / "server.properties"}, **given))


def told(case: Case) -> dict[str, str]:
    """Why parts are missing."""
    return {problem.path: problem.reason for problem in case.could_not_collect}


def left_out(case: Case) -> tuple[str, ...]:
    """What the case says it is without."""
    return case_folder.left_out(case_folder.manifest(case_folder.manifest_bytes(case.folder), case.folder))


def everything(case: Case) -> bytes:
    """All bytes of a case."""
    return b"".join(path.read_bytes() for path in case.folder.rglob("*") if path.is_file())


@pytest.fixture
def private(tmp_path: Path) -> Path:
    """A file for its owner alone, outside of what is given."""
    path = tmp_path / "elsewhere" / "private"
    path.parent.mkdir()
    path.write_text(f"{SECRET}\n")
    path.chmod(0o600)
    return path


@pytest.fixture
def given(tmp_path: Path) -> Path:
    """A folder that is given, with a log."""
    folder = tmp_path / "given"
    folder.mkdir()
    (folder / "server.log").write_text("one\n")
    return folder


LINKS: dict[str, Callable[[Path, Path], object]] = {
    "to it": lambda there, private: there.symlink_to(private),
    "by dots": lambda there, private: there.symlink_to(Path("..") / private.parent.name / private.name),
    "by dots from the root": lambda there, private: there.symlink_to(there.parent / ".." / private.parent.name / private.name),
    "over another link": lambda there, private: (
        (there.parent / "way").symlink_to(private.parent),
        there.symlink_to("way/private"),
    ),
    "hidden in a loop of dots": lambda there, private: there.symlink_to(
        f"./.././{there.parent.name}/../{private.parent.name}/private"
    ),
}


class TestLinks:
    @pytest.mark.parametrize("kind", LINKS)
    @pytest.mark.parametrize("by", ["folder", "pattern"])
    def test_out_of_a_folder_of_logs(self, tmp_path: Path, given: Path, private: Path, kind: str, by: str) -> None:
        """A private file is not taken by a link that somebody laid there, and the link is named."""
        LINKS[kind](given / "stolen.log", private)
        paths = [given] if by == "folder" else outside.matches(given / "*.log")
        case = collected(tmp_path, logs={1: paths}, clients={"c": paths}, ledgers={"l": paths})
        assert SECRET.encode() not in everything(case)
        assert "was not followed: pass its target itself" in told(case)["brokers/1/logs/stolen.log"]
        assert "brokers/1/logs/stolen.log" in left_out(case)
        assert (case.folder / "brokers/1/logs/server.log").read_text() == "one\n"

    def test_out_of_a_log_dir(self, tmp_path: Path, private: Path) -> None:
        """Neither a checkpoint nor a segment nor a partition, not when listed and not when copied."""
        log_dir = tmp_path / "kafka-logs"
        (log_dir / "t-0").mkdir(parents=True)
        (private.parent / "t-1").mkdir()
        (log_dir / "meta.properties").write_text("version=0\nbroker.id=1\n")
        (log_dir / "cleaner-offset-checkpoint").symlink_to(private)
        (log_dir / "t-0" / f"{0:020d}.log").write_bytes(b"0" * 10)
        (log_dir / "t-0" / f"{5:020d}.log").symlink_to(private)
        (log_dir / "t-1").symlink_to(private.parent / "t-1")
        case = collected(tmp_path, log_dirs=[(None, str(log_dir))], copy_segments=["t"])
        (found,) = case.log_dirs()
        assert {"cleaner-offset-checkpoint", f"t-0/{5:020d}.log", "t-1"} == {problem.path for problem in found.problems}
        assert [(one.topic, one.partition, len(one.segments)) for one in found.replicas] == [("t", 0, 1)]
        assert SECRET.encode() not in everything(case)

    def test_out_of_zookeepers_folder(self, tmp_path: Path) -> None:
        """The files of another cluster's ZooKeeper; they are taken where they are named themselves."""
        other = tmp_path / "other" / "version-2"
        other.mkdir(parents=True)
        write_log(other, list(life()))
        (tmp_path / "given").mkdir()
        (tmp_path / "given" / "version-2").symlink_to(other)
        assert "neither a snapshot nor" in told(collected(tmp_path, zookeeper_data=[tmp_path / "given"]))["ZooKeeper's files"]
        (tmp_path / "second").mkdir()
        (tmp_path / "named").symlink_to(other)
        assert Case.open(collect_case(tmp_path / "second" / "case", zookeeper_data=[tmp_path / "named"])).has_history

    def test_that_stay_within(self, tmp_path: Path, given: Path) -> None:
        """Kubernetes' ``..data``, and the current log beside the dated ones: followed, and no line comes twice."""
        (given / "..2024_05").mkdir()
        (given / "..2024_05" / "controller.log").write_text("two\n")
        (given / "..data").symlink_to("..2024_05")
        (given / "controller.log").symlink_to("..data/controller.log")
        (given / "gc.log.2024").write_text("three\n")
        (given / "gc.log").symlink_to(given / "gc.log.2024")
        case = collected(tmp_path, logs={1: [given]})
        assert case.could_not_collect == ()
        logs = {item.path.rpartition("/")[2]: (case.folder / item.path).read_text() for item, *_ in case.logs()}
        assert logs == {"server.log": "one\n", "controller.log": "two\n", "gc.log.2024": "three\n"}

    def test_that_somebody_named(self, tmp_path: Path, given: Path) -> None:
        """It is their word: a log, a folder and a log dir may be links."""
        (tmp_path / "log").symlink_to(given / "server.log")
        (tmp_path / "folder").symlink_to(given)
        (tmp_path / "disk").mkdir()
        (tmp_path / "disk" / "meta.properties").write_text("version=0\nbroker.id=1\n")
        (tmp_path / "log-dir").symlink_to(tmp_path / "disk")
        case = collected(
            tmp_path, logs={1: [tmp_path / "log"], 2: [tmp_path / "folder"]}, log_dirs=[(None, str(tmp_path / "log-dir"))]
        )
        assert case.could_not_collect == ()
        assert {"brokers/1/logs/log", "brokers/2/logs/server.log", "brokers/1/log_dirs.json"} < set(case.items)

    def test_round_in_a_circle(self, tmp_path: Path, given: Path) -> None:
        """Told, in no time, also where a pattern goes down any number of folders."""
        (given / "a.log").symlink_to("b.log")
        (given / "b.log").symlink_to("a.log")
        for name in ("x", "y"):
            (given / name).symlink_to(".")
        case = collected(tmp_path, logs={1: outside.matches(given / "**" / "*.log")})
        assert "circle" in told(case)["brokers/1/logs/a.log"]
        assert {"brokers/1/logs/server.log"} < set(case.items)
        assert len(case.items) == 2

    def test_a_folder_that_becomes_a_link(self, tmp_path: Path, given: Path, private: Path) -> None:
        """Between the listing and the opening."""
        (given / "t-0").mkdir()
        (given / "t-0" / "private").write_text("mine\n")
        with outside.folder(given) as held:
            assert [entry.name for entry in held.entries("t-0")] == ["private"]
            (given / "t-0").rename(given / "gone")
            (given / "t-0").symlink_to(private.parent)
            with pytest.raises(OSError, match="not followed"), held.opened("t-0/private"):
                pytest.fail("it was opened")
            (tmp_path / "given").rename(tmp_path / "was")
            (tmp_path / "given").symlink_to(private.parent)
            with held.opened("server.log") as file:
                assert file.read() == b"one\n"

    def test_a_file_that_becomes_one(self, given: Path, private: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Between the look and the opening, which no look at a name can see."""
        look = outside._refuse

        def swapped(found: os.stat_result) -> None:
            look(found)
            if (given / "server.log").is_file() and not (given / "server.log").is_symlink():
                (given / "server.log").unlink()
                (given / "server.log").symlink_to(private)

        monkeypatch.setattr(outside, "_refuse", swapped)
        with outside.folder(given) as held, pytest.raises(OSError), held.opened("server.log"):
            pytest.fail("it was opened")


def fifo(path: Path) -> None:
    """One that nobody writes into: who opens it as a file waits."""
    os.mkfifo(path)


def listening(path: Path) -> None:
    """A socket of a daemon."""
    with socket.socket(socket.AF_UNIX) as bound:
        here = Path.cwd()
        os.chdir(path.parent)  # its name may have 108 bytes
        bound.bind(path.name)
        os.chdir(here)


SPECIAL = {"a FIFO": fifo, "a socket": listening}


class TestWhatIsNoFile:
    @pytest.mark.parametrize("kind", SPECIAL)
    def test_everywhere(self, tmp_path: Path, given: Path, kind: str) -> None:
        """By every option that reads a file: skipped, named, in no time, and what else was given is there."""
        SPECIAL[kind](given / "special.log")
        log_dir = tmp_path / "kafka-logs"
        (log_dir / "t-0").mkdir(parents=True)
        SPECIAL[kind](log_dir / "t-0" / f"{0:020d}.log")
        SPECIAL[kind](log_dir / "cleaner-offset-checkpoint")
        SPECIAL[kind](log_dir / "meta.properties")
        zookeeper = tmp_path / "zookeeper"
        zookeeper.mkdir()
        SPECIAL[kind](zookeeper / "log.1")
        special = given / "special.log"
        arguments = ["--properties", f"1={special}", "--logs", f"1={given}", "--logs", f"2={given}/*.log", "--client", f"c={special}",
                     "--ledger", f"l={special}", "--log-dirs", f"1={log_dir}", "--zookeeper-data", str(zookeeper),
                     "--zookeeper-dump", str(special), "--copy-segments", "t", "--out", str(tmp_path / "case")]  # fmt: skip
        code = "from casebook.cli import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", code, "collect", *arguments], capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 3, done.stderr
        case = Case.open(tmp_path / "case")
        reasons = told(case)
        for part in ("brokers/1/server.properties", "brokers/1/logs/special.log", "brokers/2/logs/special.log", "the znode dump",
                     "clients/l/ledgers/special.log"):  # fmt: skip
            assert kind in reasons[part], part
            assert part in left_out(case)
        assert kind in reasons["clients/c/config/special.log"] or "not a settings file" in reasons["clients/c/config/special.log"]
        assert "ZooKeeper's files" in reasons
        (found,) = case.log_dirs()
        assert {p.path for p in found.problems} == {f"t-0/{0:020d}.log", "cleaner-offset-checkpoint", "meta.properties"}
        assert all(kind in problem.reason for problem in found.problems)
        assert {"brokers/1/logs/server.log", "brokers/2/logs/server.log"} <= set(case.items)

    @pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "/proc/self/environ", "/proc/kmsg"])
    def test_of_the_kernel(self, tmp_path: Path, path: str) -> None:
        """Neither devices nor what the kernel makes up, even where somebody names it."""
        case = collected(tmp_path, logs={1: [Path(path)]})
        (reason,) = told(case).values()
        assert "it is a device" in reason or "generated by the kernel" in reason
        assert len(case.items) == 1

    def test_credentials(self, tmp_path: Path) -> None:
        """A FIFO keeps nobody waiting there either."""
        fifo(tmp_path / "c")
        case = collected(tmp_path, zookeeper="127.0.0.1:1", credentials=tmp_path / "c")
        assert "it is a FIFO" in told(case)["ZooKeeper"]

    def test_a_folder_without_files(self, tmp_path: Path, given: Path) -> None:
        """It is named, as is one where a file is wanted: what was given is in the case, or it is said."""
        (given / "below").mkdir()
        (given / "below" / "deeper").mkdir()
        case = collected(tmp_path, logs={1: [given / "below"], 2: [given]}, zookeeper_dump=given)
        assert "it is a folder, not a file" in told(case)["brokers/1/logs/below"]
        assert "it is a folder, not a file" in told(case)["the znode dump"]
        assert [item.path for item, *_ in case.logs()] == ["brokers/2/logs/server.log"]

    @pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
    def test_closed_to_us(self, tmp_path: Path, given: Path) -> None:
        """A file and a folder without permission are named, the rest is taken."""
        (given / "closed.log").write_text("x\n")
        (given / "closed.log").chmod(0)
        (tmp_path / "shut").mkdir(mode=0)
        case = collected(tmp_path, logs={1: [given], 2: [tmp_path / "shut"]})
        assert "Permission denied" in told(case)["brokers/1/logs/closed.log"]
        assert "Permission denied" in told(case)["brokers/2/logs/shut"]

    @pytest.mark.parametrize("name", [b"a\nb.log", b"\xff\xfe.log", "ä\u202e.log".encode()])
    def test_names(self, tmp_path: Path, given: Path, name: bytes) -> None:
        """Of whatever bytes: what lies under it is taken, and the case is one."""
        Path(os.fsdecode(os.fsencode(given) + b"/" + name)).write_text("two\n")
        Path(os.fsdecode(os.fsencode(given) + b"/" + name + b"-link")).symlink_to("/etc/passwd")
        case = collected(tmp_path, logs={1: [given]})
        assert case.damaged == ()
        assert len(case.logs()) == 2
        assert len(left_out(case)) == 1
        assert all("\n" not in problem.path + problem.reason for problem in case.could_not_collect)
        json.loads((case.folder / "case.json").read_text(encoding="utf-8"))


PACKS = {".gz": gzip.compress, ".zst": zstandard.ZstdCompressor().compress}


def pieces_of(count: int) -> list[bytes]:
    """Lines, shared out among so many frames, of which none repeats another."""
    lines = [b"[2024-05-01 11:03:%02d,%03d] INFO %d (kafka.server.KafkaServer)\n" % (n, n * n, n**7) for n in range(9)]
    return [b"".join(lines[frame::count]) for frame in range(count)]


class TestCutPacks:
    @pytest.mark.parametrize("frames", [1, 2, 3])
    @pytest.mark.parametrize("suffix", PACKS)
    def test_at_every_byte(self, tmp_path: Path, suffix: str, frames: int) -> None:
        """Logs, ledgers and dumps: it is told, or all that was in the frames up to there is here, as of a pack of these alone."""
        packed = [PACKS[suffix](piece) for piece in pieces_of(frames)]
        ends = {sum(map(len, packed[:count])): b"".join(pieces_of(frames)[:count]) for count in range(1, frames + 1)}
        for size in range(len(b"".join(packed)) + 1):
            (tmp_path / f"{size}.log{suffix}").write_bytes(b"".join(packed)[:size])
        cut = [path for path in tmp_path.iterdir() if path.suffix == suffix]
        case = collected(tmp_path, logs={1: cut}, ledgers={"l": cut})
        missing = set(left_out(case))
        for size in range(len(b"".join(packed)) + 1):
            for item in (f"brokers/1/logs/{size}.log", f"clients/l/ledgers/{size}.log"):
                if size in ends:
                    assert (item in missing, (case.folder / item).read_bytes()) == (False, ends[size])
                else:
                    assert item in missing
            if size not in ends:
                with pytest.raises(OSError, match="ends before it is complete"):
                    list(plain.lines(tmp_path / f"{size}.log{suffix}", longest=100))

    @pytest.mark.parametrize("behind", [b"\x1f", b"\x1f\x8b", b"\x28\xb5", b"more"])
    @pytest.mark.parametrize("suffix", PACKS)
    def test_something_behind_it(self, tmp_path: Path, suffix: str, behind: bytes) -> None:
        """What begins like a frame, or like none, is not passed over."""
        path = tmp_path / f"server.log{suffix}"
        path.write_bytes(PACKS[suffix](b"one\n") + behind)
        case = collected(tmp_path, logs={1: [path]})
        assert "its pack is damaged" in told(case)["brokers/1/logs/server.log"]
        assert (case.folder / "brokers/1/logs/server.log").read_bytes() == b"one\n"

    def test_padding(self, tmp_path: Path) -> None:
        """Zeros behind gzip are no damage, as tapes leave them; frames that hold nothing are none."""
        (tmp_path / "a.log.gz").write_bytes(gzip.compress(b"one\n") + bytes(600))
        (tmp_path / "b.log.zst").write_bytes(b"\x50\x2a\x4d\x18\x03\0\0\0abc" + PACKS[".zst"](b"two\n"))
        case = collected(tmp_path, logs={1: [tmp_path / "a.log.gz", tmp_path / "b.log.zst"]})
        assert case.could_not_collect == ()
        assert [(case.folder / f"brokers/1/logs/{name}.log").read_text() for name in "ab"] == ["one\n", "two\n"]


class TestBombs:
    @pytest.mark.parametrize("suffix", PACKS)
    @pytest.mark.parametrize("unit", [b"\0" * 64, b"one line\n", b'{"path": 7}\n'])
    def test_packs(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, unit: bytes) -> None:
        """Of logs, ledgers and dumps no more comes out than is taken of a pack of its size; what came before is kept."""
        monkeypatch.setattr(plain, "LEAST_UNPACKED", 100_000)
        monkeypatch.setattr(plain, "MOST_TIMES", 20)
        bomb = tmp_path / f"server.log{suffix}"
        bomb.write_bytes(PACKS[suffix](unit * ((2 << 20) // len(unit))))
        case = collected(tmp_path, logs={1: [bomb]}, ledgers={"l": [bomb]}, zookeeper_dump=bomb)
        reasons = told(case)
        assert "over 20 times its own size: the rest is left out" in reasons["brokers/1/logs/server.log"]
        assert case.items["brokers/1/logs/server.log"].bytes <= plain.most_unpacked(bomb.stat().st_size) + 1
        assert {"brokers/1/logs/server.log", "clients/l/ledgers/server.log", "the znode dump"} <= set(left_out(case))

    def test_an_honest_pack(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Logs that repeat themselves as logs do are taken whole."""
        monkeypatch.setattr(plain, "LEAST_UNPACKED", 1 << 10)
        log = b"".join(
            b"[2024-05-01 11:03:%02d,%03d] WARN [Consumer g] Connection to node -1 could not be established (o.a.k.c.NetworkClient)\n"
            % (n // 1000 % 60, n % 1000) for n in range(20_000)
        )  # fmt: skip
        for suffix, pack in PACKS.items():
            (tmp_path / f"server.log{suffix}").write_bytes(pack(log))
            case = Case.open(collect_case(tmp_path / f"case{suffix}", logs={1: [tmp_path / f"server.log{suffix}"]}))
            assert (case.could_not_collect, case.items["brokers/1/logs/server.log"].rows) == ((), 20_000)

    def test_ledgers_share_one_limit(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Of what they are unpacked."""
        monkeypatch.setattr(files, "COPY_LIMIT", 100_000)
        for name in ("a", "b"):
            (tmp_path / f"{name}.csv.gz").write_bytes(gzip.compress(b"id,topic\n" + b"1,t\n" * 20_000))
        case = collected(tmp_path, ledgers={"l": [tmp_path / "a.csv.gz", tmp_path / "b.csv.gz"]})
        assert case.items["clients/l/ledgers/a.csv"].rows == 20_001
        assert "unpacked, the ledgers have more than" in told(case)["clients/l/ledgers/b.csv"]

    def test_a_snapshot(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A sound one in gzip is read; with zeros without end it is named, and no more of it is unpacked than is taken."""
        folder = tmp_path / "version-2"
        folder.mkdir()
        snapshot = write_snapshot(folder, 9)
        content = snapshot.read_bytes()
        snapshot.write_bytes(gzip.compress(content))
        assert Case.open(collect_case(tmp_path / "sound", zookeeper_data=[folder])).has_history
        monkeypatch.setattr(plain, "LEAST_UNPACKED", 1 << 20)
        head = content[:16]  # magic, version and the id of the database
        snapshot.write_bytes(gzip.compress(head + bytes(64 << 20)))
        case = collected(tmp_path, zookeeper_data=[folder])
        assert "holds more than the" in told(case)[snapshot.name]
        assert not case.has_history

    def test_memory_is_flat(self, tmp_path: Path) -> None:
        """Of a dump of which no line can be read, however many there are."""
        (tmp_path / "dump.jsonl.gz").write_bytes(gzip.compress(b"x\n" * 300_000))
        code = (
            "import resource, sys; from pathlib import Path; from casebook.collect.zookeeper.dump import read_dump\n"
            "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
            "try: read_dump(Path(sys.argv[1]))\n"
            "except Exception as error: print(error)\n"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "dump.jsonl.gz")], capture_output=True, text=True, check=True
        )
        assert "no Kafka znodes" in done.stdout
        assert int(done.stdout.split()[-1]) < 12_000  # KiB; a text for each bad line takes 30,000


class TestNothing:
    def test_all_of_it_is_bad(self, tmp_path: Path) -> None:
        """Only then it is an error, which names all, and no case is left."""
        fifo(tmp_path / "pipe")
        with pytest.raises(CasebookError, match="None of the given sources") as caught:
            collect_case(
                tmp_path / "case", logs={1: [tmp_path / "pipe"]}, zookeeper_data=[tmp_path], zookeeper_dump=tmp_path / "none"
            )
        assert all(word in caught.value.cause for word in ("FIFO", "neither a snapshot nor", "No such file"))
        assert not (tmp_path / "case").exists()
