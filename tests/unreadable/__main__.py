"""The whole matrix, by hand: ``python -m tests.unreadable [--samples NAME,..] [--kinds KIND,..] [--ways WAY,..]``.

The other options: ``--help``. All quick samples take half an hour; those with a ledger must be named, and take minutes a kind.

Prints what is wrong as soon as it is found, and the counts at the end; the exit code is 1 where any ``ok`` was said without evidence, or
any run would have ended in exit code 0 though it was given evidence that it could not read.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Collection
from pathlib import Path

from tests.unreadable import lesser, matrix
from tests.unreadable.answers import ALL, watched


def main() -> int:
    """Run it."""
    options = argparse.ArgumentParser(prog="python -m tests.unreadable")
    options.add_argument("--samples", default=",".join(matrix.QUICK))
    options.add_argument("--kinds", default=",".join(lesser.KINDS))
    options.add_argument("--ways", default="")
    options.add_argument("--notebooks", default=",".join(ALL))
    options.add_argument("--out", type=Path, help="every cell that is not equal, tab-separated")
    given = options.parse_args()
    counts: Counter[str] = Counter()
    with watched(), tempfile.TemporaryDirectory() as room:
        for sample in given.samples.split(","):
            whole = matrix.whole(sample, Path(room), given.notebooks.split(","))
            for kind, way in _wanted(given.kinds.split(","), given.ways.split(",")):
                cells = matrix.compared(whole, kind, way, Path(room))
                counts.update(cell.outcome for cell in cells)
                for cell in cells:
                    _tell(cell, given.out)
    print(*(f"{outcome}: {count}" for outcome, count in sorted(counts.items())), sep="\n")
    return int(counts[matrix.FALSE_OK] + counts[matrix.EXIT_0] > 0)


def _wanted(kinds: Collection[str], ways: Collection[str]) -> list[tuple[str, str]]:
    return [(kind, way) for kind in kinds for way in lesser.ways(kind) if way in ways or ways == [""]]


def _tell(cell: matrix.Cell, out: Path | None) -> None:
    if cell.outcome in (matrix.FALSE_OK, matrix.CONTRADICTION, matrix.EXIT_0):
        print(*cell, sep=" | ", flush=True)
    if out and cell.outcome != matrix.EQUAL:
        with out.open("a") as file:
            print(*cell, sep="\t", file=file)


if __name__ == "__main__":
    sys.exit(main())
