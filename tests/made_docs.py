"""What the documentation takes from the code, between marks: ``make docs`` writes it anew.

A mark is ``<!-- made: rules of 80_durability_audit -->``; what it makes ends at ``<!-- end -->``.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from casebook.findings import tables
from casebook.findings.declared import questions
from casebook.machine import places
from casebook.runs import notebooks

ROOT = places.checkout()
PAGES = (ROOT / "README.md", ROOT / "docs" / "rules.md", ROOT / "docs" / "tables.md")
_MADE = re.compile(r"(<!-- made: (.*) -->\n)(?:.|\n)*?(<!-- end -->\n)")


def _notebooks() -> list[str]:
    """What each asks, in the words of its heading."""
    rows = [f"| `{notebook.stem}` | {notebook.title()} |" for notebook in notebooks.every()]
    return ["| notebook | what it answers |", "|---|---|", *rows]


def _tables() -> list[str]:
    """Every table, with its columns as the class of its rows describes them."""
    lines = []
    for name in tables.every():
        rows = [f"| `{column.name}` | {column.type} | {column.meaning} |" for column in tables.columns(name)]
        lines += [f"## {name}", "", "| column | type | meaning |", "|---|---|---|", *rows, ""]
    return lines[:-1]


def _rules(rules: Mapping[str, str]) -> list[str]:
    return ["| rule | meaning |", "|---|---|", *(f"| {rule} | {says} |" for rule, says in rules.items())]


MAKERS: Mapping[str, Callable[[], list[str]]] = {
    "notebooks": _notebooks,
    "tables": _tables,
    **{f"rules of {one.notebook}": lambda rules=one.rules: _rules(rules) for one in questions() if one.rules},
}
"""What stands between marks, by what they say."""


def marks(page: Path) -> list[str]:
    """What a page has made."""
    return [match[2] for match in _MADE.finditer(page.read_text(encoding="utf-8"))]


def made(page: Path) -> str:
    """A page as it should be."""
    return _MADE.sub(lambda match: f"{match[1]}{_block(MAKERS[match[2]]())}{match[3]}", page.read_text(encoding="utf-8"))


def _block(lines: list[str]) -> str:
    return "\n".join(["", *lines, "", ""])


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(made(page), encoding="utf-8")
