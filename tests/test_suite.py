"""How the tests themselves are run: which are quick, what hooks and `make` run, and how one that fails is seen alone."""

import os
import re
import shlex
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
import yaml

from casebook.machine import places
from tests import again, quick
from tests.bench import running, sizes

ROOT = places.checkout()
MAKEFILE = (ROOT / "Makefile").read_text()
SHARED = ("-p", "tests.conftest", "-p", "no:cacheprovider")
STARTS = {
    "a process": lambda: subprocess.run(["true"], check=True),
    "a copy of itself": os.fork,
    "a shell": lambda: os.system("true"),
    "a socket": socket.socket,
}


class TestQuick:
    @pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
    def test_nothing_is_started(self, start):
        """A test that is quick fails before it has started anything."""
        with pytest.raises(AssertionError, match="starts something"), quick.nothing_starts("this"):
            start()

    def test_nor_tried_in_vain(self):
        """What it tries and forgives itself is told at its end."""
        with pytest.raises(AssertionError, match=r"subprocess\.Popen"), quick.nothing_starts("this"), suppress(AssertionError):
            subprocess.run(["true"], check=True)

    def test_others_may(self):
        """Behind a quick test, the hook lets everything pass."""
        with quick.nothing_starts("this"):
            pass
        assert subprocess.run(["true"], check=False).returncode == 0

    def test_each_is_watched(self, tmp_path):
        """What reaches nothing that starts something, and starts it all the same, fails by that; beside it, all is well."""
        file = tmp_path / "test_it.py"
        file.write_text("import os\n\n\ndef test_starts():\n    os.system('true')\n\n\ndef test_plain():\n    pass\n")
        said = _pytest("-m", "quick", str(file))
        assert "1 failed, 1 passed" in said
        assert "test_starts is quick by what it imports, and starts something: os.system" in said

    def test_what_imports_a_starter_is_not(self, tmp_path):
        """Also where it imports it inside of a function, or by way of ours."""
        for number, line in enumerate(
            ("import subprocess", "from casebook.rehearsal import PlayedCluster", "from tests import ends")
        ):
            (tmp_path / f"test_{number}.py").write_text(f"def test_it():\n    {line}\n")
        assert "1 passed, 2 deselected" in _pytest("-m", "quick", str(tmp_path))


class TestAlone:
    def test_it_is_told_how(self, tmp_path):
        """Of what fails, one line, which runs it and nothing else, with what the environment says."""
        file = tmp_path / "test_it.py"
        file.write_text(
            "import pytest\n\n\n@pytest.mark.parametrize('x', [\"it's\", 'b'])\ndef test_x(x):\n    assert x == 'b'\n"
        )
        said = _pytest(f"--rootdir={tmp_path}", str(file), CASEBOOK_RUNS="a place")
        (line,) = re.findall(r"^CASEBOOK_\S.*", said, re.MULTILINE)
        assert line.startswith("CASEBOOK_RUNS='a place' ")
        (tmp_path / ".venv").symlink_to(ROOT / ".venv")
        ran = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert re.search(r"^=+ 1 failed in", ran.stdout, re.MULTILINE)

    def test_what_is_none_of_its_business(self):
        """A variable that changes nothing for a test is not told."""
        assert not shlex.split(again.command("tests/test_x.py::test_y", {"PATH": "/bin", "HOME": "/"}))[0].startswith(
            ("PATH", "HOME")
        )


