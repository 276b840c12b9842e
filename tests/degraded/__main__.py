"""Degraded evidence in quantity: ``python -m tests.degraded [--samples NAME,..] [--seed N] [--count N] [--replay TEXT] [--out FILE]``.

Prints what is wrong as soon as it is found, and at the end each class of it, by check, outcome and kind of removal, with the smallest text that
makes it again. The exit code is 1 where there is any.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tests.degraded import harness
from tests.degraded.harness import Cell, Whole
from tests.degraded.removals import Degradation
from tests.unreadable import matrix
from tests.unreadable.answers import ALL


def main() -> int:
    """Run it."""
    options = argparse.ArgumentParser(prog="python -m tests.degraded")
    options.add_argument(
        "--samples", default=",".join(matrix.QUICK), help="names of samples, folders of cases, or drawn-0, drawn-1, .."
    )
    options.add_argument("--notebooks", default=",".join(ALL))
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--count", type=int, default=20, help="degradations of each")
    options.add_argument(
        "--replay", action="append", default=[], metavar="TEXT", help="do these and no others, and tell every answer"
    )
    options.add_argument("--out", type=Path, help="every answer that is not equal, tab-separated")
    given = options.parse_args()
    counts: Counter[str] = Counter()
    wrong: dict[tuple[str, str, str], list[Cell]] = {}
    with harness.logs_read_once(), tempfile.TemporaryDirectory() as room:
        for source, asked in _asked(given).items():
            whole = Whole(source, Path(room), given.notebooks.split(","))
            for degradation in asked or whole.drawn(given.count, given.seed):
                cells = whole.cells(degradation)
                counts.update(cell.outcome for cell in cells)
                counts["degradations"] += bool(cells)
                _keep(cells, given.out)
                for cell in _one_of_each(cells):
                    smallest = harness.shrunk(whole, cell)
                    _tell(smallest)
                    family = " + ".join(sorted(removal.family for removal in smallest.degradation.removals))
                    wrong.setdefault((cell.check, cell.outcome, family), []).append(smallest)
                for cell in cells if given.replay else ():
                    _tell(cell)
    _conclude(wrong, counts)
    return int(bool(wrong))


def _asked(given: argparse.Namespace) -> dict[str, list[Degradation]]:
    asked: dict[str, list[Degradation]] = {}
    for text in given.replay:
        one = Degradation.parse(text)
        asked.setdefault(one.case, []).append(one)
    return asked or {source: [] for source in given.samples.split(",")}


def _one_of_each(cells: Iterable[Cell]) -> Iterable[Cell]:
    """Of what several notebooks say of a check, that of the first."""
    return {(cell.check, cell.outcome): cell for cell in reversed(list(cells)) if cell.outcome in harness.BAD}.values()


def _tell(cell: Cell) -> None:
    print(*cell, sep=" | ", flush=True)


def _keep(cells: Iterable[Cell], out: Path | None) -> None:
    if out:
        with out.open("a") as file:
            for cell in cells:
                if cell.outcome != harness.EQUAL:
                    print(*cell, sep="\t", file=file)


def _conclude(wrong: dict[tuple[str, str, str], list[Cell]], counts: Counter[str]) -> None:
    print()
    for (check, outcome, family), cells in sorted(wrong.items(), key=lambda one: -len(one[1])):
        smallest = min((cell.degradation for cell in cells), key=lambda one: (len(one.removals), len(str(one)), str(one)))
        print(f"{len(cells)} x {check}: {outcome} by {family}\n    {smallest}")
    print(*(f"{name}: {count}" for name, count in sorted(counts.items())), sep="\n")


if __name__ == "__main__":
    sys.exit(main())
