"""No secret gets through: planted at every place, in every form and encoding, none is in anything that casebook leaves behind."""

import json
import os
import subprocess
import sys

import pytest

from casebook.case import folder as case_folder
from casebook.case.case import Case
from casebook.collect import sources
from casebook.collect.redaction import redact_ledger, redact_log, redact_znode, scanner
from casebook.machine import places
from tests.conftest import QUICK_JAVA
from tests.secrets import finding, planting

CASEBOOK = (sys.executable, "-c", "from casebook.cli import main; main()")


def command(*arguments, **surroundings):
    """Run casebook; gives what it printed."""
    ran = subprocess.run(
        [*CASEBOOK, *map(str, arguments)], capture_output=True, env=os.environ | surroundings, timeout=600, check=False
    )
    return ran.returncode, ran.stdout, ran.stderr


@pytest.fixture(scope="module", params=["everything", "paste"])
def collected(request, tmp_path_factory):
    """A case made of evidence with secrets, by the command; what it printed; and the secrets."""
    folder = tmp_path_factory.mktemp(request.param)
    arguments, planted = getattr(planting, request.param)(folder / "evidence")
    _, out, err = command("collect", "--out", folder / "case", *arguments)
    return folder, planted.planted, {"stdout": out, "stderr": err}


class TestCollect:
    def test_none_is_found_again(self, collected):
        """Neither in the case nor in what the command printed, packed or not, in any encoding."""
        folder, planted, printed = collected
        found = finding.found_again(planted, finding.below(folder / "case") | printed)
        assert [(name, one.place, one.encoding, one.form, one.kind) for name, one in found] == []

    def test_what_was_removed_is_counted(self, collected):
        """The case says how much and where, and so does the command; it does not say what."""
        folder, _, printed = collected
        removed = json.loads((folder / "case" / case_folder.MANIFEST).read_text())["redacted"]
        assert removed
        assert b"removed: " in printed["stdout"]

    def test_ordinary_lines_stay(self, collected):
        """Each line between two secrets is still there."""
        folder, planted, _ = collected
        kept = [
            path.read_bytes().count(planting.ORDINARY.encode())
            for path in (folder / "case").rglob("*")
            if path.suffix in (".log", ".txt")
        ]
        places_with_lines = [one for one in planted if one.place in ("a paste",) or "log" in one.place or "lines" in one.place]
        assert sum(kept) >= 0.98 * len([one for one in places_with_lines if one.place != "JSON lines"])


def test_there_are_enough(tmp_path):
    """Five hundred secrets at least, of a hundred forms, ten places and ten encodings."""
    planted = [*planting.everything(tmp_path / "a")[1].planted, *planting.paste(tmp_path / "b")[1].planted]
    assert len(planted) >= 500
    assert len({one.form for one in planted}) >= 100
    assert len({one.place for one in planted}) >= 10
    assert len({one.encoding for one in planted}) >= 10


@pytest.mark.parametrize("notebook", ["durability_audit"])
def test_none_is_found_in_runs_and_reports(tmp_path, notebook):
    """A notebook on such a case: run folder, report, summary, what is published and what is printed."""
    arguments, planted = planting.everything(tmp_path / "evidence")
    command("collect", "--out", tmp_path / "case", *arguments)
    code, out, err = command(
        "run", notebook, "--source", tmp_path / "case", "--runs", tmp_path / "runs", "--publish", tmp_path / "published",
        JDK_JAVA_OPTIONS=QUICK_JAVA,
    )  # fmt: skip
    assert code in (0, 1, 2, 3)
    told = finding.below(tmp_path / "runs", tmp_path / "published")
    assert any(name.endswith("report.html") for name in told)
    found = finding.found_again(planted.planted, told | {"stdout": out, "stderr": err})
    assert [(name, one.place, one.form) for name, one in found] == []


