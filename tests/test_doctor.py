"""What the doctor says of machines that lack something, and of servers near by."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from markupsafe import escape

from casebook import doctor
from casebook.collect.zookeeper import reachable
from casebook.doctor import folders, machine, neighbours
from casebook.doctor.examined import Examined
from casebook.machine import places
from casebook.notebook import start
from casebook.rehearsal.servers.cluster import PlayedCluster

NO_NETWORK = "-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=1"
MEMINFO = "MemTotal:       16314920 kB\nMemFree:          501232 kB\nMemAvailable:    8000000 kB\nBuffers:           65536 kB\n"


def casebook(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
    """The command as a process, in another environment."""
    command = [sys.executable, "-c", "from casebook.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=os.environ | environment)


def said(examined: tuple[Examined, ...], what: str) -> Examined:
    """What was said of one thing."""
    return next(one for one in examined if one.what == what)


def only(folder: Path, *commands: str) -> str:
    """A PATH with these commands alone."""
    folder.mkdir()
    for command in commands:
        (folder / command).symlink_to(Path(shutil.which(command)).resolve())
    return str(folder)


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """An environment of its own: nothing fetched, compiled, run or configured yet."""
    return {f"CASEBOOK_{what}": str(tmp_path / what.lower()) for what in ("CACHE", "RUNS", "CASES", "PROFILES")} | {
        "JAVA_HOME": ""
    }


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlayedCluster]:
    """Two brokers, started once."""
    with PlayedCluster(kafka="0.9.0.1", brokers=(1, 2), home=tmp_path_factory.mktemp("doctor") / "cluster") as cluster:
        yield cluster


class TestJava:
    """Without it, and without its compiler."""

    def test_without_java(self, bare, tmp_path):
        """Exit code 3; which notebooks are hit, which are not, and what to install."""
        done = casebook("doctor", PATH=only(tmp_path / "bin"), **bare)
        assert done.returncode == 3
        assert "FAIL  Java: none" in done.stdout
        assert "without it: segments and logs stay unread" in done.stdout
        assert "00, 05, 20, 30 and 80 work" in done.stdout
        assert "try: Install a JDK 17 or newer" in done.stdout
        assert "Traceback" not in done.stderr

    @pytest.mark.parametrize(("notebook", "sample"), [("20", "leader_minus_one"), ("80", "isr_shrunk_loss")])
    def test_what_is_said_to_work_without_java_does(self, notebook, sample, bare, tmp_path):
        """A case that nobody has scanned before is read to the end."""
        case = tmp_path / "case"
        shutil.copytree(places.samples_dir() / sample, case, ignore=shutil.ignore_patterns("derived"))
        done = casebook("run", notebook, "--source", str(case), PATH=only(tmp_path / "bin"), **bare)
        assert done.returncode in (1, 2), done.stderr

    def test_without_compiler_and_network(self, bare, tmp_path):
        """A JRE does not do; nor do jars that are neither here nor to be had."""
        done = casebook("doctor", PATH=only(tmp_path / "bin", "java"), JAVA_TOOL_OPTIONS=NO_NETWORK, **bare)
        assert done.returncode == 3
        assert "ok    Java: " in done.stdout
        assert "FAIL  Java compiler: none" in done.stdout
        assert "Maven Central" in done.stdout

    def test_no_compiler_is_needed_twice(self, monkeypatch, tmp_path):
        """What was compiled once stays."""
        from casebook.spark import jvm

        jvm.source_jars()
        monkeypatch.setenv("PATH", only(tmp_path / "bin", "java"))
        monkeypatch.delenv("JAVA_HOME", raising=False)
        assert said(doctor.examine(), "Java compiler").ok


def test_notebook_00_says_the_same(monkeypatch, tmp_path):
    """What is there, what is not, what that costs, and what to do; what could not be told has a mark of its own."""
    monkeypatch.setenv("PATH", only(tmp_path / "bin"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    examined = (*doctor.examine(), Examined(what="Moon", ok=None, found="not looked at"))
    monkeypatch.setattr(doctor, "examine", lambda: examined)
    (shown,) = start.self_check().parts
    for one in examined:
        assert escape(one.found) in shown
        assert one.ok or (escape(one.without) in shown and escape(one.try_) in shown)
    assert shown.count("cb-could_not_check") == 1


class TestMemory:
    """What may be taken, by the kernel's own files (Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/memory.rst)."""

    @pytest.fixture
    def proc(self, tmp_path: Path) -> Path:
        proc = tmp_path / "proc"
        (proc / "self").mkdir(parents=True)
        (proc / "meminfo").write_text(MEMINFO)
        return proc

    def _group(self, folder: Path, **files: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name.replace("_", ".", 1)).write_text(content)

    def test_no_limit(self, proc, tmp_path):
        """What the kernel says is free."""
        (proc / "self" / "cgroup").write_text("0::/user.slice\n")
        self._group(tmp_path / "user.slice", memory_max="max\n", memory_current="1000\n", memory_stat="inactive_file 5\n")
        assert machine.available(proc=proc, cgroups=tmp_path) == 8_000_000 * 1024

    def test_a_limit_above_counts(self, proc, tmp_path):
        """A limit less what is used, but for cached files, which the kernel gives back; of all groups the tightest."""
        (proc / "self" / "cgroup").write_text("0::/pod/container\n")
        self._group(tmp_path / "pod", memory_max="2000000000\n", memory_current="700000000\n", memory_stat="anon 1\ninactive_file 200000000\n")  # fmt: skip
        self._group(tmp_path / "pod/container", memory_max="max\n", memory_current="5\n", memory_stat="inactive_file 0\n")
        assert machine.available(proc=proc, cgroups=tmp_path) == 1_500_000_000

    def test_inside_a_container(self, proc, tmp_path):
        """A container sees its own group at the top, under the path that its host knows it by."""
        (proc / "self" / "cgroup").write_text("0::/kubepods/burstable/pod7/c1\n")
        self._group(tmp_path, memory_max="1000000000\n", memory_current="100000000\n", memory_stat="inactive_file 0\n")
        assert machine.available(proc=proc, cgroups=tmp_path) == 900_000_000

    def test_version_1(self, proc, tmp_path):
        """Other names, and a hierarchy of its own."""
        (proc / "self" / "cgroup").write_text("9:name=systemd:/\n4:memory:/docker/abc\n0::/\n")
        folder = tmp_path / "memory" / "docker" / "abc"
        folder.mkdir(parents=True)
        (folder / "memory.limit_in_bytes").write_text("3000000000\n")
        (folder / "memory.usage_in_bytes").write_text("1000000000\n")
        (folder / "memory.stat").write_text("total_inactive_file 500000000\n")
        assert machine.available(proc=proc, cgroups=tmp_path) == 2_500_000_000

    def test_no_linux(self, tmp_path):
        """Unknown is not 0."""
        assert machine.available(proc=tmp_path, cgroups=tmp_path) is None

    def test_this_machine(self):
        """More than nothing, and no more than there is."""
        total = int((Path("/proc/meminfo").read_text().split("MemTotal:")[1]).split()[0]) * 1024
        assert 0 < machine.available() <= total

    def test_what_spark_is_configured_to_take(self, monkeypatch):
        """More heap than any machine has does not fit."""
        monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--driver-memory 4096g pyspark-shell")
        examined = said(doctor.examine(), "Memory")
        assert examined.ok is False
        assert "4398.0 GB of it for Spark's heap" in examined.found  # 4096 GiB


