"""docs/add_a_notebook.md, carried out from its text in a copy of this checkout."""

import json
import re
from pathlib import Path

import nbformat
import pyarrow.parquet as pq
import pytest

from tests import walks

SAMPLE = "leader_minus_one"
NOTEBOOK = "notebooks/85_leader_balance.ipynb"


BLOCKS = walks.blocks("add_a_notebook.md")
COPIED = ("lib", "notebooks", "docs", f"data_samples/{SAMPLE}", "pyproject.toml", "README.md", "tests/made_docs.py",
          "tests/test_made_docs.py", "tests/notebooks/test_anatomy.py")  # fmt: skip


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what is needed, with what the page adds."""
    copy = walks.copied(tmp_path_factory.mktemp("checkout"), COPIED)
    notebook = nbformat.read(walks.ROOT / "notebooks" / "10_triage.ipynb", as_version=4)
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


def _cell(block: walks.Block) -> nbformat.NotebookNode:
    make = nbformat.v4.new_markdown_cell if block.language == "markdown" else nbformat.v4.new_code_cell
    return make(block.content.rstrip("\n"), metadata={"tags": block.tags} if block.tags else {})


def test_the_page_has_all_pieces():
    """One folder, its floor, one notebook, a test; no list that names questions."""
    files = list(dict.fromkeys(block.path for block in BLOCKS))
    assert files == [
        "lib/casebook/questions/leader_balance/__init__.py",
        "pyproject.toml",
        "lib/casebook/questions/leader_balance/analysis.py",
        "lib/casebook/questions/leader_balance/views.py",
        "lib/casebook/questions/leader_balance/declared.py",
        NOTEBOOK,
        "tests/questions/leader_balance/test_leader_balance.py",
    ]


def test_it_runs_and_answers(checkout: Path):
    """By name, through the real runner; its numbers are those that grep would count in the case."""
    done = walks.python(
        checkout, "-c", "from casebook.cli import main; main()", "run", "leader_balance", "--source", f"sample:{SAMPLE}"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    folder = Path(done.stdout.splitlines()[-1])
    assert (folder / "report.html").is_file()
    findings = json.loads((folder / "findings.json").read_text())["findings"]
    (found,) = (finding for finding in findings if finding["check"] == "leader_balance.share")
    leads = _counted(checkout / "data_samples" / SAMPLE)
    assert found["facts"]["leads"] == leads
    table = pq.read_table(folder / "tables" / "led.parquet")
    assert {str(row["broker"]): row["leads"] for row in table.to_pylist()} == leads
    assert [str(field.type) for field in table.schema] == ["int64", "int64", "double"]


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
        ["-m", "tests.made_docs"],
        ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "leader_balance or made_docs", "tests"],
    ):
        done = walks.python(checkout, *check)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "| `85_leader_balance` | Does any broker lead more than its share |" in (checkout / "README.md").read_text()
    assert "| `leads` | int | Partitions that it leads. |" in (checkout / "docs" / "tables.md").read_text()
