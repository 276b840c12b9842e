"""The whole matrix, by hand: ``python -m tests.unreadable [--samples NAME,..] [--kinds KIND,..] [--ways WAY,..] [--out FILE]``.

Prints what is wrong as soon as it is found, and the counts at the end; the exit code is 1 where any ``ok`` was said without evidence.
"""

import argparse
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path
from unittest import mock

from tests.unreadable import lesser, matrix
from tests.unreadable.answers import answers, watched


def main() -> int:
    """Run it."""
    options = argparse.ArgumentParser(prog="python -m tests.unreadable")
    options.add_argument("--samples", default=",".join(matrix.QUICK))
    options.add_argument("--kinds", default=",".join(lesser.KINDS))
    options.add_argument("--ways", default="")
    options.add_argument("--no-loss", action="store_true", help="leave out notebooks 70 and 90")
    options.add_argument("--out", type=Path, help="every cell that is not equal, tab-separated")
    given = options.parse_args()
    counts: Counter[str] = Counter()
    with watched(), tempfile.TemporaryDirectory() as room:
        for sample in given.samples.split(","):
            whole = answers(_whole(sample, Path(room)), loss=not given.no_loss)
            for name, kind, way in matrix.cases([sample]):
                if kind not in given.kinds.split(",") or (given.ways and way not in given.ways.split(",")):
                    continue
                with mock.patch.dict(os.environ, _environment(way, Path(room))):
                    cells = matrix.compared(name, kind, way, Path(room), whole)
                counts.update(cell.outcome for cell in cells)
                for cell in cells:
                    _tell(cell, given.out)
    print(*(f"{outcome}: {count}" for outcome, count in sorted(counts.items())), sep="\n")
    return int(counts[matrix.FALSE_OK] > 0)


def _whole(sample: str, room: Path) -> Path:
    import shutil

    return Path(shutil.copytree(matrix.SAMPLES / sample, room / f"whole-{sample}"))


def _environment(way: str, room: Path) -> dict[str, str]:
    return {"JAVA_HOME": str(matrix.old_java(room / "java"))} if way == lesser.JAVA else {}


def _tell(cell: matrix.Cell, out: Path | None) -> None:
    if cell.outcome in (matrix.FALSE_OK, matrix.CONTRADICTION):
        print(*cell, sep=" | ", flush=True)
    if out and cell.outcome != matrix.EQUAL:
        with out.open("a") as file:
            print(*cell, sep="\t", file=file)


if __name__ == "__main__":
    sys.exit(main())
