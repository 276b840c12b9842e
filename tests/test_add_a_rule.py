"""docs/add_a_rule.md, carried out from its text in a copy of this checkout."""

from pathlib import Path

import pytest

from tests import walks

BLOCKS = walks.blocks("add_a_rule.md")
RULES = "lib/casebook/questions/durability/analysis/rules.py"
END_OF_RULES = "    )\n}  # fmt: skip\n"
COPIED = ("lib", "notebooks", "docs", "README.md", "pyproject.toml", "tests/evidence.py", "tests/made_docs.py",
          "tests/test_made_docs.py", "tests/questions/durability/test_durability.py", "data_samples/healthy")  # fmt: skip


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what is needed, with what the page adds."""
    copy = walks.copied(tmp_path_factory.mktemp("checkout"), COPIED)
    for block in BLOCKS:
        path = copy / block.path
        before = path.read_text()
        if block.path == RULES:
            assert before.count(END_OF_RULES) == 1
            path.write_text(before.replace(END_OF_RULES, block.content + END_OF_RULES))
        else:
            path.write_text(before + block.content)
    return copy


def test_it_takes_three_files():
    """What judges, what it says, what must hold."""
    assert len({block.path for block in BLOCKS}) == len(BLOCKS) == 3


def test_it_is_judged_and_documented(checkout: Path):
    """Its own test and those of its neighbours pass, also of what docs/rules.md says then; style and imports are in order."""
    for check in (
        ["-m", "ruff", "check", "lib"],
        ["-m", "ruff", "format", "--check", "lib"],
        ["-m", "tests.made_docs"],
        [
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--hypothesis-profile",
            "ci",
            "-k",
            "tombstones or TestRules or in_step",
            "tests",
        ],
    ):
        done = walks.python(checkout, *check)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "| D99 | log.cleaner.delete.retention.ms of less than an hour: " in (checkout / "docs" / "rules.md").read_text()
