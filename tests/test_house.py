"""The house keeps its order: who imports whom, what is called how, what is pinned, and what is never committed."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections import Counter

import pytest
import yaml

from casebook.machine import places

ROOT = places.checkout()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCK = (ROOT / "requirements.lock").read_text()
HEAVY = ("confluent_kafka", "ipywidgets", "kazoo", "nbformat", "pandas", "papermill", "plotly", "pyarrow", "pyspark")


def pinned(requirements):
    """Version by normalised name of ``name==version`` lines."""
    found = (re.match(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^\s;]+)", line) for line in requirements)
    return {re.sub(r"[-_.]+", "-", match[1]).lower(): match[2] for match in found if match}


def committed():
    """Path and text of every file that is or would be committed, as far as it is text."""
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for name in filter(None, names.split("\0")):
        path = ROOT / name
        if path.is_file() and b"\0" not in (content := path.read_bytes()):
            yield name, content.decode(errors="replace")


class TestImports:
    def test_contracts(self):
        """Imports go one way: the contracts in pyproject.toml hold."""
        ran = subprocess.run([sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()", "--no-cache"],
                             cwd=ROOT, capture_output=True, text=True)  # fmt: skip
        assert ran.returncode == 0, ran.stdout + ran.stderr

    @pytest.mark.parametrize("module", ["casebook", "casebook.cli"])
    def test_import_is_light(self, module):
        """`import casebook` and the command's module load nothing heavy; how long they take is for ``tests/bench/imports.py``."""
        code = f"import sys, json; import {module}; print(json.dumps(sorted(sys.modules)))"
        loaded = json.loads(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)
        assert module in loaded
        assert set(HEAVY).isdisjoint(loaded)


class TestRooms:
    def test_a_class_name_is_borne_once(self):
        """A name means one thing, wherever it is read."""
        trees = (ast.parse(path.read_text()) for path in (ROOT / "lib").rglob("*.py"))
        names = Counter(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
        assert [name for name, times in names.items() if times > 1] == []

    def test_no_module_is_long(self):
        """At most 400 lines: a longer one has two subjects."""
        lines = {path: len(path.read_text().splitlines()) for path in (ROOT / "lib" / "casebook").rglob("*.py")}
        assert [str(path) for path, count in lines.items() if count > 400] == []

    def test_no_folder_is_a_corridor(self):
        """At most 25 files stand in one."""
        folders = [path for path in (ROOT / "lib" / "casebook").rglob("*") if path.is_dir() and path.name != "__pycache__"]
        assert [folder.name for folder in folders if sum(path.is_file() for path in folder.iterdir()) > 25] == []


class TestPins:
    def test_environment_agrees(self):
        """environment.yml installs the project itself on the oldest Python that it allows, and the Java that Spark needs."""
        environment = yaml.safe_load((ROOT / "environment.yml").read_text())
        *conda, pip = environment["dependencies"]
        assert f"python={PROJECT['requires-python'].removeprefix('>=')}" in conda
        assert "openjdk=17" in conda
        assert pip == {"pip": ["-e ."]}
        assert environment["name"] == PROJECT["name"]

    def test_lock_agrees(self):
        """requirements.lock pins what pyproject.toml pins, tests included."""
        direct = pinned([*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["test"]])
        assert len(direct) == len(PROJECT["dependencies"]) + len(PROJECT["optional-dependencies"]["test"])
        locked = pinned(LOCK.splitlines())
        assert direct == {name: locked.get(name) for name in direct}

    def test_lock_has_hashes_and_no_address(self):
        """Every requirement has a hash, and no line names an index."""
        requirements = re.split(r"\n(?=\S)", re.sub(r"(?m)^\s*#.*\n", "", LOCK).strip())
        assert [r.splitlines()[0] for r in requirements if "--hash=sha256:" not in r] == []
        assert not re.search(r"://|--(extra-)?index-url|--find-links|--trusted-host|(?m:^-i )", LOCK)


class TestCommitted:
    def test_no_machine_and_no_registry(self):
        """No file names a path of the machine it was made on, or the host of a package registry."""
        # Put together from parts, so that this file does not name them either.
        words = ["/wo" + "rk/", "/ro" + "ot/", "pypi" + ".org", "files.pythonhosted" + ".org", "repo1.maven" + ".org", "repo.maven.apache" + ".org",
                 "conda.anaconda" + ".org", "registry.npmjs" + ".org", "../sha" + "red", "sha" + "red/look.md", "sha" + "red/kafka-facts"]  # fmt: skip
        assert [(name, word) for name, text in committed() for word in words if word in text] == []