class TestFolders:
    """Where is written to, and what profiles name."""

    def test_no_room(self, monkeypatch):
        """A disk with less than is wanted."""
        free = shutil.disk_usage(places.checkout()).free
        examined = folders._room("Runs folder", places.checkout(), free * 2, "CASEBOOK_RUNS", "no run can be kept.")
        assert examined.ok is False
        assert "CASEBOOK_RUNS" in examined.try_

    def test_a_folder_that_cannot_be_made(self, monkeypatch, tmp_path):
        """Its place is taken by a file."""
        (tmp_path / "runs").write_text("")
        monkeypatch.setenv("CASEBOOK_RUNS", str(tmp_path / "runs" / "here"))
        assert "cannot be written to" in said(doctor.examine(), "Runs folder").found

    def test_profiles(self, monkeypatch, tmp_path):
        """One that can be used, one whose files are gone, one that is no TOML; secrets are not quoted."""
        secret = "hunter2-Pl4nted"
        (tmp_path / "zookeeper.properties").write_text(f"username=reader\npassword={secret}\n")
        (tmp_path / "good.toml").write_text(
            f'zookeeper = "zk1:2181/kafka"\ncredentials = "{tmp_path}/zookeeper.properties"\n[log_dirs]\n1 = "s3a://bucket/logs"\n'
        )
        (tmp_path / "moved.toml").write_text('zookeeper = "zk1:2181"\n[logs]\n1 = "/nowhere/logs"\n')
        (tmp_path / "torn.toml").write_text(f"password = {secret}\n")
        monkeypatch.setenv("CASEBOOK_PROFILES", str(tmp_path))
        examined = doctor.examine()
        assert said(examined, "Profile live:good").ok
        assert "/nowhere/logs does not exist" in said(examined, "Profile live:moved").found
        assert said(examined, "Profile live:torn").ok is False
        assert secret not in str(examined)


