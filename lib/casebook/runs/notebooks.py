"""Notebooks, found by stem or by name without the number."""

import re
from dataclasses import dataclass
from pathlib import Path

from casebook.errors import UsageError, did_you_mean
from casebook.machine import places
from casebook.runs import jupyter

_HEADING = re.compile(r"#+ (.*)")
_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Notebook:
    """A notebook of the workbook.

    Args:
        stem: E.g. ``20_partition_leadership``.
        path: Its file.
    """

    stem: str
    path: Path

    @property
    def name(self) -> str:
        """Name without the number, e.g. ``partition_leadership``."""
        return self.stem.partition("_")[2]

    @property
    def number(self) -> str:
        """Number, e.g. ``20``."""
        return self.stem.partition("_")[0]

    def title(self) -> str:
        """Its question: the first heading."""
        return self._text().removeprefix("# ")

    def about(self) -> str:
        """When to open it, how long it takes, what it reads: the second cell, with links as plain words."""
        return _LINK.sub(r"\1", jupyter.read(self.path).cells[1].source)

    def cells(self) -> list[tuple[str, str]]:
        """Id of each code cell, in order, with its question: the heading above it."""
        found, heading = [], ""
        for cell in jupyter.read(self.path).cells:
            if cell.cell_type == "code":
                found.append((cell.id, heading))
            elif named := _HEADING.match(cell.source):
                heading = named[1]
        return found

    def _text(self) -> str:
        return jupyter.read(self.path).cells[0].source.splitlines()[0]


def every() -> tuple[Notebook, ...]:
    """All notebooks, by number."""
    return tuple(Notebook(stem=path.stem, path=path) for path in sorted(places.notebooks_dir().glob("[0-9][0-9]_*.ipynb")))


def find(name: str) -> Notebook:
    """Return the notebook with a stem (``20_partition_leadership``), name (``partition_leadership``) or number (``20``).

    A folder and ``.ipynb`` are allowed.

    Raises:
        UsageError: It does not exist.
    """
    wanted = Path(name).name.removesuffix(".ipynb")
    known = every()
    for notebook in known:
        if wanted in (notebook.stem, notebook.name, notebook.number):
            return notebook
    raise UsageError(f"There is no notebook {name}.", try_=did_you_mean(wanted, [n.stem for n in known]))
