"""The command as a process: words, exit codes, last line."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path

import pytest

from casebook.collect import sources
from casebook.errors import CasebookError
from casebook.machine import places
from casebook.runs import notebooks, publishing, runner

CASEBOOK = [sys.executable, "-c", "from casebook.cli import main; main()"]
HOSTILE_NAMES = ["1_000", "007", "None", "nan", "true", "1e5"]


def casebook(*arguments: str) -> subprocess.CompletedProcess:
    """Run the command."""
    return subprocess.run([*CASEBOOK, *arguments], capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def odd_case(tmp_path_factory) -> Path:
    """A case whose topics are named like numbers and nothing."""
    folder = tmp_path_factory.mktemp("odd")
    znodes = [("/brokers/ids", None), ("/brokers/ids/1", '{"version":2,"host":"h","port":9092,"endpoints":["PLAINTEXT://h:9092"],"jmx_port":-1,"timestamp":"1"}'),
              ("/controller", '{"version":1,"brokerid":1,"timestamp":"1"}'), ("/controller_epoch", "1")]  # fmt: skip
    for name in HOSTILE_NAMES:
        znodes.append((f"/brokers/topics/{name}", '{"version":1,"partitions":{"0":[2]}}'))
        znodes.append(
            (
                f"/brokers/topics/{name}/partitions/0/state",
                '{"controller_epoch":1,"leader":-1,"version":1,"leader_epoch":1,"isr":[2]}',
            )
        )
    dump = folder / "dump.jsonl"
    dump.write_text("".join(json.dumps({"path": path, "data": data}) + "\n" for path, data in znodes))
    done = casebook("collect", "--zookeeper-dump", str(dump), "--out", str(folder / "case"))
    assert done.returncode == 0, done.stderr
    return folder / "case"


def test_a_run_without_source_says_whose_evidence_it_is(tmp_path):
    """Copied from a report, a command without its source would answer for a shipped sample."""
    done = casebook("run", "partition_leadership", "--runs", str(tmp_path))
    assert "no --source was given; this run is about the shipped sample:leader_minus_one" in done.stderr


class TestMain:
    """What nobody foresaw."""

    def test_a_fault_of_ours_is_no_warning(self):
        """1 is a severity: an error that nothing catches ends with 3, in words first."""
        program = "import casebook.runs.notebooks as n, casebook.cli as c; n.every = lambda: 1 / 0; c.main()"
        done = subprocess.run([sys.executable, "-c", program, "list"], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 3
        assert done.stderr.startswith("casebook: An unexpected error in casebook: ZeroDivisionError.")

    def test_a_report_of_no_run(self, tmp_path: Path):
        """A folder with a notebook alone."""
        (tmp_path / "notebook.ipynb").write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
        done = casebook("report", str(tmp_path))
        assert (done.returncode, "has no record of a run" in done.stderr) == (3, True)
        assert "Traceback" not in done.stderr


class TestRun:
    """`casebook run`."""

    @pytest.mark.parametrize("topic", HOSTILE_NAMES)
    def test_a_topic_named_like_a_number_stays_itself(self, odd_case, tmp_path, topic):
        """Command line, notebook, findings: the same name."""
        if topic != HOSTILE_NAMES[0]:  # one whole run is enough: the others differ by the text alone
            from casebook.runs import notebooks, parameters

            known = parameters.of_notebook(notebooks.find("partition_leadership").path)
            assert parameters.coerced(known, parameters.from_pairs([f"topic={topic}"])) == {"topic": topic}
            return
        done = casebook("run", "partition_leadership", "--source", str(odd_case), "-p", f"topic={topic}", "--runs", str(tmp_path))
        assert done.returncode == 2, done.stderr
        folder = Path(done.stdout.splitlines()[-1])
        assert json.loads((folder / "run.json").read_text())["parameters"]["topic"] == topic
        offline = next(
            f for f in json.loads((folder / "findings.json").read_text())["findings"] if f["check"] == "leadership.offline"
        )
        assert offline["facts"]["topics"] == sorted(HOSTILE_NAMES)

    def test_a_yaml_file_is_taken_as_text(self, tmp_path):
        """`topic: 007` is the topic 007."""
        from casebook.runs import parameters

        (tmp_path / "p.yaml").write_text("topic: 007\nalive: 1_000\nahead: None\n")
        assert parameters.from_yaml(tmp_path / "p.yaml") == {"topic": "007", "alive": "1_000", "ahead": "None"}


class TestSource:
    """A source that cannot be meant is refused before anything is started for it."""

    def test_a_case_beside_is_suggested(self, tmp_path, monkeypatch):
        """A name with two letters swapped; nothing of it is kept, and no later run tells of it."""
        (tmp_path / "my-case").symlink_to(places.samples_dir() / "healthy")
        monkeypatch.chdir(tmp_path)
        done = casebook("run", "triage", "--source", "my-caes", "--runs", str(tmp_path / "runs"))
        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr == "casebook: There is no case at my-caes.\n  try: Did you mean my-case?\n"
        assert not (tmp_path / "runs").exists()

    @pytest.mark.parametrize(
        "source",
        ["", ".", "live:nobody", "sample:nothing", "~nobody-of-that-name/x", "a" * 300, "x\0y"],
        ids=lambda source: source[:9],
    )
    def test_nothing_is_started(self, source, tmp_path, monkeypatch):
        """Nor is it an error of ours, whatever stands there."""
        monkeypatch.setenv("CASEBOOK_PROFILES", str(tmp_path))
        monkeypatch.chdir(tmp_path)
        with pytest.raises(CasebookError):
            runner.run(notebooks.find("triage"), {"source": source}, runs_dir=tmp_path / "runs")
        assert not (tmp_path / "runs").exists()

    def test_who_waits_for_a_published_report_is_told(self, tmp_path):
        """A schedule whose case is gone leaves its run and its summary all the same."""
        place = publishing.place(str(tmp_path / "place"))
        gone = {"source": str(tmp_path / "gone")}
        ran = runner.run(notebooks.find("triage"), gone, runs_dir=tmp_path / "runs", publish=place)
        assert (ran.exit_code, ran.folder is not None, "There is no case" in ran.title) == (3, True, True)
        assert publishing.read(place)["completed"] is False


class TestErrors:
    """Every error is exit code 3, in words, without a traceback."""

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["run", "partition_leadership", "-p", "alve=1"], "Did you mean alive?"),
            (["run", "partition_leadershp"], "Did you mean 20_partition_leadership"),
            (["run", "partition_leadership", "-p", "alive"], "is not name=value"),
            (["run", "triage", "--source", "leader_minus_one"], "Did you mean sample:leader_minus_one?"),
            (["run"], "Missing argument"),
            (["nonsense"], "No such command"),
            (["describe", "nothing_like_it"], "There is no notebook"),
            (["report", "/nowhere"], "has no executed notebook"),
            (["collect", "--out", "x"], "Nothing to collect"),
            (["collect", "--ledger", "sent.csv", "--out", "x"], "is not NAME=GLOB"),
            (["collect", "--metrics", "app=sar.txt", "--out", "x"], "For example --metrics 1=sar.txt."),
            (["collect", "--zookeeper-dump", "/nowhere", "--out", "x"], "/nowhere"),
            (["rehearse", "leader-minus-two"], "leader-minus-one"),
        ],
    )
    def test_words_and_code(self, arguments, said, tmp_path, monkeypatch):
        """What went wrong stands on standard error."""
        monkeypatch.chdir(tmp_path)
        done = casebook(*arguments)
        assert done.returncode == 3
        assert said in done.stderr
        assert "Traceback" not in done.stderr


class TestCollect:
    """`casebook collect`: what was taken, what was not, and nothing that looks whole and is not."""

    @pytest.fixture
    def files(self, tmp_path: Path) -> Path:
        """Settings and a log of a broker."""
        (tmp_path / "server.properties").write_text("broker.id=1\nmin.insync.replicas=2\n")
        (tmp_path / "server.log").write_text("one\ntwo\nthree\n")
        return tmp_path

    def test_what_was_taken_is_counted(self, files):
        """By kind; the last line is the case."""
        given = ("--properties", f"1={files}/server.properties", "--logs", f"1={files}/*.log", "--out", str(files / "case"))
        done = casebook("collect", *given)
        assert (done.returncode, done.stderr) == (0, "")
        case = str(files / "case")
        taken, following, last = done.stdout.splitlines()
        assert (taken, last) == ("taken: 1 server.properties, 1 log with 3 lines", case)
        assert following == f"next: casebook run triage --source {case}"

    def test_a_file_that_was_named_is_not_there(self, files):
        """The rest is a case, and the exit code is no success; a second time into it is refused, and changes nothing."""
        given = ("--properties", f"1={files}/server.properties", "--logs", f"1={files}/*.txt", "--out", str(files / "case"))
        done = casebook("collect", *given)
        assert (done.returncode, done.stdout.splitlines()[-1]) == (3, str(files / "case"))
        assert f"could not collect brokers/1/logs/*.txt: {files}/*.txt cannot be opened: No such file or directory" in done.stderr
        assert "Collected only in part; missing or cut: brokers/1/logs/*.txt." in done.stderr
        manifest = (files / "case" / "case.json").read_bytes()
        again = casebook("collect", *given)
        assert again.returncode == 3
        assert f"{files}/case already holds something.\n  likely cause: A case was collected there before" in again.stderr
        assert (files / "case" / "case.json").read_bytes() == manifest

    @pytest.mark.parametrize("option", ["--properties", "--logs", "--client"])
    def test_a_place_that_cannot_even_be_looked_at(self, files, option):
        """As a folder of another user, or a name that no file can have."""
        given = ("--logs", f"2={files}/*.log", option, f"1={files}/{'a' * 300}")
        done = casebook("collect", *given, "--out", str(files / "case"))
        assert done.returncode == 3
        assert f"/{'a' * 300} cannot be opened: File name too long" in done.stderr
        assert "Collected only in part" in done.stderr
        assert "did not expect" not in done.stderr

    def test_a_tilde_behind_the_equals_sign(self, files, monkeypatch):
        """No shell expands it there."""
        monkeypatch.setenv("HOME", str(files))
        done = casebook("collect", "--properties", "1=~/server.properties", "--logs", "1=~/*.log", "--out", str(files / "case"))
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.splitlines()[0] == "taken: 1 server.properties, 1 log with 3 lines"

    def test_a_paste_that_nobody_understands(self, tmp_path):
        """It is kept, and it is no success; what is not understood is told first."""
        (tmp_path / "paste").write_text("zorg two 2\nzorg three 3\n")
        done = casebook("collect", "--pasted", str(tmp_path / "paste"), "--out", str(tmp_path / "case"))
        assert done.returncode == 3
        assert done.stderr.startswith("casebook: pasted/pasted.txt is taken, but: 2 lines were not understood")
        assert "Nothing was collected that casebook understands" in done.stderr

    def test_a_paste_of_nothing_but_words(self, tmp_path):
        """A person's words are remarks: they answer nothing, so it is no success either."""
        (tmp_path / "paste").write_text("I saw that it does not work,\nwhat should we do now?\n")
        done = casebook("collect", "--pasted", str(tmp_path / "paste"), "--out", str(tmp_path / "case"))
        assert done.returncode == 3
        assert "was not understood" not in done.stderr
        assert "Nothing was collected that casebook understands" in done.stderr

    def test_a_paste_that_is_understood_in_part(self, tmp_path):
        """All of it is in the case: what nobody understands is told, and is no failure."""
        (tmp_path / "paste").write_text(
            "zorg two 2\n"
            "[2019-10-12 11:03:42,000] INFO [Controller 1]: Broker failure callback for 3 (kafka.controller.KafkaController)\n"
        )
        done = casebook("collect", "--pasted", str(tmp_path / "paste"), "--out", str(tmp_path / "case"))
        assert done.returncode == 0
        assert "casebook: pasted/pasted.txt is taken, but: 1 line was not understood: line 1" in done.stderr
        assert "could not collect" not in done.stderr

    def test_a_paste_that_holds_nothing_but_what_a_tool_says(self, tmp_path):
        """It makes no rows of a cluster, and notebooks tell of it all the same; what answers nothing is no success."""
        said = "$ df -h /d\nFilesystem Size Used Avail Use% Mounted on\n/dev/sdb 50G 50G 0 100% /d\n"
        for name, text, code in (("df", said, 0), ("vmstat", "procs -----------memory---------- ---swap--\n 1 0 0 1 2 3\n", 3)):
            (tmp_path / name).write_text(text)
            done = casebook("collect", "--pasted", str(tmp_path / name), "--out", str(tmp_path / f"case of {name}"))
            assert done.returncode == code, done.stderr

    def test_a_paste_that_is_too_long(self, tmp_path):
        """The beginning is taken, and the exit code says that it is not all."""
        line = "[2019-10-12 11:03:42,000] INFO [Controller 1]: Broker failure callback for 3 (kafka.controller.KafkaController)"
        (tmp_path / "paste").write_text("\n".join([line, *["x"] * 20_002]))
        done = casebook("collect", "--pasted", str(tmp_path / "paste"), "--out", str(tmp_path / "case"))
        assert done.returncode == 3
        assert "collect whole log files with --logs" in done.stderr
        assert "Collected only in part; missing or cut: pasted/pasted.txt." in done.stderr

    def test_a_log_dir_of_another_broker(self, tmp_path):
        """It is taken as the one that it was given for, and what contradicts that is told."""
        (tmp_path / "log-dir" / "t-0").mkdir(parents=True)
        (tmp_path / "log-dir" / "meta.properties").write_text("version=0\nbroker.id=1\n")
        done = casebook("collect", "--log-dirs", f"2={tmp_path}/log-dir", "--out", str(tmp_path / "case"))
        (line,) = done.stderr.splitlines()
        assert done.returncode == 0
        assert line.startswith("casebook: brokers/2/log_dirs.json is taken, but: ")
        assert line.endswith("meta.properties says broker 1; the log dir was given as broker 2's")

    def test_a_paste_of_logs(self, tmp_path):
        """Its lines are counted once, whoever wrote them; that it is no whole ZooKeeper is told in one line."""
        said = (
            "[2019-10-12 11:03:4{},000] INFO [Controller {}]: Broker failure callback for 3 (kafka.controller.KafkaController)\n"
        )
        (tmp_path / "paste").write_text("".join(said.format(n, 1 + n % 2) for n in range(8)))
        done = casebook("collect", "--pasted", str(tmp_path / "paste"), "--out", str(tmp_path / "case"))
        assert done.stdout.splitlines()[0] == "taken: 8 pasted lines, 2 logs with 8 lines"
        (line,) = done.stderr.splitlines()
        assert line.startswith("casebook: not pasted: /brokers/ids, ")

    def test_a_wrong_port_is_told(self, tmp_path):
        """As what it is, and not as silence."""
        done = casebook("collect", "--zookeeper", "127.0.0.1:1,[::1]:1", "--out", str(tmp_path / "case"))
        assert done.returncode == 3
        assert "No ZooKeeper server answered.\n" in done.stderr
        assert "127.0.0.1:1: connection refused" in done.stderr


