"""docs/add_a_notebook.md, carried out from its text in a copy of this checkout."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import nbformat
import pytest

from casebook.machine import places

ROOT = places.checkout()
PAGE = (ROOT / "docs" / "add_a_notebook.md").read_text()
SAMPLE = "leader_minus_one"
NOTEBOOK = "notebooks/85_leader_balance.ipynb"


class Block(NamedTuple):
    """A block of the page that belongs into a file."""

    language: str
    path: str
    tags: list[str]
    content: str


BLOCKS = [
    Block(language, path, tags.split(), content)
    for language, path, tags, content in re.findall(r"^`{3,}(\w+) (\S+)(.*)\n((?:.|\n)*?)^`{3,}$", PAGE, re.MULTILINE)
]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what is needed, with what the page adds."""
    copy = tmp_path_factory.mktemp("checkout")
    ignored = shutil.ignore_patterns("__pycache__", "derived", ".ipynb_checkpoints")
    for name in ("lib", "notebooks", "docs", f"data_samples/{SAMPLE}"):
        shutil.copytree(ROOT / name, copy / name, ignore=ignored)
    for name in ("pyproject.toml", "tests/notebooks/test_anatomy.py"):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    notebook = nbformat.read(ROOT / "notebooks" / "10_triage.ipynb", as_version=4)
    notebook.cells = [_cell(block) for block in BLOCKS if block.path == NOTEBOOK]
    nbformat.write(notebook, copy / NOTEBOOK)
    for block in BLOCKS:
        if block.path == "pyproject.toml":
            _stand_on_its_floor(copy / block.path, block.content)
        elif block.path != NOTEBOOK:
            (copy / block.path).parent.mkdir(parents=True, exist_ok=True)
            (copy / block.path).write_text(block.content)
    return copy


def _stand_on_its_floor(contracts: Path, layers: str) -> None:
    """The floors of questions, as the page has them; the others are those that stand there."""
    before = contracts.read_text()
    floors = re.search(r'(?m)^layers = \[[^]]*"morning"[^]]*\]\n', before)[0]
    assert re.findall(r"\w+", floors) == [word for word in re.findall(r"\w+", layers) if word != "leader_balance"]
    contracts.write_text(before.replace(floors, layers))


def _cell(block: Block) -> nbformat.NotebookNode:
    make = nbformat.v4.new_markdown_cell if block.language == "markdown" else nbformat.v4.new_code_cell
    return make(block.content.rstrip("\n"), metadata={"tags": block.tags} if block.tags else {})


def _python(checkout: Path, *arguments: str) -> subprocess.CompletedProcess:
    """A Python that knows the copy, and not this checkout."""
    environment = os.environ | {"PYTHONPATH": str(checkout / "lib"), "CASEBOOK_RUNS": str(checkout / "runs")}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=120, check=False, env=environment)


def test_the_page_has_all_pieces():
    """One folder, its floor, one notebook, a test."""
    files = list(dict.fromkeys(block.path for block in BLOCKS))
    assert files == [
        "lib/casebook/questions/leader_balance/__init__.py",
        "pyproject.toml",
        "lib/casebook/questions/leader_balance/analysis.py",
        "lib/casebook/questions/leader_balance/views.py",
        NOTEBOOK,
        "tests/questions/leader_balance/test_leader_balance.py",
    ]


def test_it_runs_and_answers(checkout: Path):
    """By name, through the real runner; its numbers are those that grep would count in the case."""
    done = _python(
        checkout, "-c", "from casebook.cli import main; main()", "run", "leader_balance", "--source", f"sample:{SAMPLE}"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    folder = Path(done.stdout.splitlines()[-1])
    assert (folder / "report.html").is_file()
    findings = json.loads((folder / "findings.json").read_text())["findings"]
    (found,) = (finding for finding in findings if finding["check"] == "leader_balance.share")
    assert found["facts"]["leads"] == _counted(checkout / "data_samples" / SAMPLE)


def _counted(case: Path) -> dict[str, int]:
    """Leaders of the state znodes, by the ids that are registered, without the library."""
    import zstandard

    with (case / "zookeeper" / "znodes.jsonl.zst").open("rb") as packed:
        lines = zstandard.ZstdDecompressor().stream_reader(packed).read().decode().splitlines()
    live = {match[1]: 0 for line in lines if (match := re.match(r'\{"path":"/brokers/ids/(\d+)"', line))}
    for line in lines:
        leader = re.search(r'leader\\*":(-?\d+)', line) if '/state"' in line.split(",")[0] else None
        if leader and leader[1] in live:
            live[leader[1]] += 1
    return live


def test_it_keeps_the_house_in_order(checkout: Path):
    """Style, imports, anatomy, and its own test."""
    new = [block.path for block in BLOCKS if block.language == "python"]
    for check in (
        ["-m", "ruff", "check", *new],
        ["-m", "ruff", "format", "--check", *(path for path in new if path.endswith(".py"))],
        ["-c", "from importlinter.cli import lint_imports_command; lint_imports_command()", "--no-cache"],
        ["-m", "nbstripout", NOTEBOOK],
        ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "leader_balance", "tests"],
    ):
        done = _python(checkout, *check)
        assert done.returncode == 0, done.stdout + done.stderr