class TestAddresses:
    @pytest.mark.parametrize("arguments", [
        ("collect", "--out", "{out}", "--zookeeper", "admin:{s}@zk1:2181/kafka"),
        ("collect", "--out", "{out}", "--log-dirs", "1=s3a://AKIAX:{s}@bucket/logs"),
        ("collect", "--out", "{out}", "--log-dirs", "hdfs://u:{s}@name:8020/logs"),
        ("collect", "--out", "{out}", "--log-dirs", "abfss://logs@acct.example.net/x?sig={s}"),
        ("collect", "--out", "{out}", "--logs", "https://u:{s}@host/x"),
        ("collect", "--out", "{out}", "--client", "a=https://u:{s}@host/x"),
        ("doctor", "--zookeeper", "admin:{s}@127.0.0.1:1"),
        ("run", "triage", "--source", "https://u:{s}@host/case"),
        ("run", "message_loss", "-p", "ledger=s3a://k:{s}@bucket/x.csv"),
        ("run", "triage", "--source", "sample:healthy", "--runs", "{out}", "--publish", "ftp://u:{s}@host/x"),
        ("run", "triage", "--source", "live:prod"),
    ])  # fmt: skip
    def test_they_are_refused_and_not_repeated(self, tmp_path, arguments):
        """Whatever option they stand in: exit code 3, and no trace of the password."""
        secret = "Kovalu-Bisemo42xyz"
        (tmp_path / "prod.toml").write_text(f'zookeeper = "admin:{secret}@zk1:2181"\n')
        filled = [part.replace("{s}", secret).replace("{out}", str(tmp_path / "out")) for part in arguments]
        code, out, err = command(
            *filled, CASEBOOK_PROFILES=str(tmp_path), CASEBOOK_RUNS=str(tmp_path / "runs"), JDK_JAVA_OPTIONS=QUICK_JAVA
        )
        assert code == 3
        left = finding.below(*(path for path in (tmp_path / "out", tmp_path / "runs") if path.is_dir()))
        one = planting.Planted("an address", "UTF-8", " ".join(arguments), "spoken", secret)
        assert finding.found_again([one], left | {"stdout": out, "stderr": err}) == []


@pytest.mark.parametrize("sample", sources.samples())
def test_shipped_cases(sample):
    """Everything of every sample, by the public rules and by ours: there is nothing to be found."""
    for name, content in finding.below(places.samples_dir() / sample).items():
        if name.endswith((".log", ".out", ".properties", ".json", ".jsonl", ".zst")):
            lines = content.splitlines(keepends=True)
            assert not any(scanner.spans(content)), name
            if name.endswith((".log", ".out")):
                assert list(redact_log(lines)) == lines, name


@pytest.mark.parametrize(
    "content", [b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 40, bytes(range(1, 8)) * 5000], ids=["a program", "control"]
)
def test_a_binary_file_is_named_and_leaves_nothing(tmp_path, content):
    """Given as a log: the case says that it is no text, the exit code that the case is not whole, and no file is in it."""
    (tmp_path / "server.log").write_bytes(content)
    (tmp_path / "good.log").write_text(planting.ORDINARY + "\n")
    code, _, err = command(
        "collect", "--out", tmp_path / "case", "--logs", f"1={tmp_path / 'server.log'}", "--logs", f"1={tmp_path / 'good.log'}",
        "--ledger", f"app={tmp_path / 'server.log'}",
    )  # fmt: skip
    manifest = json.loads((tmp_path / "case" / "case.json").read_text())
    assert code == 3
    assert "brokers/1/logs/server.log" in manifest["left_out"]
    assert b"it is not text" in err
    assert [item["path"] for item in manifest["items"]] == ["brokers/1/logs/good.log"]
    assert not (tmp_path / "case" / "brokers" / "1" / "logs" / "server.log").exists()


@pytest.mark.parametrize("sample", sources.samples())
def test_a_shipped_case_would_be_collected_as_it_is(sample):
    """Znodes, those of its history and ledgers pass unchanged, as its logs do, so every notebook finds in it what it found before."""
    case = Case.open(places.samples_dir() / sample)
    znodes = list(case.znodes())
    if case_folder.HISTORY in case.items:
        znodes += [znode for change in case.history() for znode in change.znodes]
    assert [znode for znode in znodes if redact_znode(znode) is not znode] == []
    for ledger in case.folder.glob("clients/*/ledgers/*"):
        rows = ledger.read_bytes().splitlines(keepends=True)
        assert list(redact_ledger(rows)) == rows
