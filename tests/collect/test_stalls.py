"""Every wait on ZooKeeper has an end, and so has a collection: what was had until then is kept."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from casebook.case import folder as case_folder
from casebook.case.case import Case
from casebook.collect.collection import collect_case
from casebook.collect.zookeeper import reachable
from casebook.collect.zookeeper.walk import reach, walk
from casebook.errors import CollectError
from casebook.facts.znodes import ReadOutcome
from tests.collect.false_zookeeper import FalseZooKeeper
from tests.collect.small_zookeeper import kafka
from tests.ends import PATIENCE as PATIENCE_OF_TESTS
from tests.ends import ends

MANY = kafka({f"t{n:02}": {p: [1, 2] for p in range(10)} for n in range(20)})
PATIENCE = 1.0


@contextmanager
def false(**behaviour: object) -> Iterator[FalseZooKeeper]:
    """A ZooKeeper for one test."""
    server = FalseZooKeeper(MANY, **behaviour)
    try:
        yield server
    finally:
        server.close()


def test_it_can_be_read() -> None:
    """The one that behaves gives what it holds: else the others would prove nothing."""
    with false() as server:
        found = walk(server.address)
    assert (found.problems, found.gave_up) == ((), None)
    assert {znode.path: znode.data for znode in found.znodes if znode.path in MANY} == MANY


class TestZooKeeper:
    @pytest.mark.parametrize("keeps", [6000, 1000, 0x7FFFFFFF])
    def test_answers_and_stalls(self, keeps: int) -> None:
        """Also where the session is so short that the connection is lost and found all the while, or so long that nobody pings."""
        with ends(), false(answers=60, keeps=keeps) as server:
            found = walk(server.address, timeout=PATIENCE, window=8)
        lost = "was lost and did not come back within"  # the connection, at the moment when patience ends
        assert "did not answer for" in found.gave_up or (keeps == 1000 and lost in found.gave_up)
        outcomes = {znode.outcome for znode in found.znodes}
        assert {ReadOutcome.READ, ReadOutcome.FAILED} <= outcomes

    def test_accepts_and_stalls(self) -> None:
        """No session is opened at all."""
        with ends(), false(opens=False) as server, pytest.raises(CollectError, match="No ZooKeeper server answered within"):
            walk(server.address, timeout=PATIENCE)

    @pytest.mark.parametrize("behaviour", [{"drip": 0.05}, {"answers": 2}, {"expires_after": 1}])
    def test_never_comes_to_anything(self, behaviour: dict) -> None:
        """A byte at a time, a question or two, or sessions that expire over and over, within the time of a whole collection."""
        with ends(), false(**behaviour) as server:
            try:
                made = collect(server, time_limit=3.0)
                assert made.could_not_collect
            except CollectError as error:
                assert "ZooKeeper" in str(error) or "cannot be read" in str(error)

    def test_a_slow_one_is_read_as_far_as_there_is_time(self, tmp_path: Path) -> None:
        """Each answer comes in time, and all of them would not; it takes no time of what else was given."""
        (tmp_path / "server.log").write_text("x\n")
        with false(pause=0.05) as server:
            given = {"zookeeper": server.address, "logs": {1: [tmp_path / "server.log"]}}
            made = Case.open(collect_case(tmp_path / "case", **given, timeout=PATIENCE, time_limit=3.0))
        told = {problem.path: problem.reason for problem in made.could_not_collect}
        assert "ZooKeeper's half of the time limit of 3 s was used up" in told["ZooKeeper"]
        assert made.items["brokers/1/logs/server.log"].rows == 1
        assert {ReadOutcome.READ, ReadOutcome.FAILED} <= {znode.outcome for znode in made.znodes()}
        assert case_folder.left_out(case_folder.manifest(case_folder.manifest_bytes(made.folder), made.folder))

    def test_a_look_has_an_end(self) -> None:
        """As the doctor takes: of answers that come late, too."""
        with ends(), false(pause=0.3) as server:
            reach(server.address, timeout=0.5)

    def test_the_word_srvr(self) -> None:
        """A byte at a time is no answer."""
        with ends(), false(drip=0.2) as server:
            assert reachable.zookeeper_version(server.address) is None


def collect(server: FalseZooKeeper, **more: object) -> Case:
    """A case in a folder that nobody has used."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        return Case.open(collect_case(Path(folder) / "case", zookeeper=server.address, timeout=PATIENCE, **more))


class TestTimeLimit:
    def test_what_was_had_until_then(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A log of which copying takes too long is cut, what comes after it is named, and what came before is whole."""
        from casebook.collect.files import files

        def slowly(lines: object) -> Iterator[bytes]:
            for line in lines:
                time.sleep(0.01)
                yield line

        monkeypatch.setattr(files.redaction, "redact_log", slowly)
        (tmp_path / "p").write_text("broker.id=1\n")
        (tmp_path / "a.log").write_text("x\n" * 5000)
        (tmp_path / "b.log").write_text("x\n")
        made = Case.open(
            collect_case(
                tmp_path / "case", properties={1: tmp_path / "p"}, logs={1: [tmp_path / "a.log", tmp_path / "b.log"]}, time_limit=1.0
            )
        )  # fmt: skip
        told = {problem.path: problem.reason for problem in made.could_not_collect}
        assert made.server_properties()[1]["broker.id"] == "1"
        assert 10 < made.items["brokers/1/logs/a.log"].rows < 5000
        assert "cannot be read to its end: the time limit of 1 s was reached" in told["brokers/1/logs/a.log"]
        assert "the time limit of 1 s was reached" in told["brokers/1/logs/b.log"]
        assert "the time limit of 1 s was reached" in told["the whole of it"]

    def test_the_command(self, tmp_path: Path) -> None:
        """It ends in time with a case and 3; the standard input that nobody ends has an end too."""
        (tmp_path / "server.log").write_text("x\n")
        with false(answers=60) as server:
            done = casebook(
                "--zookeeper", server.address, "--logs", f"1={tmp_path}/server.log", "--timeout", "3s", "--out", str(tmp_path / "case")
            )  # fmt: skip
        assert done.returncode == 3
        assert "Collected only in part" in done.stderr
        assert "ZooKeeper's half of the time limit of 3 s was used up" in done.stderr
        assert {"zookeeper/znodes.jsonl.zst", "brokers/1/logs/server.log"} == set(Case.open(tmp_path / "case").items)
        with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], stdout=subprocess.PIPE) as typing:
            done = casebook("--pasted", "-", "--timeout", "1s", "--out", str(tmp_path / "other"), stdin=typing.stdout)
            typing.kill()
        assert (done.returncode, "time limit of 1 s" in done.stderr) == (3, True)


def casebook(*arguments: str, **more: object) -> subprocess.CompletedProcess:
    """Run the collector."""
    code = "from casebook.cli import main; main()"
    command = [sys.executable, "-c", code, "collect", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_OF_TESTS, **more)