class TestProgress:
    """What somebody sees who waits: on a terminal one line, elsewhere nothing unless it is wished."""

    def at_a_terminal(self, *arguments: str) -> str:
        """What a terminal of 60 columns is sent."""
        seen, ours = pty.openpty()
        fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
        with subprocess.Popen([*CASEBOOK, *arguments], stdin=ours, stdout=subprocess.DEVNULL, stderr=ours) as running:
            os.close(ours)
            sent = b""
            with suppress(OSError):  # EIO: nobody writes any more
                while part := os.read(seen, 4096):
                    sent += part
            running.wait(60)
        os.close(seen)
        return sent.decode()

    def test_a_run(self, tmp_path):
        """Each cell with its question, in one line that never wraps and is gone at the end; without a terminal, nothing."""
        asked = ("run", "10", "--source", "sample:healthy", "--runs", str(tmp_path))
        lines = self.at_a_terminal(*asked).split("\r")
        assert any(line.startswith("10_triage, cell 3 of ") for line in lines)
        assert {len(line) for line in lines if line} == {59}
        assert [line.strip() for line in lines[-2:]] == ["", ""]
        assert casebook(*asked).stderr == ""

    def test_as_lines(self, tmp_path):
        """For the log of a build."""
        said = casebook("run", "10", "--source", "sample:healthy", "--runs", str(tmp_path), "--progress").stderr.splitlines()
        count = len(notebooks.find("10").cells())
        cells = [line for line in said if ", cell " in line]
        assert [line.partition(": ")[0] for line in cells] == [f"10_triage, cell {at} of {count}" for at in range(1, count + 1)]
        assert said[-1] == "10_triage: writing the report"

    def test_connecting(self, tmp_path):
        """To whom, and for how long at most."""
        said = self.at_a_terminal("collect", "--zookeeper", "127.0.0.1:1", "--out", str(tmp_path / "case"))
        assert "Connecting to 127.0.0.1:1 (up to 15 s) ..." in said


class TestListings:
    """What there is."""

    def test_list_names_notebooks_and_samples(self):
        """By the words that `run` takes."""
        said = casebook("list").stdout
        assert "20_partition_leadership" in said
        assert "sample:leader_minus_one" in said

    def test_each_sample_says_what_it_shows(self):
        """By the story of its incident; one from before it does not look like a broken cluster."""
        lines = {line.split()[0]: line for line in casebook("list").stdout.splitlines() if line.startswith("sample:")}
        assert lines.keys() == {f"sample:{name}" for name in sources.samples()}
        assert "Kafka 0.9.0.1, notebook 20: Brokers are shut down one after the other" in lines["sample:leader_minus_one"]
        before = lines["sample:kill_before_drain"].partition("partitions are left without leader")[0]
        assert "nothing was broken yet. Then two slow brokers" in before

    def test_describe_tells_parameters_with_help(self):
        """Name, default, type, meaning."""
        said = casebook("describe", "20_partition_leadership").stdout
        assert "-p alive=evidence  (str) what if: brokers alive" in said

    def test_doctor_finds_this_machine_well(self):
        """Where the tests run, everything is there."""
        done = casebook("doctor")
        assert done.returncode == 0, done.stdout
