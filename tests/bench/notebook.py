"""Notebook 20 headless on the shipped case, against an empty notebook run by papermill; whole processes."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import nbformat
import sizes
from nbformat.v4 import new_code_cell, new_notebook

ROUNDS = sizes.of(5, quick=1)


def main() -> None:
    """Take turns, print medians and their ratio."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        nbformat.write(new_notebook(cells=[new_code_cell("")], metadata=kernel), folder / "empty.ipynb")
        empty = [sys.executable, "-m", "papermill", str(folder / "empty.ipynb"), str(folder / "out.ipynb"), "--no-progress-bar"]
        run = "from casebook.cli import main; main()"
        ours = [sys.executable, "-c", run, "run", "20", "--source", "sample:leader_minus_one", "--runs", str(folder / "runs")]
        times = [(_seconds(ours), _seconds(empty)) for _ in range(ROUNDS)]
    print(f"median of {ROUNDS} rounds         wall s   CPU s")
    for name, column in (("casebook run 20", 0), ("empty notebook, papermill", 1)):
        print(f"{name:<26} {median(t[column][0] for t in times):>9.2f} {median(t[column][1] for t in times):>7.2f}")
    print(
        f"ratio                      {median(a[0] / b[0] for a, b in times):>9.2f} {median(a[1] / b[1] for a, b in times):>7.2f}   (bound: 3)"
    )


def _seconds(command: list[str]) -> tuple[float, float]:
    """Wall and CPU seconds of a process and its children."""
    began, before = time.perf_counter(), os.times()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - began, cpu


if __name__ == "__main__":
    main()