class TestHooks:
    def test_they_run_what_make_runs(self):
        """Before a commit: the linters and the quick tests, as `make` runs them, each from what is installed."""
        (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
        assert repository["repo"] == "local"
        assert [hook["entry"] for hook in repository["hooks"]] == ["make lint", "make quick"]
        assert all(
            hook["language"] == "system" and hook["always_run"] and not hook["pass_filenames"] for hook in repository["hooks"]
        )
        assert {"lint", "quick"} <= set(re.findall(r"^([a-z]+): \$\(READY\)$", MAKEFILE, re.MULTILINE))


class TestParts:
    def test_each_folder_is_run_once(self):
        """By `make test`: whatever folder of tests there is, and what of it needs its moment behind the others."""
        ran = subprocess.run(["make", "--dry-run", "test"], cwd=ROOT, capture_output=True, text=True, check=True)
        parts = [shlex.split(line) for line in ran.stdout.splitlines() if re.search(r"pytest -m .?not alone", line)]
        words = [word for part in parts for word in part if word.startswith("tests/")]
        given = [str(path.relative_to(ROOT)) for word in words for path in ROOT.glob(word)]
        left_out = {word.partition("=")[2] for part in parts for word in part if word.startswith("--ignore=")}
        everything = {path.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py")}
        folders = {str(Path(*path.parts[:2])) for path in everything}
        assert sorted(given) == sorted([*folders, *left_out])
        wanted = ran.stdout
        marked = {path.parts[1] for path in _marked("alone")}
        assert set(re.findall(r"pytest -m alone tests/(\w+)$", wanted, re.MULTILINE)) == marked


class TestBenches:
    def test_what_is_lacking_is_told(self, tmp_path, capfd):
        """Before anything runs, without a traceback; the others run, also behind one that fails."""
        main = "if __name__ == '__main__':\n    "
        (tmp_path / "a.py").write_text(f"NEEDS = {{'no-such-command': 'such'}}\n{main}print('a ran')\n")
        (tmp_path / "b.py").write_text(f"{main}raise SystemExit('beyond')\n")
        (tmp_path / "c.py").write_text(f"{main}print('c ran')\n")
        (tmp_path / "d.py").write_text(f"DISK = 1_000_000_000\nGIVEN = 'a folder'\n{main}print('d ran')\n")
        assert running.run(tmp_path) == 3
        said, _ = capfd.readouterr()
        listed, _, ran = said.partition("c ran")
        assert "Left out, for want of:\n  a: such\n  d: 1e+09 GB in " in listed
        assert "; a folder\n" in listed
        assert "a (such), d (" in ran
        assert "Failed, or beyond a bound: b." in said
        assert ran
        assert "a ran" not in said
        assert "d ran" not in said

    def test_small_sizes_have_no_bound(self, monkeypatch, capsys):
        """`make bench-quick` sets small sizes, with which a missed bound is only printed."""
        assert re.search(rf"^bench-quick: \$\(READY\)\n\t@{sizes.QUICK}=1 ", MAKEFILE, re.MULTILINE)
        monkeypatch.delenv(sizes.QUICK, raising=False)
        assert sizes.of(10, quick=1) == 10
        with pytest.raises(SystemExit, match="Too slow"):
            sizes.beyond("Too slow.")
        monkeypatch.setenv(sizes.QUICK, "1")
        assert sizes.of(10, quick=1) == 1
        sizes.beyond("Too slow.")
        assert "Too slow." in capsys.readouterr().out

    def test_they_name_what_they_run(self):
        """Each bench names the commands, jars and packages of others that it uses."""
        texts = {script: script.read_text() for script in (ROOT / "tests" / "bench").glob("*.py")}
        for command, mark in (("rg", '"rg",'), ("kcat", "peers.kcat")):
            users = [script for script, text in texts.items() if mark in text]
            assert users
            assert all(command in running.declared(script, "NEEDS", {}) for script in users)
        for name, mark in (
            ("connector", "peers.connector_jars"),
            ("jazzer", "fetched.JAZZER"),
            ("kafka-utils==4.1.0", "kafka-utils==4"),
        ):
            users = [script for script, text in texts.items() if mark in text and script.stem != "fetched"]
            assert users
            assert all(name in running.declared(script, "FETCHES", ()) for script in users)


def _pytest(*arguments: str, **told: str) -> str:
    """What a run of its own says, with what all tests share."""
    command = [sys.executable, "-m", "pytest", "-c", "pyproject.toml", *SHARED, "-q", *arguments]
    return subprocess.run(command, cwd=ROOT, env=os.environ | told, capture_output=True, text=True, check=False).stdout


def _marked(mark: str) -> set[Path]:
    """Files below tests with tests that bear a mark."""
    found = (path for path in (ROOT / "tests").rglob("test_*.py") if f"pytest.mark.{mark}" in path.read_text())
    return {path.relative_to(ROOT) for path in found if path.name != Path(__file__).name}