class TestNeighbours:
    """A real cluster of the oldest release, and places where nobody is."""

    def test_a_real_cluster(self, cluster):
        """ZooKeeper with its release, Kafka's as far as znodes tell, and brokers one by one: also one that has just died."""
        done = casebook("doctor", "--zookeeper", cluster.zookeeper, "--bootstrap", cluster.bootstrap)
        assert done.returncode == 0, done.stdout
        assert f"ok    ZooKeeper: {cluster.zookeeper}: 2 brokers registered" in done.stdout
        assert "release 3.4." in done.stdout  # what 0.9.0.1 brings along
        assert "ok    Kafka release: 0.9.0.1, inferred from the znodes' formats, which allow 0.9.0.0 to 0.9.0.1" in done.stdout
        assert "ok    Brokers: 2 of 2 take connections" in done.stdout
        assert "ok    Bootstrap: 2 of 2 take connections" in done.stdout
        cluster.kill(2)
        examined = said(doctor.examine(cluster.zookeeper), "Brokers")
        assert examined.ok is False
        assert examined.found == f"1 of 2 take connections; 2 at {cluster.address(2)}: connection refused"

    def test_a_broker_is_asked_nothing(self):
        """Not one byte is sent: 0.9 closes the connection of whoever asks what it does not know."""
        heard = []
        with socket.create_server(("127.0.0.1", 0)) as server:

            def listen() -> None:
                with server.accept()[0] as connection:
                    heard.append(connection.recv(100))

            listening = Thread(target=listen)
            listening.start()
            assert said(doctor.examine(bootstrap=f"127.0.0.1:{server.getsockname()[1]}"), "Bootstrap").ok
            listening.join(10)
        assert heard == [b""]

    @pytest.mark.parametrize("server", [f"{'x' * 70}.com:9092", "a..b:1", "h:abc", "localhost:99999"])
    def test_addresses_that_there_cannot_be(self, server: str):
        """Brokers register what they like: a reason, and no crash."""
        assert reachable.why_not([server])[server]
        assert reachable.zookeeper_version(server) is None

    def test_no_broker_is_registered(self):
        """All of none is not as needed."""
        examined = neighbours._reached("Brokers", {})
        assert (examined.ok, examined.found) == (False, "none is registered")
        assert examined.try_

    def test_nobody_is_there(self):
        """Each place with its reason."""
        done = casebook("doctor", "--zookeeper", "127.0.0.1:1/kafka", "--bootstrap", "127.0.0.1:1,nowhere.invalid:9092,9092")
        assert done.returncode == 3
        assert "FAIL  ZooKeeper: No ZooKeeper server answered" in done.stdout
        assert "FAIL  Bootstrap: '9092' is not host:port" in done.stdout
        closed = said(doctor.examine(bootstrap="127.0.0.1:1,nowhere.invalid:9092"), "Bootstrap")
        assert (
            closed.found
            == "0 of 2 take connections; 127.0.0.1:1: connection refused; nowhere.invalid:9092: its name does not resolve"
        )
