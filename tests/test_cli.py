"""The command as a process: words, exit codes, last line."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

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
    assert "no --source was given; this is about the shipped sample:leader_minus_one" in done.stderr


class TestMain:
    """What nobody foresaw."""

    def test_a_fault_of_ours_is_no_warning(self):
        """1 is a severity: an error that nothing catches ends with 3, in words first."""
        program = "import casebook.notebooks as n, casebook.cli as c; n.every = lambda: 1 / 0; c.main()"
        done = subprocess.run([sys.executable, "-c", program, "list"], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 3
        assert done.stderr.startswith("casebook: An error that casebook did not expect: ZeroDivisionError.")

    def test_a_report_of_no_run(self, tmp_path: Path):
        """A folder with a notebook alone."""
        (tmp_path / "notebook.ipynb").write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
        done = casebook("report", str(tmp_path))
        assert (done.returncode, "holds no record of a run" in done.stderr) == (3, True)
        assert "Traceback" not in done.stderr


class TestRun:
    """`casebook run`."""

    @pytest.mark.parametrize("topic", HOSTILE_NAMES)
    def test_a_topic_named_like_a_number_stays_itself(self, odd_case, tmp_path, topic):
        """Command line, notebook, findings: the same name."""
        if topic != HOSTILE_NAMES[0]:  # one whole run is enough: the others differ by the text alone
            from casebook import notebooks, parameters

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
        from casebook import parameters

        (tmp_path / "p.yaml").write_text("topic: 007\nalive: 1_000\nahead: None\n")
        assert parameters.from_yaml(tmp_path / "p.yaml") == {"topic": "007", "alive": "1_000", "ahead": "None"}


class TestErrors:
    """Every error is exit code 3, in words, without a traceback."""

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["run", "partition_leadership", "-p", "alve=1"], "Did you mean alive?"),
            (["run", "partition_leadershp"], "Did you mean 20_partition_leadership"),
            (["run", "partition_leadership", "-p", "alive"], "is not name=value"),
            (["run"], "Missing argument"),
            (["nonsense"], "No such command"),
            (["describe", "nothing_like_it"], "There is no notebook"),
            (["report", "/nowhere"], "holds no executed notebook"),
            (["collect", "--out", "x"], "Nothing to collect"),
            (["collect", "--ledger", "sent.csv", "--out", "x"], "is not NAME=GLOB"),
            (["collect", "--zookeeper", "127.0.0.1:1", "--out", "x"], "No ZooKeeper server answered"),
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


class TestListings:
    """What there is."""

    def test_list_names_notebooks_and_samples(self):
        """By the words that `run` takes."""
        said = casebook("list").stdout
        assert "20_partition_leadership" in said
        assert "sample:leader_minus_one" in said

    def test_describe_tells_parameters_with_help(self):
        """Name, default, type, meaning."""
        said = casebook("describe", "20_partition_leadership").stdout
        assert "-p alive=evidence  (str) what if: brokers alive" in said

    def test_doctor_finds_this_machine_well(self):
        """Where the tests run, everything is there."""
        done = casebook("doctor")
        assert done.returncode == 0, done.stdout
