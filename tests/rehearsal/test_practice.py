"""Practice: somebody heals a real cluster with the scripts that lie there, and is told when it is healed, and not before."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from types import SimpleNamespace

import pytest

from casebook.collect import sources
from casebook.errors import RehearsalError
from casebook.facts.disks import OFFSETS_TOPIC
from casebook.rehearsal import INCIDENTS, health, practise
from casebook.rehearsal.plays import kill_before_drain as script
from casebook.rehearsal.practice import SETTLES, _Watch
from casebook.rehearsal.truth import Expected
from tests.rehearsal.test_nothing_left import gone, running_in

CASEBOOK = [sys.executable, "-c", "from casebook.cli import main; main()"]
SLOW = 120.0


class Practice:
    """A practice in a process of its own, and what it has said so far."""

    def __init__(self, out: Path, name: str = "kill-before-drain") -> None:
        self.folder, self.said = out / "practice", []
        command = [*CASEBOOK, "rehearse", name, "--practice", "--out", str(out)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self._lines: Queue[str | None] = Queue()
        Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def until(self, words: str) -> str:
        """The next line with these words."""
        deadline = time.monotonic() + SLOW
        while True:
            try:
                line = self._lines.get(timeout=max(0.1, deadline - time.monotonic()))
            except Empty:
                raise AssertionError(f"did not say {words!r} in time; said {''.join(self.said)}") from None
            if line is None:
                raise AssertionError(f"ended before it said {words!r}; said {''.join(self.said)}")
            self.said.append(line)
            if words in line:
                return line

    def run(self, script: str, *arguments: str, typed: str = "") -> str:
        """What a script prints, run as a person would."""
        command = [f"./{script}", *arguments]
        done = subprocess.run(command, cwd=self.folder, input=typed, capture_output=True, text=True, timeout=SLOW, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    @property
    def zookeeper(self) -> str:
        """The address, as it is told."""
        return re.search(r"ZooKeeper +(\S+)", "".join(self.said))[1]


def topics(rows: Iterable[Expected]) -> str:
    """How many partitions of each topic, as it is told."""
    return ", ".join(f"{topic} {n}" for topic, n in sorted(Counter(row.topic for row in rows).items()))


def process_of(broker: Path) -> int:
    """The process whose server.properties lie in a folder."""
    (process,) = running_in(str(broker.resolve() / "server.properties"))
    return process


@contextmanager
def practising(out: Path, name: str = "kill-before-drain") -> Iterator[Practice]:
    """``casebook rehearse NAME --practice``, at the moment when it first says what is wrong."""
    started = Practice(out, name)
    try:
        started.until("not healed")
        yield started
    finally:
        started.process.kill()
        started.process.wait()
        started.process.stdout.close()


@pytest.fixture(scope="module")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Practice]:
    """``casebook rehearse kill-before-drain --practice``, at the moment when it first says what is wrong."""
    with practising(tmp_path_factory.mktemp("practice") / "out") as started:
        yield started


class TestPractice:
    """In this order: what is found, what is tried, the end."""

    def test_the_cause_is_not_given_away(self, practice: Practice):
        """It says where everything is and what the symptom is, and not who was killed."""
        said = "".join(practice.said)
        assert re.search(r"ZooKeeper +127\.0\.0\.1:\d+/kafka", said)
        lost = [row for row in script.during_rows() if row.offline]
        assert f"{len(lost)} partitions without leader ({topics(lost)})" in said
        assert not re.search(r"[Kk]ill|broker [0-9]|brokers [0-9] and|dead|SIGKILL", said.replace("kill-before-drain", ""))

    def test_under_replicated_is_explained(self, practice: Practice):
        """How many, of which topics, and what ends it."""
        online = [row for row in script.during_rows() if not row.offline and len(row.isr) < len(row.replicas)]
        wanted = (
            f"{len(online)} partitions with a leader, and under-replicated: a replica is missing from the ISR, until its broker "
        )
        assert f"{wanted}runs and has caught up ({topics(online)})" in "".join(practice.said)

    def test_kafkas_own_tools_see_it(self, practice: Practice):
        """Those of that release, run as the text says: as many partitions without leader, three brokers registered."""
        unavailable = practice.run("kafka-topics.sh", "--zookeeper", practice.zookeeper, "--describe", "--unavailable-partitions")
        named = {tuple(re.findall(r"(?:Topic|Partition): (\S+)", line)) for line in unavailable.splitlines()}
        assert named == {(row.topic, str(row.partition)) for row in script.during_rows() if row.offline}
        assert "[1, 2, 3]" in practice.run("zookeeper-shell.sh", practice.zookeeper, typed="ls /brokers/ids\nquit\n")

    def test_the_notebooks_can_be_pointed_at_it(self, practice: Practice, tmp_path, monkeypatch):
        """The profile that lies there makes the live cluster a source."""
        monkeypatch.setenv("CASEBOOK_PROFILES", str(practice.folder / "profiles"))
        case = sources.open_source("live:practice", evidence=lambda: tmp_path / "evidence")
        assert case.cluster().live == {1, 2, 3}
        assert case.log_dirs() and case.has_history and case.server_properties()

    def test_not_before(self, practice: Practice):
        """With one of two brokers back it says what is left, and what was asked for in vain is answered."""
        assert "is running already" in practice.run("start-broker", "3")
        assert "There is no broker 9" in practice.run("start-broker", "9")
        assert "Broker 5 is registered." in practice.run("start-broker", "5")
        assert "2 partitions without leader (payments 2)" in practice.until("2 partitions without leader")
        assert "HEALED" not in "".join(practice.said)

    def test_healed_at_a_price(self, practice: Practice):
        """With the second one back, too, it is healed, after a time that is told; and what it came back without is counted."""
        shutil.rmtree(practice.folder / "broker-4" / "data" / "payments-3")  # its only copy
        assert "Broker 4 is registered." in practice.run("start-broker", "4")
        said = practice.until("HEALED")
        assert re.match(r"After \d+ (?:s|min).*: HEALED", said)
        produced = script.RECORDS * sum(row.topic != OFFSETS_TOPIC for row in script.during_rows())
        gone = f"{script.RECORDS} of {produced} acknowledged records are lost: {script.RECORDS} of payments-3 since you began."
        assert gone in said

    def test_a_broker_that_dies_again(self, practice: Practice):
        """It is said at once, and what is wrong again after it; one that is stopped by its script has not died."""
        assert "Broker 5 has ended." in practice.run("stop-broker", "5")
        os.kill(process_of(practice.folder / "broker-2"), signal.SIGKILL)
        practice.until("Broker 2 has died")
        practice.until("not healed")
        assert "Broker 5 has died" not in "".join(practice.said)

    def test_ctrl_c_ends_it(self, practice: Practice):
        """All servers go, their folder with them, and the scripts say that nobody practises here any more."""
        home = str((practice.folder / "broker-1").resolve().parent)
        practice.process.send_signal(signal.SIGINT)
        assert practice.process.wait(SLOW) == 0
        assert gone(home)
        late = subprocess.run(
            ["./stop-broker", "1"], cwd=practice.folder, capture_output=True, text=True, timeout=SLOW, check=False
        )
        assert (late.returncode, late.stderr) == (1, "Nobody practises here any more.\n")
        assert json.loads((practice.folder.parent / "truth.json").read_text())["incident"] == "kill-before-drain"


class TestADeath:
    """What is seen right after a broker died is not yet its absence: its znode lives until the session ends."""

    def test_a_clean_look_at_a_death_counts_for_nothing(self, tmp_path, monkeypatch):
        """Not healed, one clean look, a death: two clean looks heal only when its session has ended."""
        looks = iter([("1 partition without leader",), *[()] * 6])
        monkeypatch.setattr(health, "still_wrong", lambda *_, **__: next(looks))
        clock = SimpleNamespace(now=0.0)
        monkeypatch.setattr("casebook.rehearsal.practice.time", SimpleNamespace(monotonic=lambda: clock.now))
        monkeypatch.setattr("casebook.rehearsal.practice.EVERY", 0.0)
        told: list[str] = []
        counted = SimpleNamespace(said=lambda _: "")
        watch = _Watch(INCIDENTS["kill-before-drain"], None, counted, evidence=tmp_path, clients={}, tell=told.append)
        for died in ([], [], [2], [], []):
            watch.look(died)
        assert "Broker 2 has died" in told[1] and not any("HEALED" in line for line in told)
        clock.now += SETTLES
        watch.look([])
        assert "HEALED" not in told[-1]
        watch.look([])
        assert "HEALED" in told[-1]


class TestWhatCannotBePractised:
    @pytest.mark.parametrize("name", sorted(name for name, incident in INCIDENTS.items() if incident.practice is None))
    def test_it_says_so(self, name, tmp_path):
        """Nothing is started, and the error names what can be."""
        with pytest.raises(RehearsalError, match=r"cannot be practised.*leader-minus-one"):
            practise(name, out=tmp_path / "out", tell=print)
        assert not (tmp_path / "out").exists()

    def test_tools_that_are_not_at_hand(self, tmp_path):
        """A release whose own tools are elsewhere."""
        with pytest.raises(RehearsalError, match=r"3\.9\.2 is not possible.*0\.9\.0\.1, 2\.8\.2"):
            practise("leader-minus-one", kafka="3.9.2", out=tmp_path / "out", tell=print)
