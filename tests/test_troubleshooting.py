"""docs/troubleshooting.md quotes errors that exist, and whoever provokes one reads those words."""

import ast
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from casebook.machine import places

PAGE = (places.checkout() / "docs" / "troubleshooting.md").read_text()
QUOTED = re.findall(r"^### `(.*)`$", PAGE, re.MULTILINE)
OF_OTHERS = {
    "externally-managed-environment": "pip",
    "DeadKernelError: Kernel died": "nbclient",
    "java.lang.OutOfMemoryError: Java heap space": "Java",
    "No space left on device": "Linux",
    "No such kernel named python3": "jupyter_client",
    "Error displaying widget: model not found": "ipywidgets",
    "Loading widget...": "ipywidgets",
    "ModuleNotFoundError: No module named 'casebook'": "Python",
    "Running as root is not recommended. Use --allow-root to bypass.": "jupyter_server",
    "The port 8888 is already in use, trying another port.": "jupyter_server",
}


def _texts() -> list[str]:
    """Every text in the library, with … where something is put in."""
    found = []
    for path in (places.checkout() / "lib" / "casebook").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
            elif isinstance(node, ast.JoinedStr):
                found.append("".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values))
    return found


TEXTS = "\n".join(_texts())


def _pattern(words: str) -> str:
    """A pattern of the words, in which … is anything on one line."""
    return ".*?".join(re.escape(part) for part in words.split("…"))


def _quoted(said: str) -> list[str]:
    """Headings of the page whose words were said."""
    return [words for words in QUOTED if re.search(_pattern(words), said)]


@pytest.mark.parametrize("words", [words for words in QUOTED if words not in OF_OTHERS])
def test_our_own_words_are_in_the_code(words):
    """An error that is worded anew has its page mended."""
    assert re.search(_pattern(words), TEXTS)


def test_the_words_of_others_are_on_the_page():
    """None is left over here."""
    assert set(OF_OTHERS) <= set(QUOTED)


def test_links_lead_to_files():
    """None is dead."""
    assert [t for t in re.findall(r"\]\((?!https?:)([^)#]+)", PAGE) if not (places.checkout() / "docs" / t).exists()] == []


def _case(tmp_path: Path) -> str:
    (tmp_path / "case.json").mkdir()
    return str(tmp_path)


def _full(tmp_path: Path) -> str:
    (tmp_path / "file").write_text("")
    return str(tmp_path)


SAMPLE = "sample:leader_minus_one"
PROVOKED = {
    "There is no case at …": lambda p: ["run", "triage", "--source", "/nowhere"],
    "… is not a case: its … cannot be read (…).": lambda p: ["run", "triage", "--source", _case(p)],
    "… already holds something.": lambda p: ["collect", "--pasted", os.devnull, "--out", _full(p)],
    "There is no parameter …": lambda p: ["run", "triage", "-p", "tpic=x"],
    "… is not of type …": lambda p: ["run", "70", "-p", "compare=perhaps"],
    "There is no profile … in …": lambda p: ["run", "20", "--source", "live:nobody"],
    "… has no history of the znodes.": lambda p: ["run", "20", "--source", SAMPLE, "-p", "at=2019-10-12T11:03:42Z"],
    "… has a chroot before the end.": lambda p: ["collect", "--zookeeper", "a:1/k,b:1/k", "--out", str(p / "c")],
    "… gives no usable credentials.": lambda p: ["collect", "--zookeeper", "a:1", "--credentials", _full(p) + "/file", "--out", str(p / "c")],
    "could not collect …: …": lambda p: [
        "collect", "--properties", "1=/nowhere/server.properties", "--logs", f"1={_full(p)}", "--out", str(p / "c")
    ],
    "Collected only in part; missing or cut: ….": lambda p: [
        "collect", "--logs", "1=/nowhere/*.log", "--logs", f"2={places.checkout()}/LICENSE", "--out", str(p / "c")
    ],
    "None of the given sources could be collected.": lambda p: [
        "collect", "--logs", "1=/nowhere/*.log", "--logs", "2=/nowhere/server.log", "--out", str(p / "c")
    ],
    "The broker of log dir … is unknown: it has no … with an id.": lambda p: [
        "collect", "--log-dirs", _full(p), "--out", str(p / "c")
    ],
    "No run can be kept in …": lambda p: ["run", "20", "--runs", _full(p) + "/file/runs"],
    "interactive=… is unknown.": lambda p: ["run", "20", "--source", SAMPLE, "-p", "interactive=maybe"],
    "… is not empty.": lambda p: ["rehearse", "leader-minus-one", "--out", _full(p)],
}  # fmt: skip


@pytest.mark.parametrize("words", PROVOKED)
def test_who_provokes_it_reads_it(words, tmp_path):
    """The command ends with 3 and prints what the page quotes, and no traceback."""
    assert words in QUOTED
    done = _casebook(tmp_path, *PROVOKED[words](tmp_path))
    assert done.returncode == 3, done.stdout
    assert words in _quoted(done.stderr), done.stderr
    assert "Traceback" not in done.stderr


def test_something_else_than_zookeeper(tmp_path):
    """Who takes a port of something else for ZooKeeper's is told."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        done = _casebook(tmp_path, "doctor", "--zookeeper", f"127.0.0.1:{other.getsockname()[1]}")
    wanted = {"No ZooKeeper server answered within … s.", "accepts connections but opens no ZooKeeper session"}
    assert wanted <= set(_quoted(done.stdout))


def _casebook(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess:
    environment = os.environ | {"CASEBOOK_RUNS": str(tmp_path / "runs"), "CASEBOOK_PROFILES": str(tmp_path / "profiles")}
    command = [sys.executable, "-c", "from casebook.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
